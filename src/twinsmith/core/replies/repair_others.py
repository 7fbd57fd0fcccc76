"""Repairs for Rust, Go, C and C++ sources that nearly build; no compiler is used."""

import re
from collections.abc import Iterator

from twinsmith.core.program import Kind
from twinsmith.core.replies.headers import missing_headers
from twinsmith.core.replies.source_text import Mended, Step, bare, outline, plain, straight

_FUNCTION = {
    "rust": r"\bfn\s+(\w+)",
    "go": r"\bfunc\s+(\w+)\s*[(\[]",
    "c": r"\b(\w+)\s*\(\s*\)[^(){};=]{0,40}\{",
    "perl": r"\bsub\s+(\w+)",
}
_FUNCTION["cpp"] = _FUNCTION["c"]
_ASIDE = re.compile(r"main|init|_?test\w*|Test\w*|if|for|while|switch|catch|else|do|return")

_RUST_HOMES = {
    "cell": "Cell RefCell OnceCell",
    "collections": "BTreeMap BTreeSet BinaryHeap HashMap HashSet VecDeque LinkedList",
    "cmp": "Ordering Reverse",
    "iter": "FromIterator Peekable",
    "rc": "Rc",
    "str": "Chars FromStr",
    "sync": "Arc Mutex RwLock",
    "time": "Duration Instant SystemTime",
    "fmt": "Display",
}
_RUST_HOME = {name: module for module, names in _RUST_HOMES.items() for name in names.split()}
_RUST_MODULES = ("cmp", "collections", "env", "fmt", "fs", "io", "iter", "mem", "process", "thread")

_GO_PATHS = (
    "bufio bytes cmp container/heap container/list context crypto/md5 crypto/rand crypto/sha1 "
    "crypto/sha256 encoding/base64 encoding/binary encoding/csv encoding/hex encoding/json errors "
    "flag fmt io log maps math math/big math/bits math/cmplx math/rand net net/http net/url os "
    "os/signal path/filepath reflect regexp runtime slices sort strconv strings sync sync/atomic "
    "time unicode unicode/utf8"
)
_GO_PACKAGES = {path.rpartition("/")[2]: path for path in _GO_PATHS.split()}
_GO_IMPORT = re.compile(r"(?:^|;)[ \t]*(import[ \t]*(?:\([^)]*\)|[^\n(;]+))", re.MULTILINE)
_GO_SPEC = re.compile(r'(?:([\w.]+)[ \t]+)?"([^"\n]+)"')


def functions(source: str, language: str) -> set[str]:
    """The names of functions that a source defines at its outermost level."""
    text = outline(bare(source, language))
    if language in {"c", "cpp"}:
        text = outline(text, "(", ")")
    return set(re.findall(_FUNCTION[language], text))


def _in(language: str) -> tuple[Step, ...]:
    """The repairs that are the same for every language with braces."""

    def made_plain(source: str, _entry: str, _kind: Kind) -> Mended | None:
        text = straight(source, language)
        return (text, "typographic marks made plain") if text != source else None

    def finished(source: str, entry: str, _kind: Kind) -> Mended | None:
        text = _without_end(source, language)
        if text is None or (entry and entry not in functions(text, language)):
            return None
        return text, "an unfinished end removed"

    def named(source: str, entry: str, kind: Kind) -> Mended | None:
        return named_as(source, entry, kind, language)

    def without_main(source: str, entry: str, kind: Kind) -> Mended | None:
        return _without_main(source, entry, kind, language)

    return made_plain, finished, named, without_main


def _without_end(source: str, language: str) -> str | None:
    """A source up to its last closed block, where a later one is left open; else None."""
    code = bare(source, language)
    if re.search(r"^[ \t]*#[ \t]*(?:if|el|define)", code, re.MULTILINE):
        return None
    depth = last = 0
    for found in re.finditer(r"[{}]", code):
        depth += 1 if found[0] == "{" else -1
        if depth < 0:
            return None
        last = found.end() if depth == 0 else last
    return f"{source[:last]}\n" if depth and last else None


def named_as(source: str, entry: str, kind: Kind, language: str) -> Mended | None:
    """A source whose function has the name that was asked for, where only its spelling differed."""
    if not entry or kind in {"cli", "service"}:
        return None
    code = bare(source, language)
    if re.search(rf"\b{re.escape(entry)}\b", code):
        return None
    own = [name for name in functions(source, language) if not _ASIDE.fullmatch(name)]
    alike = [name for name in own if plain(name) == plain(entry)] or own
    if len(alike) != 1:
        return None
    text, at = [], 0
    for found in re.finditer(rf"(?<![\w.>:$@%]){alike[0]}\b", code):
        text += [source[at : found.start()], entry]
        at = found.end()
    return "".join([*text, source[at:]]), f"{alike[0]} renamed to {entry}"


def _without_main(source: str, entry: str, kind: Kind, language: str) -> Mended | None:
    """A source of a function without its `main`, which nobody runs and which may not build."""
    if kind in {"cli", "service"} or entry == "main":
        return None
    code = bare(source, language)
    names = re.findall(r"\bmain\b(?=\s*\()", code)
    head = re.search(_MAIN[language], outline(code), re.MULTILINE)
    if head is None or len(names) != 1 or not functions(source, language) - {"main"}:
        return None
    end = _closing(code, head.end())
    start = _start_of_head(source, head.start(), language)
    if end is None or re.search(r"^[ \t]*#[ \t]*(?:if|el|end)", code[start:], re.MULTILINE):
        return None
    text = f"{source[:start].rstrip()}\n\n{source[end:].lstrip()}".strip("\n") + "\n"
    return text, "main removed: it only demonstrates"


_MAIN = {
    "rust": r"^(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(\s*\)[^{};]*\{",
    "go": r"^func\s+main\s*\(\s*\)\s*\{",
    "c": r"^(?:int|void|signed|auto)?\s*\bmain\s*\([^(){};]*\)\s*\{",
}
_MAIN["cpp"] = _MAIN["c"]


def _closing(code: str, start: int) -> int | None:
    depth = 1
    for found in re.finditer(r"[{}]", code[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return start + found.end()
    return None


def _start_of_head(source: str, at: int, language: str) -> int:
    """The start of a definition, with the comments and attributes directly above it."""
    above = ("//", "#[") if language == "rust" else ("//",)
    while at > 0:
        line = source.rfind("\n", 0, at - 1) + 1
        if not source[line:at].lstrip().startswith(above):
            break
        at = line
    return at


def _rust_uses(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Rust source with `use` lines for names of the standard library."""
    code = bare(source, "rust")
    imported = " ".join(re.findall(r"\buse\s+([^;]{1,2000});", code))
    bound = set(re.findall(r"\b(?:struct|enum|trait|type|mod|union|fn|const)\s+(\w+)", code))
    bound |= set(re.findall(r"\w+", imported))
    used = set(re.findall(r"(?<!::)(?<![\w.'])([A-Z]\w*)\b(?!\s*!)", code))
    lines = [
        f"use std::{_RUST_HOME[name]}::{name};"
        for name in sorted(used & _RUST_HOME.keys() - bound)
        if not re.search(rf"\b{_RUST_HOME[name]}\s*::\s*\*", imported)
        and not (name == "Ordering" and "atomic" in imported.lower())
    ]
    paths = set(re.findall(r"(?<!::)(?<![\w.'])([a-z]\w*)\s*::(?!\s*<)", code))
    lines += [f"use std::{name};" for name in _RUST_MODULES if name in paths - bound]
    if not lines or re.search(r"\bmacro_rules\b", code):
        return None
    place = 0
    for found in re.finditer(r"^(?:#!\[[^\n]*|//![^\n]*)\n", source, re.MULTILINE):
        place = found.end() if not source[place : found.start()].strip() else place
    added = "".join(f"{line}\n" for line in lines)
    return f"{source[:place]}{added}{source[place:]}", f"added: {' '.join(lines)}"


def _go_package(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Go source with a package clause; a command's is `main`."""
    found = re.search(r"^[ \t]*package[ \t]+(\w+)", bare(source, "go"), re.MULTILINE)
    if found is None:
        return f"package main\n\n{source.lstrip()}", "added: package main"
    if kind in {"cli", "service"} and found[1] != "main":
        text = f"{source[: found.start(1)]}main{source[found.end(1) :]}"
        return text, f"package {found[1]} renamed to main"
    return None


def _go_imports(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Go source that imports just the packages it uses: Go refuses more and less."""
    code = bare(source, "go")
    clauses = [found.span(1) for found in _GO_IMPORT.finditer(code)]
    specs = [spec for start, end in clauses for spec in _go_specs(source[start:end])]
    body = "".join(_outside(code, clauses))
    names = {spec: spec[0] or _go_name(spec[1]) for spec in specs}
    unused = [
        spec
        for spec, name in names.items()
        if name not in {"_", ".", "C"} and not re.search(rf"(?<![\w.]){re.escape(name)}\s*\.", body)
    ]
    missing = _go_missing(body, {*names.values()})
    if not unused and not missing:
        return None
    words = [f"import of {path} removed" for _, path in unused]
    words += [f"import of {path} added" for path in missing]
    kept = [
        " ".join(filter(None, (name, f'"{path}"')))
        for name, path in specs
        if (name, path) not in unused
    ]
    kept += [f'"{path}"' for path in missing]
    return _go_written("".join(_outside(source, clauses)), kept), ", ".join(words)


def _go_specs(clause: str) -> list[tuple[str, str]]:
    """The packages of one import clause in Go, each with the name it is given."""
    return _GO_SPEC.findall(re.sub(r"//[^\n]*", "", clause.removeprefix("import")))


def _outside(code: str, clauses: list[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for start, end in clauses:
        yield code[at:start]
        at = end
    yield code[at:]


def _go_name(path: str) -> str:
    """The name that a Go package is used by, as far as its path tells."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)] or [path]
    return re.sub(r"^go-|[.-]v\d+$|-go$", "", parts[-1])


def _go_missing(body: str, present: set[str]) -> list[str]:
    used = set(re.findall(r"(?<![\w.])([a-z]\w*)\.[A-Z]", body))
    # A variable of that name stands somewhere without a dot behind it.
    alone = set(re.findall(r"(?<![\w.])([a-z]\w*)\b(?!\s*\.)", body))
    wanted = (used & _GO_PACKAGES.keys()) - present - alone
    paths = {name: _GO_PACKAGES[name] for name in wanted}
    if "rand" in paths:
        paths["rand"] = "crypto/rand" if "rand.Reader" in body else "math/rand"
    return sorted(paths.values())


def _go_written(source: str, imports: list[str]) -> str:
    """A Go source that has no imports, with one import clause added."""
    listed = "".join(f"\t{each}\n" for each in dict.fromkeys(imports))
    clause = f"import (\n{listed})" if imports else ""
    package = re.search(r"^[ \t]*package[ \t]+\w+[ \t]*;?", bare(source, "go"), re.MULTILINE)
    place = package.end() if package else 0
    parts = (source[:place].rstrip(" ;"), clause, source[place:].lstrip(" \t\n;"))
    return "\n\n".join(part for part in parts if part)


def _includes(language: str) -> Step:
    """The repair that adds headers for the names that a source uses."""

    def step(source: str, _entry: str, _kind: Kind) -> Mended | None:
        if language == "cpp" and "<bits/stdc++.h>" in source:
            return None
        code = bare(source, language)
        present = set(re.findall(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", source, re.MULTILINE))
        present |= {f"c{name[:-2]}" for name in present if name.endswith(".h")}
        lines = [f"#include <{header}>" for header in missing_headers(code, language, present)]
        if not lines:
            return None
        first = re.search(r"^[ \t]*#[ \t]*(include|if)", code, re.MULTILINE)
        place = first.start() if first and first[1] == "include" else 0
        added = "".join(f"{line}\n" for line in lines)
        return f"{source[:place]}{added}{source[place:]}", f"added: {', '.join(lines)}"

    return step


RUST_STEPS: tuple[Step, ...] = (*_in("rust"), _rust_uses)
GO_STEPS: tuple[Step, ...] = (*_in("go"), _go_package, _go_imports)
C_STEPS: tuple[Step, ...] = (*_in("c"), _includes("c"))
CPP_STEPS: tuple[Step, ...] = (*_in("cpp"), _includes("cpp"))
