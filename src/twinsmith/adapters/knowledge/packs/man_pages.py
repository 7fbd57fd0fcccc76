"""Manual pages: what a function is called, how it is declared, what it does; and its example."""

import re
from collections.abc import Iterator

from twinsmith.adapters.knowledge.packs.article import Part, part

_SIGNS = {"aq": "'", "dq": '"', "em": "-", "en": "-", "bu": "*", "ti": "~", "ha": "^", "rs": "\\"}
_SIGNS |= {"lq": '"', "rq": '"', "oq": "'", "cq": "'", "ga": "`", "lt": "<", "gt": ">", "mc": "u"}
_SIGN = re.compile(r"\\\[(\w+)\]|\\\((\w\w)")
_ESCAPES = (
    (re.compile(r'\\".*'), ""),
    (re.compile(r"\\f(?:\[\w*\]|\(\w\w|.)"), ""),
    (re.compile(r"\\s[-+]?\d"), ""),
    (re.compile(r"\\[|&^/,:%]"), ""),
    (re.compile(r"\\[ ~0]"), " "),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\e|\\\\"), r"\\"),
)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_BREAKS = frozenset({".PP", ".P", ".LP", ".TP", ".IP", ".RS", ".RE", ".SS", ".HP", ".sp", ".br"})
_AS_IT_IS = {".nf": True, ".EX": True, ".fi": False, ".EE": False}
_FONTS = frozenset({".B", ".I", ".BR", ".RB", ".IR", ".RI", ".BI", ".IB", ".SM", ".SB"})


def pages(text: str, about: str) -> Iterator[Part]:
    """What a page describes, and its example; a page that only names another one has nothing."""
    sections = _sections(text)
    named, said = sections.get("NAME", ""), sections.get("DESCRIPTION", "")
    if not named or not said:
        return
    declared = "\n".join(
        line for line in sections.get("SYNOPSIS", "").split("\n") if line.strip()
    ).partition("Feature Test Macro")[0]
    head = f"{' '.join(named.split())}\n{declared}"
    returned = sections.get("RETURN VALUE", "")
    body = f"{_first(said, 900)}\n\n{_first(returned, 400)}"
    if made := part(about, head, body, 1):
        yield made
    example = sections.get("EXAMPLES", "") or sections.get("EXAMPLE", "")
    if "{" in example and (made := part(f"{about} example", f"Example: {named}", example, 1)):
        yield made


def _sections(text: str) -> dict[str, str]:
    """The text of each section, without marks; tables are left out."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    as_it_is = table = False
    for raw in text.split("\n"):
        macro, _, rest = raw.partition(" ")
        if macro in {".TS", ".TE"}:
            table = macro == ".TS"
        elif table or raw.startswith(("'", '.\\"')):
            continue
        elif macro == ".SH":
            lines = found.setdefault(_words(rest, " ").upper(), [])
            as_it_is = False
        elif macro in _AS_IT_IS:
            as_it_is = _AS_IT_IS[macro]
            lines.append("\n\n")
        elif macro in _BREAKS:
            lines.append("\n\n")
            if macro == ".SS":
                lines.append(_words(rest, " ") + ":\n\n")
        elif not raw.startswith("."):
            lines.append(("    " if as_it_is else "") + _plain(raw) + ("\n" if as_it_is else " "))
        elif macro in _FONTS:
            joined = _words(rest, "" if len(macro) == 3 else " ")
            lines.append(("    " if as_it_is else "") + joined + ("\n" if as_it_is else " "))
    return {name: re.sub(r"\n{3,}", "\n\n", "".join(said)) for name, said in found.items()}


def _words(rest: str, between: str) -> str:
    rows = (found[1] if found[1] is not None else found[2] for found in _ARGUMENT.finditer(rest))
    return _plain(between.join(rows))


def _plain(text: str) -> str:
    text = _SIGN.sub(lambda found: _SIGNS.get(found[1] or found[2], " "), text)
    for pattern, to in _ESCAPES:
        text = pattern.sub(to, text)
    return text


def _first(text: str, most: int) -> str:
    """Whole sentences from the beginning, if there are such."""
    text = text.strip()
    if len(text) <= most:
        return text
    cut = text[:most]
    return cut[: cut.rfind(". ") + 1] or cut
