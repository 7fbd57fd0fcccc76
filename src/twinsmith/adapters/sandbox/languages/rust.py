"""Rust: one crate; for a function, with generated glue behind the source and a driver beside it."""

import re
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
    written,
)
from twinsmith.core.brackets import closed, parts
from twinsmith.core.errors import SandboxError
from twinsmith.core.program import Program

DRIVER = Path(__file__).parents[1] / "drivers" / "driver.rs"
LIBRARY = "libtwinsmith_driver.rlib"
SYSTEM = Path("/")
PATH = "/usr/bin:/bin"
# A number that wraps around in silence is a fault that nobody would see.
OPTIONS = ("--edition=2021", "-Copt-level=2", "-Coverflow-checks=on", "-Ccodegen-units=2")
NUMBERS = re.compile(r"[iu](8|16|32|64|128|size)|f(32|64)")
ARITY: Mapping[str, int] = {
    **dict.fromkeys(("bool", "char", "String"), 0),
    **dict.fromkeys(("Vec", "VecDeque", "Option", "Box", "Rc", "Arc", "HashSet", "BTreeSet"), 1),
    **dict.fromkeys(("HashMap", "BTreeMap"), 2),
}
"""Types beside numbers that the driver knows, and how many type parameters each has."""
LONGEST_TUPLE = 6
LONGEST_TYPE, LONGEST_HEAD, MOST_FUNCTIONS = 200, 4000, 500

# No pattern here looks far ahead in vain: a hostile source must not take long to read.
_TEXT = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | \bb?r(?P<fence>\#*)".*?(?:"(?P=fence)|\Z)
    | "(?:\\.?|[^"\\])*"? | '(?:\\.[^'\n]{0,10}|[^'\\\n])'""",
    re.VERBOSE | re.DOTALL,
)
_FUNCTION = re.compile(r"\bfn\s+(?P<name>\w++)\s*+(?P<generic><[^<>(]{0,99}>)?\s*+\(")
_SPECIAL = re.compile(r"#\[\s*(cfg|test)\b|\b(async|unsafe)\b")
_ALIAS = re.compile(r"\btype\s+(\w+)\s*=\s*([^;]+);")
_PATH = re.compile(r"(?:::)?(?:\w+\s*::\s*)*(?P<name>\w+)\s*(?:<(?P<inner>.*)>)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a Rust function that the glue can call."""

    name: str
    parameters: tuple[str, ...]
    """The types of the parameters, without lifetimes."""
    fallible: bool = False
    """Whether the function returns a Result."""


def _outline(source: str) -> str:
    """The source with comments, literals and whatever is in braces blanked out."""
    bare = _TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    depth, letters = 0, []
    for letter in bare:
        depth -= letter == "}"
        letters.append(letter if depth <= 0 or letter == "\n" else " ")
        depth += letter == "{"
    return "".join(letters)


def signatures(source: str) -> tuple[Signature, ...]:
    """The functions of the crate's root that can be called from outside."""
    outline = _outline(source)
    aliases = _known_aliases(dict(_ALIAS.findall(outline)))
    heads = islice(_FUNCTION.finditer(outline), MOST_FUNCTIONS)
    read = (_signature(outline, head, aliases) for head in heads)
    return tuple(signature for signature in read if signature is not None)


def _known_aliases(aliases: Mapping[str, str]) -> frozenset[str]:
    known: frozenset[str] = frozenset()
    while more := {name for name in {*aliases} - known if _known(_plain(aliases[name]), known)}:
        known |= more
    return known


def _signature(outline: str, found: re.Match[str], aliases: frozenset[str]) -> Signature | None:
    start = max(outline.rfind(mark, 0, found.start()) for mark in ";{}")
    before = outline[max(start + 1, found.start() - LONGEST_HEAD) : found.start()]
    lifetimes = all(part.startswith("'") for part in parts((found["generic"] or "<>")[1:-1]))
    head = closed(outline[found.end() : found.end() + LONGEST_HEAD])
    if head is None or found["name"] == "main" or not lifetimes or _SPECIAL.search(before):
        return None
    inside, behind = head
    listed = parts(inside.replace("->", "  "))
    parameters = tuple(_plain(part.partition(":")[2]) for part in listed)
    returned = _plain(re.split(r"\{|\bwhere\b", behind, maxsplit=1)[0].partition("->")[2])
    result = re.fullmatch(r"(?:\w+::)*Result<(.*)>", returned, re.DOTALL)
    value = next(iter(parts(result[1])), "") if result else returned or "()"
    if not all(_known(each, aliases) for each in (value, *map(_owned, parameters))):
        return None
    return Signature(name=found["name"], parameters=parameters, fallible=result is not None)


def _plain(text: str) -> str:
    """A type without its lifetimes, on one line."""
    return re.sub(r"&\s+", "&", " ".join(re.sub(r"'\w+", " ", text).split()))


def _owned(parameter: str) -> str:
    """The type of the variable in which the glue keeps an argument."""
    changed = parameter.removeprefix("&mut ")
    return parameter if changed == parameter else _sized(changed)


def _sized(text: str) -> str:
    """The type behind a reference, as a value: a slice becomes a Vec."""
    inner = re.fullmatch(r"\[([^;]*)\]", text)
    return f"Vec<{inner[1]}>" if inner else text


def _known(text: str, aliases: frozenset[str]) -> bool:
    """Whether the driver can read and write values of a type."""
    text = text.strip()
    if len(text) > LONGEST_TYPE:
        return False
    if text.startswith("&"):
        inner = text[1:].strip()
        return inner == "str" or _known(_sized(inner), aliases)
    if text.startswith("["):
        length = parts(text[1:-1], ";")
        return len(length) > 1 and _known(length[0], aliases)
    if text.startswith("("):
        listed = parts(text[1:-1])
        return len(listed) <= LONGEST_TUPLE and all(_known(part, aliases) for part in listed)
    path = _PATH.fullmatch(text)
    if path is None:
        return False
    if path["name"] in aliases:
        return path["inner"] is None
    inner_types = parts(path["inner"] or "")
    arity = 0 if NUMBERS.fullmatch(path["name"]) else ARITY.get(path["name"])
    return arity == len(inner_types) and all(_known(each, aliases) for each in inner_types)


def glue(found: Sequence[Signature]) -> str:
    """The main function that hands the program's functions to the driver."""
    listed = "".join(f'    ("{each.name}", {_closure(each)}),\n' for each in found)
    return (
        "mod twinsmith_glue {\n#[allow(unused_imports)] use super::*;\n"
        "use ::twinsmith_driver::{Debugged as _, Mute as _, Shown as _};\n"
        f"pub const FUNCTIONS: &[(&str, ::twinsmith_driver::Code)] = &[\n{listed}];\n}}\n"
        "fn main() { ::twinsmith_driver::serve(twinsmith_glue::FUNCTIONS) }\n"
    )


def _closure(signature: Signature) -> str:
    kept, given, after = "", [], []
    for n, parameter in enumerate(signature.parameters):
        taken = f"::twinsmith_driver::take(twinsmith_in, {n})?"
        if parameter.startswith("&mut "):
            kept += f"let mut twinsmith_{n}: {_owned(parameter)} = {taken}; "
            given.append(f"&mut twinsmith_{n}")
            after.append(f"::twinsmith_driver::ToJson::to_json(&twinsmith_{n})")
        else:
            given.append(taken)
            after.append(f"twinsmith_in[{n}].clone()")
    value = f"super::{signature.name}({', '.join(given)})"
    if signature.fallible:
        failure = "::twinsmith_driver::Failure(&twinsmith_error)"
        value = (
            f"match {value} {{ ::core::result::Result::Ok(twinsmith_value) => twinsmith_value, "
            "::core::result::Result::Err(twinsmith_error) => "
            f"return ::core::result::Result::Err((&&&{failure}).raised()) }}"
        )
    return (
        f"|twinsmith_in| {{ ::twinsmith_driver::count(twinsmith_in, {len(given)})?; {kept}"
        f"let twinsmith_out = {{ let twinsmith_value = {value}; "
        "::twinsmith_driver::ToJson::to_json(&twinsmith_value) }; "
        f"::core::result::Result::Ok((twinsmith_out, ::std::vec![{', '.join(after)}])) }}"
    )


def without_main(source: str) -> str:
    """The source with its own main out of the way of the driver's, every line at its place."""
    for found in _FUNCTION.finditer(_outline(source)):
        if found["name"] == "main":
            return source[: found.start("name")] + "solution_main" + source[found.end("name") :]
    return source


def _recipe(program: Program, toolchain: Toolchain) -> Recipe:
    source = program.source
    extern: tuple[str, ...] = ()
    if program.kind in {"function", "library"}:
        found = signatures(source)
        if not found:
            raise BadProgram(
                "the program defines no function that can be called: it needs one outside any "
                "impl, not generic, with types of the standard library only"
            )
        source = f"{without_main(source)}\n{glue(found)}"
        extern = ("--extern", f"twinsmith_driver={CACHE}/{LIBRARY}")
    options = (*OPTIONS, "--cap-lints=allow", f"-Clinker={toolchain.commands['cc']}")
    command = (toolchain.commands["rustc"], *options, *extern, "-o", "solution", "solution.rs")
    return Recipe(
        files=written(program, "solution.rs", source),
        build=(command,),
        artefact="solution",
        run=(ARTEFACT,),
        environment={"PATH": PATH},
    )


def _prepare(toolchain: Toolchain, folder: Path) -> None:
    """Compile the driver into a folder."""
    options = (*OPTIONS, "--crate-type=rlib", "--crate-name=twinsmith_driver")
    done = subprocess.run(
        [toolchain.commands["rustc"], *options, "-o", folder / LIBRARY, DRIVER],
        env={"PATH": PATH},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        complaint = (done.stderr.strip() or "no reason given").splitlines()[0]
        raise SandboxError(f"rust cannot be prepared: rustc says {complaint!r}; reinstall it")


def places(root: Path = SYSTEM, home: Path | None = None) -> list[Path]:
    """Paths where a `rustc` command may be, best first; rustup's stand-in for it is left out."""
    system = [root / "usr/bin/rustc", root / "usr/local/bin/rustc"]
    found = [place for place in system if place.is_file() and place.resolve().name != "rustup"]
    for rustup in ((home or Path.home()) / ".rustup", root / "usr/local/rustup"):
        found += sorted(rustup.glob("toolchains/*/bin/rustc"), key=_rank(rustup), reverse=True)
    return found


def _rank(rustup: Path) -> Callable[[Path], tuple[bool, bool, list[int]]]:
    """The order of toolchains: the default first, releases before others, newer before older."""
    settings = rustup / "settings.toml"
    text = settings.read_text() if settings.is_file() else ""
    chosen = str(tomllib.loads(text).get("default_toolchain", ""))

    def rank(rustc: Path) -> tuple[bool, bool, list[int]]:
        name = rustc.parts[-3]
        numbers = [int(number) for number in re.findall(r"\d+", name.partition("-")[0])]
        return bool(chosen) and name.startswith(chosen), "nightly" not in name, numbers

    return rank


def _locate() -> Toolchain | None:
    linker = Path("/usr/bin/cc")
    for rustc in places() if linker.exists() else ():
        asked = subprocess.run(
            [rustc, "--version"], env={"PATH": PATH}, capture_output=True, text=True, check=False
        )
        if asked.returncode == 0:
            folder = rustc.resolve().parents[1]
            return Toolchain(
                version=asked.stdout.strip(),
                commands={"rustc": f"{folder}/bin/rustc", "cc": str(linker)},
                mounts=() if folder.is_relative_to("/usr") else (str(folder),),
            )
    return None


RUST = Language(
    name="rust",
    suffix=".rs",
    install="apt-get install -y rustc",
    locate=_locate,
    recipe=_recipe,
    prepare=_prepare,
)
