"""Perl: the documentation inside of modules and in pages of its own, by sections."""

import re
from collections.abc import Iterator

from twinsmith.adapters.knowledge.packs.article import Part, part

_COMMAND = re.compile(r"=(\w+)\s*(.*)")
_ITEMISED = frozenset({"perlfunc", "POSIX", "perlvar"})
"""Pages whose items are what people look for."""
_LEFT_OUT = re.compile(
    r"(?i)authors?|copyright|licen[cs]e|bugs|see also|history|acknowledge?ments|support|version"
    r"|maintainers?|credits?|todo|caveats on|change log|name$|contributors?"
)
_DOUBLE = re.compile(r"[A-Z]<<+ (.*?) >>+")
_LINK = re.compile(r"L<(?:([^<>|]*)\|)?([^<>]*)>")
_INDEX = re.compile(r"[XZ]<[^<>]*>")
_STYLE = re.compile(r"[BCFIS]<([^<>]*)>")
_ESCAPE = re.compile(r"E<(\w+)>")
_NAMED = {"gt": ">", "lt": "<", "sol": "/", "verbar": "|"}


def sections(text: str, about: str) -> Iterator[Part]:
    """Each section that has a text of its own."""
    titles: list[str] = []
    body: list[str] = []
    begun, reading, hidden = 1, text.startswith("="), False
    for number, line in enumerate(text.split("\n"), 1):
        command = _COMMAND.match(line)
        if command is None:
            if reading and not hidden:
                body.append(line)
            continue
        name, words = command[1], plain(command[2])
        reading = name != "cut"
        if name in {"begin", "end"}:
            hidden = name == "begin"
        elif name.startswith("head") or (name == "item" and about in _ITEMISED):
            if any(each.strip() for each in body) or name.startswith("head"):
                yield from _section(about, titles, body, begun)
                titles, body, begun = [], [], number
            titles.append(words)
        elif name == "item":
            body += ["", f"* {words}" if words.strip("*") else "*", ""]
    yield from _section(about, titles, body, begun)


def plain(text: str) -> str:
    """The text without its marks."""
    text = _INDEX.sub("", _DOUBLE.sub(r"\1", text))
    text = _ESCAPE.sub(lambda found: _NAMED.get(found[1], ""), text)
    for _ in range(3):
        text = _LINK.sub(lambda found: found[1] or found[2].strip("/"), _STYLE.sub(r"\1", text))
    return text


def _section(about: str, titles: list[str], body: list[str], line: int) -> Iterator[Part]:
    title = " / ".join(dict.fromkeys(titles))
    if not titles or _LEFT_OUT.match(title):
        return
    symbol = f"{about}: {title.capitalize() if title.isupper() else title}"
    if made := part(symbol, f"Perl {symbol}", plain("\n".join(body)), line):
        yield made
