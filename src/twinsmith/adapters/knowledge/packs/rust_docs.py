"""Rust: what stands above public items in the sources of its library."""

import re
from collections.abc import Iterator

from twinsmith.adapters.knowledge.packs.article import Part, part

_ITEM = re.compile(
    r"\s*(?:pub )?(?:default )?(?:const )?(?:unsafe )?(?:async )?"
    r"(fn|struct|enum|trait|macro_rules!) (\w+)"
)
_OWNER = re.compile(r"(?:unsafe )?impl\b(.*)|pub (?:unsafe )?trait (\w+)")
_GENERIC = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"(?:&|mut |dyn |const |~|\?|'\w+ |!|\w+::)*(\w+)")
_LINK = re.compile(r"^\[.*\]: .*$\n?", re.MULTILINE)
_REFERENCE = re.compile(r"\[(`[^`\]]+`)\](?:\[[^\]]*\]|\([^)]*\))?")
_HIDDEN = re.compile(r"^# .*$\n?|^#$\n?", re.MULTILINE)
_FENCED = re.compile(r"^```(.*?)^```", re.MULTILINE | re.DOTALL)
_FEATURE = re.compile(r"^#!\[.*\]$\n?", re.MULTILINE)


def items(text: str, about: str) -> Iterator[Part]:
    """The comment, the signature and the examples of each public item that is stable."""
    module = about.rpartition("::")[2]
    lines = text.split("\n")
    owner, trait, unstable = "", False, False
    said: list[str] = []
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("///"):
            said.append(bare[3:].removeprefix(" "))
        elif said and (bare.startswith("#[") or bare == ")]" or line.startswith("         ")):
            unstable = unstable or "unstable(" in bare
        else:
            if line and not line[0].isspace() and (found := _OWNER.match(line)):
                owner, trait = found[2] or _type(found[1]), bool(found[2])
            item = _ITEM.match(line)
            public = bare.startswith("pub ") or (trait and line.startswith("    "))
            if said and item and public and not unstable:
                inside = line.startswith(" ") and owner
                symbol = f"{owner if inside else module}::{item[2]}"
                head = f"Rust {symbol} ({about})\n{_signature(lines[number - 1 :])}"
                if made := part(symbol, head, _plain("\n".join(said)), number):
                    yield made
            said, unstable = [], False


def _type(words: str) -> str:
    """What an `impl` is for."""
    words = words.replace("->", "")
    while (less := _GENERIC.sub("", words)) != words:
        words = less
    of = words.split(" where ")[0].rpartition(" for ")[2].strip()
    if of.startswith("["):
        return "slice"
    return found[1] if (found := _WORD.match(of)) else ""


def _signature(lines: list[str]) -> str:
    taken: list[str] = []
    for line in lines[:8]:
        taken.append(line.strip())
        if line.rstrip().endswith(("{", ";", "}")):
            break
    return " ".join(taken).rstrip("{; ")


def _plain(text: str) -> str:
    """Without links, and without the lines of examples that a reader is not shown."""
    text = _REFERENCE.sub(r"\1", _LINK.sub("", text))
    text = _FENCED.sub(lambda f: "```" + _FEATURE.sub("", _HIDDEN.sub("", f[1])) + "```", text)
    return re.sub(r"^# Examples?\n+(?:Basic usage:\n+)?", "", text, flags=re.MULTILINE)
