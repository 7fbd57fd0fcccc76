"""Literals of other languages in a task or a reply, rewritten as Python writes them."""

import re

TEXT_IN_QUOTES = re.compile(r"('(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\")")
_MARK = re.compile(r"^[ \t]*(?:/{2,3}!?|/\*+|\*+/?|#+)(?=\s|$)", re.MULTILINE)
_OWNED = re.compile(r"\bString::from\(\s*(\"(?:\\.|[^\"\\\n])*\")\s*\)")
_MADE = re.compile(r"(?<=\")\.(?:to_string|to_owned|into)\(\)")
_TYPE = re.compile(
    r"(?:\[\d*\])+\*?[A-Za-z_][\w.]*(?=\{)"  # []int{
    r"|\bmap\[\w+\][\w\[\].]+(?=\{(?!\s*\}))"
    r"|\bvec!\s*(?=\[)|&(?=\[)"
    r"|\b(?:std::)?(?:vector|array|list|deque|set)<[^\n{}()]*>\s*(?=\{)"
)
_BORROWED = re.compile(r"&(?=\")")
_ASSERT = re.compile(
    r"[ \t]*assert(?P<equal>_eq)?!?[ \t]*\([ \t]*(?P<what>.*)\)[ \t]*;[ \t]*(?://.*)?$"
)


def at_home(text: str) -> str:
    """A task's text without comment marks, its lists and strings as Python writes them."""
    text = _MARK.sub("", text)
    text = _MADE.sub("", _OWNED.sub(r"\1", _BORROWED.sub("", text)))
    parts = TEXT_IN_QUOTES.split(text)
    parts[::2] = [_TYPE.sub("", part) for part in parts[::2]]
    return _with_brackets("".join(parts))


def asserts_at_home(text: str) -> str:
    """A critic's answer with the asserts of C, C++ and Rust as Python writes them, line by line."""
    return "\n".join(_assert_at_home(line) for line in at_home(text).split("\n"))


def _assert_at_home(line: str) -> str:
    found = _ASSERT.match(line)
    if found is None:
        return line
    what = found["what"]
    if found["equal"]:
        call, comma, value = what.rpartition(", ")
        # A list has commas of its own: the call ends where its brackets do.
        while comma and any(call.count(a) != call.count(b) for a, b in ("()", "[]", "{}")):
            call, comma, more = call.rpartition(", ")
            value = f"{more}, {value}"
        return f"assert {call} == {value}" if comma else line
    return f"assert not {what[1:]}" if what.startswith("!") else f"assert {what}"


def _with_brackets(text: str) -> str:
    """A text with `{1, 2}` as `[1, 2]`: braces without a colon are lists in these languages."""
    letters = list(text)
    opened: list[tuple[int, bool]] = []
    here = 0
    while here < len(text):
        quoted = TEXT_IN_QUOTES.match(text, here)
        if quoted:
            here = quoted.end()
            continue
        match text[here]:
            case "\n":
                opened.clear()
            case "{":
                opened.append((here, False))
            case ":" if opened:
                opened[-1] = (opened[-1][0], True)
            case "}" if opened:
                start, paired = opened.pop()
                if not paired:
                    letters[start], letters[here] = "[", "]"
        here += 1
    return "".join(letters)
