"""Go: what stands above exported names, and the examples that come with a package."""

import re
from collections.abc import Iterator

from twinsmith.adapters.knowledge.packs.article import Part, part

_DECLARED = re.compile(r"(?:func (?:\((?:\w+ )?\*?(\w+)[^)]*\) )?|type )([A-Z]\w*)")
_EXAMPLE = re.compile(r"func Example(\w*)\(\) \{")
_OTHER_SYSTEM = re.compile(r"//go:build (?!.*(?:linux|unix|!))")


def declarations(text: str, about: str) -> Iterator[Part]:
    """The comment and the signature of each exported function, method and type."""
    if _OTHER_SYSTEM.search(text[:2000]):
        return
    package = about.rpartition("/")[2]
    said: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("//"):
            if not line.startswith("//go:"):
                said.append(line[2:].removeprefix(" ").replace("\t", "    "))
            continue
        found = _DECLARED.match(line)
        if said and line.startswith("package ") and (made := part(about, about, _text(said), 1)):
            yield made
        elif said and found:
            owner = f"{found[1]}." if found[1] else ""
            symbol = f"{package}.{owner}{found[2]}"
            head = f"{symbol} ({about})\n{_signature(lines[number - 1 :])}"
            if made := part(symbol, head, _text(said), number):
                yield made
        said = []


def examples(text: str, about: str) -> Iterator[Part]:
    """Each example function, with the comment above it and the imports it may need."""
    package = about.rpartition("/")[2]
    lines, said = text.split("\n"), ""
    for number, line in enumerate(lines, 1):
        if line.startswith("//"):
            said = f"{said} {line[2:].strip()}".strip()
            continue
        if found := _EXAMPLE.match(line):
            end = next((n for n, each in enumerate(lines[number:]) if each == "}"), 0)
            body = "\n".join([line, *lines[number : number + end + 1]]).replace("\t", "    ")
            words = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", found[1]).strip().lower()
            head = f"Go example: {about} {words}".rstrip() + (f"\n{said}" if said else "")
            # Whole or not at all: half an example does not build.
            if made := _whole(f"{package} example {words}".rstrip(), head, body, number):
                yield made
        said = ""


def _whole(symbol: str, head: str, body: str, line: int) -> Part | None:
    made = part(symbol, head, body, line)
    return made if made and made.text.rstrip().endswith("}") else None


def _signature(lines: list[str]) -> str:
    first = lines[0].rstrip()
    if not first.startswith("type ") or not first.endswith("{"):
        return first.removesuffix("{").rstrip()
    # Of a structure and of an interface its exported lines.
    kept = [first]
    for line in lines[1:40]:
        if line == "}":
            return "\n".join([*kept[:12], "}"]).replace("\t", "    ")
        if re.match(r"\t[A-Z]\w*", line):
            kept.append(line)
    return first.removesuffix("{").rstrip()


def _text(said: list[str]) -> str:
    return "\n".join(said)
