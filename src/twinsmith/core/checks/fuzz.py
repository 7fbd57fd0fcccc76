"""Inputs for a function that are made up by chance, from its types and from calls that were seen.

Free of tokens and the same for the same seed. They have no expected value: what is looked at is
where candidates differ. Most of them are near to what was seen, because what lies outside a
function's domain says nothing about it.
"""

import ast
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twinsmith.core.probe import Call
from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.syntax import parse_expression

LONGEST_LITERAL = 400
MOST_ITEMS = 16
LARGE = 20
LARGEST_FRACTION = 1e12
TRIES = 20
TYPED = 12
WORDS = ("", "a", "aa", "ab", "Ab", "a b", "1", "hello world", "é", "A1-b_2")
LETTERS = ("a", "b", "Z", "1", " ")
NUMBERS = (0, 1, 2, 3, 7, 10, 100)
FRACTIONS = (0.0, 0.5, 1.0, 2.5, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The values that were seen at one place of an input, and those inside of them."""

    values: list[object]
    items: "_Seen | None"

    @property
    def negative(self) -> bool:
        return any(isinstance(each, int | float) and each < 0 for each in self.values)

    @property
    def letters(self) -> str:
        return "".join(sorted(set("".join(e for e in self.values if isinstance(e, str)))))


def fuzz_calls(
    function: str,
    seen: Sequence[Call],
    *,
    annotations: Sequence[str] = (),
    seed: int = 0,
    most: int = 40,
) -> tuple[Call, ...]:
    """Up to `most` made-up calls, none of them seen; annotations serve where nothing was seen."""
    rng = random.Random(seed)  # noqa: S311
    rows = _rows(seen) or _typed_rows(annotations, rng)
    if not rows:
        return ()
    places = [_place([row[n] for row in rows]) for n in range(len(rows[0]))]
    known = {_texts(row) for row in rows}
    made: dict[tuple[str, ...], None] = {}
    for row in [*_at_the_edges(rows, places), *_mixed(rows, rng, most)]:
        _keep(row, known, made)
    made = dict.fromkeys(list(made)[: (most + 1) // 2])
    edges = len(made)
    for tried in range(most * TRIES):
        if len(made) >= most:
            break
        # Where little was seen, what was made of it is changed once more.
        again = list(made)[edges:] if tried >= most * TRIES // 2 else []
        row = rng.choice([*rows, *map(_values, again)])
        _keep(_changed_row(row, places, rng), known, made)
    return tuple(Call(function=function, args=args) for args in made)


def _keep(
    row: Sequence[object], known: set[tuple[str, ...]], made: dict[tuple[str, ...], None]
) -> None:
    texts = _texts(row)
    if texts not in known and sum(map(len, texts)) <= LONGEST_LITERAL:
        made[texts] = None


def _texts(row: Sequence[object]) -> tuple[str, ...]:
    return tuple(repr(value) for value in row)


def _values(args: Sequence[str]) -> list[object]:
    return [ast.literal_eval(arg) for arg in args]


def _rows(seen: Sequence[Call]) -> list[list[object]]:
    """The arguments of calls of the usual number and kinds; others are tests of misuse."""
    rows = []
    for call in seen:
        try:
            row = _values(call.args)
            # An infinite number can be read, but not written.
            rows.append(_values(_texts(row)))
        except UNREADABLE:
            continue
    kinds = Counter(tuple(_kind(value) for value in row) for row in rows if row)
    if not kinds:
        return []
    usual = kinds.most_common(1)[0][0]
    fitting = [row for row in rows if _fits(row, usual)]
    return list({_texts(row): row for row in fitting}.values())


def _kind(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


def _fits(row: list[object], usual: tuple[str, ...]) -> bool:
    return len(row) == len(usual) and all(
        _kind(value) == kind for value, kind in zip(row, usual, strict=True)
    )


def _place(values: list[object]) -> _Seen:
    items = [item for value in values for item in _items(value)]
    return _Seen(values=values, items=_place(items) if items else None)


def _items(value: object) -> list[object]:
    match value:
        case list() | tuple() | set() | frozenset():
            return list(value)
        case dict():
            return list(value.values())
    return []


def _at_the_edges(rows: list[list[object]], places: list[_Seen]) -> list[list[object]]:
    """Rows with an extreme value at one place (nothing, one, many alike), else as seen."""
    return [
        [*rows[0][:n], edge, *rows[0][n + 1 :]]
        for n, place in enumerate(places)
        for edge in _edges(place)
    ]


def _edges(place: _Seen) -> list[object]:
    sample = place.values[0]
    match sample:
        case bool():
            return [True, False]
        case int():
            return [0, 1, 2, *([-1] if place.negative else []), 97, 1000]
        case float():
            return [0.0, 1.0, 0.5, *([-1.5] if place.negative else [])]
        case str():
            letters = place.letters
            return ["", *letters[:1], letters[-1:] * 3, letters[:12]]
        case list() if place.items is not None:
            one = place.items.values[0]
            return [[], [one], [one] * 3]
    return []


def _mixed(rows: list[list[object]], rng: random.Random, most: int) -> list[list[object]]:
    """Rows that mix the arguments of several calls."""
    if len(rows[0]) < 2:
        return []
    return [[rng.choice(rows)[n] for n in range(len(rows[0]))] for _ in range(most // 4)]


def _changed_row(row: list[object], places: list[_Seen], rng: random.Random) -> list[object]:
    chosen = rng.randrange(len(row)) if row else 0
    return [
        _changed(value, place, rng) if n == chosen or rng.random() < 0.3 else value
        for n, (value, place) in enumerate(zip(row, places, strict=True))
    ]


def _changed(value: object, place: _Seen, rng: random.Random) -> object:
    """Another value of the same kind, near to this one."""
    match value:
        case bool():
            return not value
        case int():
            return _changed_int(value, place, rng)
        case float():
            other = rng.choice([value + 0.5, value / 2, value + 1, round(value), value * 2, -value])
            other = max(-LARGEST_FRACTION, min(LARGEST_FRACTION, other))
            return float(other if place.negative else abs(other))
        case str():
            return _changed_text(value, place, rng)
        case list():
            return _changed_list(value, place, rng)
        case tuple():
            items = [_changed(item, place.items or place, rng) for item in value]
            at = rng.randrange(len(value)) if value else 0
            return tuple(new if n == at else old for n, (old, new) in enumerate(zip(value, items)))  # noqa: B905
        case dict() if value:
            key = rng.choice(list(value))
            rest = {k: v for k, v in value.items() if k != key}
            return rng.choice(
                [rest, {**rest, key: _changed(value[key], place.items or place, rng)}]
            )
    return rng.choice(place.values)


def _changed_int(value: int, place: _Seen, rng: random.Random) -> int:
    numbers = [each for each in place.values if isinstance(each, int)]
    low, high = min(numbers), max(numbers)
    other = rng.choice(
        [value + 1, value - 1, value * 2, value // 2, rng.randint(low, high), rng.choice(numbers)]
    )
    if not place.negative:
        other = abs(other)
    most = max(LARGE, 2 * abs(low), 2 * abs(high))
    return max(-most, min(most, other))


def _changed_text(value: str, place: _Seen, rng: random.Random) -> str:
    at, to = sorted(rng.randrange(len(value) + 1) for _ in range(2))
    letter = rng.choice(place.letters or "a")
    other = rng.choice([each for each in place.values if isinstance(each, str)])
    mixed = list(value)
    rng.shuffle(mixed)
    ways: tuple[Callable[[], str], ...] = (
        lambda: value[:at] + value[at + 1 :],
        lambda: value[:at] + letter + value[at:],
        lambda: value[:at] + letter + value[at + 1 :],
        lambda: value[:at] + value[at:to] * 2 + value[to:],
        lambda: value[:at] + value[to:],
        lambda: value[:at] + value[at:].swapcase(),
        lambda: value[::-1],
        lambda: "".join(mixed),
        lambda: value + other,
        lambda: value + " " + other if " " in place.letters else other + value,
    )
    return rng.choice(ways)()[:60]


def _changed_list(value: list[object], place: _Seen, rng: random.Random) -> list[object]:
    at = rng.randrange(len(value)) if value else 0
    items = place.items
    one = rng.choice(items.values) if items else None
    other = rng.choice([each for each in place.values if isinstance(each, list)])
    mixed = list(value)
    rng.shuffle(mixed)

    def with_changed_item() -> list[object]:
        if not value or items is None:
            return value
        return [*value[:at], _changed(value[at], items, rng), *value[at + 1 :]]

    ways: tuple[Callable[[], list[object]], ...] = (
        lambda: value[:at] + value[at + 1 :],
        lambda: [*value[:at], one, *value[at:]] if items else value,
        lambda: [*value[:at], one, *value[at + 1 :]] if items else value,
        lambda: value[: at + 1] + value[at:],
        lambda: value[:at],
        lambda: value[::-1],
        lambda: mixed,
        lambda: value + other,
        with_changed_item,
        with_changed_item,
    )
    return rng.choice(ways)()[:MOST_ITEMS]


def _typed_rows(annotations: Sequence[str], rng: random.Random) -> list[list[object]]:
    """Rows made from annotations alone; none where an annotation says nothing."""
    try:
        nodes = [parse_expression(each).body for each in annotations]
        return [[_typed(node, rng) for node in nodes] for _ in range(TYPED)] if nodes else []
    except (*UNREADABLE, LookupError):
        return []


def _typed(node: ast.expr, rng: random.Random) -> object:
    """A made-up value of an annotated type."""
    name, inner = _name_and_inner(node)
    match name:
        case "int":
            return rng.choice(NUMBERS)
        case "float":
            return rng.choice(FRACTIONS)
        case "bool":
            return rng.random() < 0.5
        case "str":
            return rng.choice(WORDS)
        case "chr":
            return rng.choice(LETTERS)
        case "list" | "sequence" | "iterable":
            node = inner[0] if inner else ast.Name("int")
            # One is made in any case: what nobody knows must not depend on chance.
            return [_typed(node, rng) for _ in range(5)][: rng.randrange(6)]
        case "tuple" if inner:
            return tuple(_typed(each, rng) for each in inner)
        case "dict" | "mapping":
            key, item = inner if len(inner) == 2 else (ast.Name("str"), ast.Name("int"))
            pairs = [(_typed(key, rng), _typed(item, rng)) for _ in range(4)]
            return dict(pairs[: rng.randrange(5)])
        case "optional" if inner:
            return rng.choice([None, _typed(inner[0], rng)])
    raise LookupError(ast.unparse(node))


def _name_and_inner(node: ast.expr) -> tuple[str, list[ast.expr]]:
    match node:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=inner)):
            return _name_and_inner(value)[0], inner
        case ast.Subscript(value=value, slice=inner):
            return _name_and_inner(value)[0], [inner]
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name.lower(), []
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return "optional", [left]
    return "", []
