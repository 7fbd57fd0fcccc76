"""C++: comments in the headers of its library, or the pages of the reference where they are."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from twinsmith.adapters.knowledge.packs.article import Part, part

_COMMENT = re.compile(r"/\*\*(.*?)\*/\s*(.{0,600})", re.DOTALL)
_MARGIN = re.compile(r"^\s*\*+ ?", re.MULTILINE)
_TAG = re.compile(
    r"@(?:c|p|a|e|b|em|brief|return|returns|note)\s+|@ingroup.*|@\{|@\}|@link|@endlink"
)
_MACRO = re.compile(r"_GLIBCXX\w*(?:\([^)]*\))?|__attribute__\(\(.*?\)\)|\[\[.*?\]\]")
_RESERVED = re.compile(r"\b__(\w+)")
_NAME = re.compile(r"(\boperator\s?\W{1,3}|\b[a-z]\w*)\s*\(")
_CLASS = re.compile(r"^ {2,4}class ([a-z]\w+)\b(?!.*;)", re.MULTILINE)

_LEFT_OUT = frozenset({"t-navbar", "editsection", "t-example-live-link", "toc", "t-mark"})
_MARKED = {"firstHeading": "title", "mw-content-text": "content"}
_BLOCKS = frozenset({"p", "h3", "h4", "tr", "pre", "dd", "li", "table", "div"})
_VOID = frozenset({"br", "img", "input", "hr", "meta", "link", "wbr", "col"})


def headers(text: str, about: str) -> Iterator[Part]:
    """Each comment that says in brief what follows it."""
    owners = [(found.start(), found[1]) for found in _CLASS.finditer(text)]
    for found in _COMMENT.finditer(text):
        if "@brief" not in found[1]:
            continue
        declared = _RESERVED.sub(r"\1", _MACRO.sub("", found[2]))
        declared = " ".join(re.split(r"[{;]", declared, maxsplit=1)[0].split())
        named = _NAME.search(re.sub(r"^template\s*<.*?>\s*(?=\w)", "", declared))
        if named is None or "#if" in declared:
            continue
        owner = next((name for at, name in reversed(owners) if at < found.start()), "")
        symbol = f"std::{owner + '::' if owner else ''}{named[1]}"
        said = _RESERVED.sub(r"\1", _TAG.sub("", _MARGIN.sub("", found[1])))
        said = said.replace(" %", " ")
        said = re.sub(r"@param(?:\[\w+\])?\s+", "parameter ", said)
        line = text.count("\n", 0, found.start()) + 1
        if made := part(symbol, f"{symbol} <{about}>\n{declared}", said, line):
            yield made


def reference(text: str, about: str) -> Iterator[Part]:
    """A page of the reference: what it describes, and its example as one more part."""
    # Of thousands of pages those count that show how it is done.
    if "t-example" not in text:
        return
    page = _Page()
    page.feed(text[max(text.find("<h1"), 0) :])
    title = " ".join("".join(page.title).split())
    said = re.sub(r"[ \t]*\n\s*\n\s*", "\n\n", "".join(page.said)).strip()
    said = said.partition("\n\nReferences\n")[0].partition("\n\nSee also\n")[0]
    if not title or not page.codes:
        return
    if made := part(title, f"{title} ({about})", said, 1):
        yield made
    for code in page.codes[:1]:
        if made := part(f"{title} example", f"C++ example: {title}", code, 1):
            yield made


class _Page(HTMLParser):
    """Title, prose and example programs of a page, without navigation."""

    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self.said: list[str] = []
        self.codes: list[str] = []
        self._open: list[tuple[str, str]] = []
        """The tags that are open, each with a mark where its text goes elsewhere."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a tag."""
        if tag in _VOID:
            self.said.append("\n" if tag == "br" else "")
            return
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        mark = "left out" if classes & _LEFT_OUT or tag in {"style", "script"} else ""
        mark = _MARKED.get(given.get("id") or "", mark)
        if tag == "pre" and self._inside("example"):
            mark = "code"
            self.codes.append("")
        self._open.append(("example" if "t-example" in classes else mark, tag))

    def handle_endtag(self, tag: str) -> None:
        """Close the nearest tag of this name, and what was left open inside of it."""
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at][1] == tag:
                del self._open[at:]
                break
        if tag in _BLOCKS:
            self.said.append("\n\n")

    def handle_data(self, data: str) -> None:
        """Put a text where it belongs."""
        if self._inside("left out"):
            return
        if self._inside("title"):
            self.title.append(data)
        elif self._inside("code"):
            self.codes[-1] += data
        elif self._inside("content") and not self._inside("example"):
            self.said.append(data)

    def _inside(self, mark: str) -> bool:
        return any(each == mark for each, _ in self._open)
