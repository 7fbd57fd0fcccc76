"""Repairs for Perl sources that nearly run; no interpreter is used."""

import re

from twinsmith.core.program import Kind
from twinsmith.core.replies.repair_others import named_as
from twinsmith.core.replies.source_text import Mended, Step, bare, outline

_PERL_HOMES = {
    "List::Util": "all any first max maxstr min minstr none notall pairs product reduce shuffle "
    "sum sum0 uniq uniqnum",
    "POSIX": "ceil floor fmod strftime INT_MAX INT_MIN DBL_MAX",
    "Scalar::Util": "blessed looks_like_number reftype weaken",
    "Data::Dumper": "Dumper",
    "Carp": "carp confess croak",
    "JSON::PP": "decode_json encode_json",
}
_SIGNED = re.compile(r"\bsub(?P<name>\s+\w+)?\s*\((?P<given>[^()\n]*[$@%]\w[^()\n]*)\)\s*\{")
_SIGNATURES = re.compile(
    r"^[ \t]*use\s+(?:(?:feature|experimental)\b[^;]*signatures|v?5\.(?:0?3[6-9]|0?[4-9]\d))",
    re.MULTILINE,
)


def _perl_uses(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Perl source with `use` lines for functions of modules that come with Perl."""
    code = bare(source, "perl")
    own = set(re.findall(r"\bsub\s+(\w+)", code))
    listed = re.findall(r"^[ \t]*use\s+([\w:]+)([^;]{0,2000});", source, re.MULTILINE)
    imported = {word for _, words in listed for word in re.findall(r"\w+", words)}
    whole = {module for module, words in listed if not words.strip()}
    used = set(re.findall(r"(?<![\w$@%&>:{-])(\w+)(?=\s*[({@$\\]|\s+\w+\s*\()", code))
    used |= set(re.findall(r"\b[A-Z]+_M(?:AX|IN)\b", code))
    lines = []
    for module, names in _PERL_HOMES.items():
        wanted = (set(names.split()) & used) - own - imported
        if wanted and not (module in whole and module in {"POSIX", "Data::Dumper", "Carp"}):
            lines.append(f"use {module} qw({' '.join(sorted(wanted))});")
    if not lines:
        return None
    head = re.match(r"(?:[ \t]*(?:#[^\n]*|(?:use|package|no)\s[^\n;]*;[^\n]*)?\n)*", source)
    place = head.end() if head else 0
    added = "".join(f"{line}\n" for line in lines)
    return f"{source[:place]}{added}{source[place:]}", f"added: {' '.join(lines)}"


def _perl_true(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Perl file for another to load, ending with a true value as Perl demands."""
    if kind in {"cli", "service"} or re.search(r"^(?:__(?:END|DATA)__|=\w)", source, re.MULTILINE):
        return None
    code = bare(source, "perl").rstrip()
    ended = code.endswith(";") or (code.endswith("}") and _ends_with_sub(code))
    if not ended or re.search(r"(?:^|[;}\s])1\s*;$", code):
        return None
    return f"{source.rstrip()}\n\n1;\n", "added: 1;"


def _ends_with_sub(code: str) -> bool:
    """Whether the last block is a named sub's, so that a new statement may follow."""
    heads = re.split(r"[{};]", outline(code))
    return len(heads) > 2 and bool(re.search(r"\bsub\s+\w+\s*(?:\([^)]*\)\s*)?$", heads[-3]))


def _perl_signatures(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A Perl source with `sub f($x) {` rewritten, unless it switches signatures on."""
    if _SIGNATURES.search(source) or not _SIGNED.search(source):
        return None

    def plainly(found: re.Match[str]) -> str:
        parts = [part.partition("=") for part in found["given"].split(",")]
        names = ", ".join(name.strip(" /|") for name, _, _ in parts)
        rest = source[found.end() :].lstrip()
        if re.match(r"my\s*\(?[^;=]*\)?\s*=\s*(?:@_|shift)", rest):
            return f"sub{found['name'] or ''} {{"
        missing = [(n.strip(" /|"), value.strip()) for n, _, value in parts if value]
        lines = [f"my ({names}) = @_;", *(f"{n} = {v} unless defined {n};" for n, v in missing)]
        return f"sub{found['name'] or ''} {{ {' '.join(lines)}"

    return _SIGNED.sub(plainly, source), "signatures written as `my (…) = @_;`"


def _perl_named(source: str, entry: str, kind: Kind) -> Mended | None:
    return named_as(source, entry, kind, "perl")


PERL_STEPS: tuple[Step, ...] = (_perl_signatures, _perl_named, _perl_uses, _perl_true)
