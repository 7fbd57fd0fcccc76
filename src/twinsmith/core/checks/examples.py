"""The example calls of a function in the words of a task, with the result each has to give.

Text is only parsed here. What is not surely an example is left out, because an example decides.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, pairwise

from twinsmith.core.checks.foreign import TEXT_IN_QUOTES, at_home
from twinsmith.core.checks.parameters import parameters_in
from twinsmith.core.probe import Call
from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.syntax import parse, parse_expression

LONGEST_TEXT = 50_000
LONGEST_CALL = 2_000
MOST_EXAMPLES = 50
FURTHEST_RESULT = 300
MOST_PLACES = 500
MOST_BLANKS = 40
WORDS = {
    **dict.fromkeys(("True", "true", "TRUE"), "True"),
    **dict.fromkeys(("False", "false", "FALSE"), "False"),
    **dict.fromkeys(("None", "none", "null", "nil"), "None"),
}
WITHOUT_NOTHING = ("c", "cpp")
"""Languages without a value for nothing: an example with None was written for another language."""
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")
_NAME_AND_OPEN = re.compile(r"(?<![\w.])([A-Za-z_]\w*)[ \t]*\(")
_NUMBER_OR_WORD = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|[A-Za-z]+")
_ARROWS = r"=+>|-+>|➞|→|⇒|⟶"
_ARROW = re.compile(rf"\s*`?\s*(?:{_ARROWS})\s*`?")
_RELATION = re.compile(
    rf"\s*`?\s*(?:\#\s*)?(?:{_ARROWS}|={{1,3}}(?!=)|"
    r"(?:(?:should|must|will|shall|would|has\s+to)\s+)?"
    r"(?:returns?|gives?(?:\s+back)?|yields?|equals?|outputs?|evaluates?\s+to|be|is|becomes?)\b)"
    r"(?:\s*(?:(?:equal\s+to|the|an?|string|text|list|tuple|number|integer|value)\b\s*)*)"
    r":?\s*`?"
)
_UNSURE = re.compile(r"[\w'\"\[({]|\.\d|[ \t]*(?:[-+*/%<>=|&^]|\.\.|(?:if|or|unless|when)\b)")
_ONE_MORE = re.compile(r",[ \t]*(?=[-\d'\"\[({])")
_HEADING = re.compile(r"^[ \t]*(?:for )?examples?\b[^\n(=]*$", re.IGNORECASE | re.MULTILINE)
_RESULT = re.compile(
    r"\b(?:output|result|returns?|answer|expected)\b[ \t]*(?:value\b)?[ \t]*"
    r"(?:(?:(?:should|must|will|shall)[ \t]+)?(?:be|is)\b|=>|->|[:=])?\s*",
    re.IGNORECASE,
)
_INPUT = re.compile(r"\binputs?[ \t]*[:=]\s*", re.IGNORECASE)
_LITERAL_START = re.compile(r"(?<![\w.])[-'\"\[({\d]")
_NAMED = re.compile(r"[A-Za-z_]\w*[ \t]*[:=][ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The examples of a task; `checks` are asserts around a call, such as `round(f(1), 2) == 0.5`.

    Each pair of contradictory examples is told, and neither is among the calls.
    """

    calls: tuple[Call, ...] = ()
    checks: tuple[str, ...] = ()
    contradictions: tuple[tuple[Call, Call], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One example, and its place in the text."""

    at: int
    args: tuple[str, ...]
    result: str
    name: str = ""


def read_examples(
    text: str, *, function: str, parameters: tuple[str, ...] = (), language: str = "python"
) -> Examples:
    """The examples of one function in a task's text, or in its docstring where text is code."""
    text = text[:LONGEST_TEXT].translate(_QUOTES)
    if language == "python":
        text, own = _own_words(text, function)
    else:
        own = tuple(each.name for each in parameters_in(text, function, language))
        text = at_home(text)
    parameters = parameters or own
    found = [
        *_about(list(_calls(text, parameters, language)), function, parameters),
        *_assignments(text, parameters),
    ]
    found = found or list(_inputs(text, parameters)) or list(_arrows(text, parameters))
    found = _after_heading(found, text)
    if language in WITHOUT_NOTHING:
        found = [one for one in found if one.result != "None"]
    calls = list(
        dict.fromkeys(Call(function=function, args=one.args, expected=one.result) for one in found)
    )
    clashes = tuple(pair for pair in combinations(calls[:MOST_EXAMPLES], 2) if _clash(*pair))
    wrong = {call for pair in clashes for call in pair}
    return Examples(
        calls=tuple(call for call in calls if call not in wrong)[:MOST_EXAMPLES],
        checks=tuple(dict.fromkeys(_doctests(text, function)))[:MOST_EXAMPLES],
        contradictions=clashes,
    )


def _own_words(text: str, function: str) -> tuple[str, tuple[str, ...]]:
    """The docstring and parameters of a function that the text defines; else the text as it is."""
    try:
        tree = parse(text)
    except UNREADABLE:
        return text, ()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            for line in node.body:
                match line:
                    case ast.Expr(value=ast.Constant(value=str())):
                        words = ast.get_source_segment(text, line) or ""
                        return words.strip("\"'"), tuple(arg.arg for arg in node.args.args)
    return text, ()


def _literal_at(text: str, at: int) -> tuple[str, int] | None:
    """The literal that begins at a place of a text, as Python writes it, and where it ends."""
    if text[at : at + 1] in {"[", "(", "{", "'", '"'}:
        end = _closing(text, at)
    else:
        scalar = _NUMBER_OR_WORD.match(text, at)
        end = scalar.end() if scalar else at
        if text[at:end].endswith("."):
            # The full stop of a sentence is no part of a number.
            end -= 1
    literal = _literal(text[at:end])
    return (literal, end) if literal else None


def _literal(text: str) -> str:
    """A literal in Python's own spelling; empty where the text is no literal."""
    try:
        node = parse_expression(_spelled(text).strip()).body
        ast.literal_eval(node)
    except UNREADABLE:
        return ""
    return "" if any(_is_ellipsis(each) for each in ast.walk(node)) else ast.unparse(node)


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _spelled(text: str) -> str:
    """A text with `true`, `false` and `null` outside of strings as Python spells them."""
    parts = TEXT_IN_QUOTES.split(text)
    parts[::2] = [
        re.sub(r"\b[A-Za-z]+\b", lambda word: WORDS.get(word[0], word[0]), part)
        for part in parts[::2]
    ]
    return "".join(parts)


def _closing(text: str, at: int) -> int:
    """The place where a bracket or string is closed that opens at `at`; `at` where it never is."""
    depth, here = 0, at
    while here < min(len(text), at + LONGEST_CALL):
        if text[here] in "'\"":
            string = TEXT_IN_QUOTES.match(text, here)
            if string is None:
                return at
            here = string.end() - 1
        elif text[here] in "([{":
            depth += 1
        elif text[here] in ")]}":
            depth -= 1
        here += 1
        if depth == 0:
            return here
    return at


def _result_at(text: str, at: int, *, asserted: bool = False) -> str:
    """The literal at a place, unless the text after it says that it is only part of a result.

    After an assert, a comma begins its message.
    """
    read = _literal_at(text, at)
    if read is None:
        return ""
    literal, end = read
    more = _ONE_MORE.match(text, end)
    if more and not asserted:
        # 1, 2 may be a tuple; 1, 'b' -> 2 is not.
        following = _literal_at(text, more.end())
        if following is None or not _ARROW.match(text, following[1]):
            return ""
    return "" if _UNSURE.match(text, end) else literal


def _calls(text: str, parameters: tuple[str, ...], language: str) -> Iterator[_Found]:
    """Examples that are written as `name(literals) relation literal`."""
    for match in islice(_NAME_AND_OPEN.finditer(text), MOST_PLACES):
        before = text[max(0, match.start() - MOST_BLANKS) : match.start()].rstrip(" \t")
        if before.endswith(("def", "fn", "func", "function")):
            continue
        end = _closing(text, match.end() - 1)
        args = _args(text[match.start() : end], parameters)
        if args is None:
            continue
        result = _given(text, end, before, silent="None" if language == "python" else "")
        if result:
            yield _Found(at=match.start(), name=match.group(1), args=args, result=result)


def _args(call: str, parameters: tuple[str, ...]) -> tuple[str, ...] | None:
    """The arguments of a call in their order; None where one is no literal."""
    try:
        node = parse_expression(_spelled(call)).body
    except UNREADABLE:
        return None
    if not isinstance(node, ast.Call):
        return None
    given = list(node.args)
    for keyword in node.keywords:
        if parameters[len(given) : len(given) + 1] != (keyword.arg,):
            return None
        given.append(keyword.value)
    texts = tuple(_literal(ast.unparse(each)) for each in given)
    return texts if all(texts) else None


def _given(text: str, end: int, before: str, *, silent: str) -> str:
    """The result of a call by the words around it; empty where they tell none."""
    doctest = before.endswith(">>>")
    line, _, below = text[end:].partition("\n")
    if doctest and (not line.strip() or line.lstrip().startswith("#")):
        if not below.partition("\n")[0].strip() and below.lstrip().startswith(">>>"):
            return silent
        return _result_at(below.lstrip(), 0)
    if doctest and below.strip().startswith("False"):
        return ""
    relation = _RELATION.match(text, end)
    if relation is None and not doctest:
        return ""
    at = relation.end() if relation else end + len(line) - len(line.lstrip())
    return _result_at(text, at, asserted=before.endswith("assert"))


def _about(found: list[_Found], function: str, parameters: tuple[str, ...]) -> list[_Found]:
    """The examples of one function; they may all use one other name for it."""
    own = [one for one in found if one.name == function]
    if not own and len({one.name for one in found}) == 1:
        own = [one for one in found if len(one.args) == len(parameters)]
    return own


def _assignments(text: str, parameters: tuple[str, ...]) -> Iterator[_Found]:
    """Examples that are written as `For a = 1, b = 2 the output should be 3`, in any order."""
    if not parameters:
        return
    names = "|".join(re.escape(name) for name in parameters)
    places = list(re.finditer(rf"(?<![\w.])({names})[ \t]*(?:=(?!=)|:)[ \t]*", text))
    values: dict[str, str] = {}
    for number, place in enumerate(places):
        read = _literal_at(text, place.end())
        if place[1] in values or read is None:
            values = {}
        if read is None:
            continue
        values[place[1]], end = read
        if len(values) < len(parameters):
            continue
        following = [each.start() for each in places[number + 1 :]]
        last = min([end + FURTHEST_RESULT, *following])
        result = next(
            (
                each
                for match in _RESULT.finditer(text, end, last)
                if (each := _result_at(text, match.end()))
            ),
            "",
        )
        if result:
            args = tuple(values[name] for name in parameters)
            yield _Found(at=place.start(), args=args, result=result)
        values = {}


def _inputs(text: str, parameters: tuple[str, ...]) -> Iterator[_Found]:
    """Examples that are written as `Input: 1, 2  Output: 3`; a name may stand before each value."""
    for match in _INPUT.finditer(text):
        args: list[str] = []
        at = match.end()
        while not _RESULT.match(text, at):
            named = _NAMED.match(text, at)
            read = _literal_at(text, named.end() if named else at)
            if read is None:
                break
            args.append(read[0])
            at = read[1] + len(text[read[1] :]) - len(text[read[1] :].lstrip(" \t\n,;"))
        said = _RESULT.match(text, at)
        result = _result_at(text, said.end()) if said else ""
        if args and result and len(args) == (len(parameters) or len(args)):
            yield _Found(at=match.start(), args=tuple(args), result=result)


def _arrows(text: str, parameters: tuple[str, ...]) -> Iterator[_Found]:
    """Examples that are written as `'IV' -> 4`, for a function of one argument."""
    if len(parameters) > 1:
        return
    at = 0
    for _ in range(MOST_PLACES):
        start = _LITERAL_START.search(text, at)
        if start is None:
            return
        read = _literal_at(text, start.start())
        at = read[1] if read else start.end()
        arrow = _ARROW.match(text, at)
        if read is None or arrow is None:
            continue
        result = _result_at(text, arrow.end())
        if result:
            yield _Found(at=start.start(), args=(read[0],), result=result)


def _after_heading(found: list[_Found], text: str) -> list[_Found]:
    """The examples after the last heading, where those before it only define something."""
    headings = [match.start() for match in _HEADING.finditer(text)]
    if len({one.result[0] in "[({" for one in found}) < 2 or not headings:
        return found
    return [one for one in found if one.at > headings[-1]] or found


def _clash(one: Call, other: Call) -> bool:
    def values(call: Call) -> tuple[list[object], object]:
        return [ast.literal_eval(arg) for arg in call.args], ast.literal_eval(call.expected)

    (args, result), (same, otherwise) = values(one), values(other)
    return args == same and result != otherwise


def _doctests(text: str, function: str) -> Iterator[str]:
    """Asserts from doctests such as `>>> round(f(1), 2)` and the line below."""
    lines = [line.strip() for line in text.splitlines()]
    for line, below in pairwise([*lines, ""]):
        if not line.startswith(">>>"):
            continue
        try:
            node = parse_expression(line[3:].strip()).body
        except UNREADABLE:
            continue
        called = {each.func for each in ast.walk(node) if isinstance(each, ast.Call)}
        names = {each.id for each in called if isinstance(each, ast.Name)}
        result = _result_at(below, 0)
        is_plain = isinstance(node, ast.Call) and names == {function}
        if function in names and result and not is_plain:
            # Python writes brackets only where it needs them: (f(1) == 2) == True
            yield ast.unparse(parse(f"assert ({ast.unparse(node)}) == {result}"))
