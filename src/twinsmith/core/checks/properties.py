"""Properties that hold for every right result, as asserts over inputs that were seen.

A property that is wrong does harm, so it is dropped where a result that was seen does not keep it,
and where a right program may have reasons not to.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain, permutations, zip_longest

from twinsmith.core.checks.property_words import Kind, named, undoes
from twinsmith.core.probe import Call
from twinsmith.core.replies.python_names import UNREADABLE

MOST = 6
LONGEST_INPUT = 300
Fits = Callable[[Sequence[object]], bool]
"""Whether a property may be checked with these arguments."""
Keeps = Callable[[object, object], bool]
"""Whether a result, beside the first argument, has a property."""
_OWN_WORDS = {"list", "sorted", "len"}
_COUNTS = re.compile(r"\brun[ -]length|compress", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A call as values; `results` is empty where nobody said what the call gives."""

    args: tuple[str, ...]
    values: tuple[object, ...]
    results: tuple[object, ...]


def properties(
    text: str, entry: str, names: Sequence[str], seen: Sequence[Call]
) -> tuple[str, ...]:
    """Asserts that every right program passes: one of each kind first, smallest inputs first."""
    names = tuple(dict.fromkeys([entry, *names]))
    calls = {name: list(_read(name, seen)) for name in names}
    kinds = named(text, entry) if entry not in _OWN_WORDS else ()
    groups = [_asserts(kind, entry, calls[entry]) for kind in kinds]
    pairs = [pair for pair in permutations(names, 2) if undoes(*pair, text)]
    groups += [_round_trip(*pair, calls, text) for pair in pairs]
    found = chain.from_iterable(zip_longest(*groups, fillvalue=""))
    return tuple(dict.fromkeys(filter(None, found)))[:MOST]


def _read(name: str, seen: Sequence[Call]) -> Iterator[_Seen]:
    """The calls of one function, smallest first; calls that show nothing are left out."""
    for call in sorted(seen, key=lambda call: sum(map(len, call.args))):
        text = "".join(call.args)
        # Letters outside ASCII are several in some languages.
        if call.function != name or not text.isascii() or not 0 < len(text) <= LONGEST_INPUT:
            continue
        try:
            values = tuple(ast.literal_eval(arg) for arg in call.args)
            results = (ast.literal_eval(call.expected),) if call.expected else ()
        except UNREADABLE:
            continue
        if not isinstance(values[0], list | tuple | str) or len(values[0]) > 1:
            yield _Seen(args=call.args, values=values, results=results)


def _asserts(kind: Kind, name: str, calls: Sequence[_Seen]) -> list[str]:
    """An assert of one property for each input; none where a known result contradicts it."""
    says, fits, keeps = _PROPERTIES[kind]
    if any(not keeps(each.values[0], result) for each in calls for result in each.results):
        return []
    return [_told(says, name, each.args) for each in calls if fits(each.values)]


def _told(says: str, name: str, args: Sequence[str]) -> str:
    call, rest = f"{name}({', '.join(args)})", "".join(f", {arg}" for arg in args[1:])
    turned = ", ".join(reversed(args))
    told = says.format(name=name, call=call, first=args[0], rest=rest, turned=turned)
    return f"assert {told}"


def _flat(values: Sequence[object]) -> bool:
    """Whether all items have an order without doubt: numbers, or words of small letters."""
    return all(
        all(type(item) in (int, float) for item in value)
        or all(isinstance(item, str) and re.fullmatch("[a-z]+", item) for item in value)
        for value in values
        if isinstance(value, list | tuple)
    )


def _many(values: Sequence[object]) -> bool:
    return isinstance(values[0], list | str)


def _can_be_sorted(values: Sequence[object]) -> bool:
    if not isinstance(values[0], list | str):
        return False
    try:
        sorted(values[0])
    except TypeError:
        return False
    return True


def _pair(values: Sequence[object]) -> bool:
    """Whether the arguments are two different values of one type, neither of them negative."""
    alike = len(values) == 2 and type(values[0]) is type(values[1]) and values[0] != values[1]
    return alike and not any(isinstance(value, int | float) and value < 0 for value in values)


def _same_type(value: object, result: object) -> bool:
    return type(value) is type(result)


def _as_long(value: object, result: object) -> bool:
    if not isinstance(value, Sized) or not isinstance(result, Sized):
        return False
    return _same_type(value, result) and len(value) == len(result)


def _rises(_value: object, result: object) -> bool:
    return isinstance(result, list | tuple) and _flat([result]) and list(result) == sorted(result)


def _falls(value: object, result: object) -> bool:
    return isinstance(result, list | tuple) and _rises(value, result[::-1])


_PROPERTIES: Mapping[Kind, tuple[str, Fits, Keeps]] = {
    "rises": ("list({call}) == sorted({call})", _flat, _rises),
    "falls": ("list({call}) == sorted({call}, reverse=True)", _flat, _falls),
    "keeps items": ("sorted({call}) == sorted({first})", _can_be_sorted, _as_long),
    "done once": ("{name}({call}{rest}) == {call}", _many, _same_type),
    "done once, in any order": (
        "sorted({name}({call}{rest})) == sorted({call})",
        _can_be_sorted,
        _same_type,
    ),
    "either order": ("{call} == {name}({turned})", _pair, lambda *_: True),
}


def _round_trip(
    there: str, back: str, calls: Mapping[str, Sequence[_Seen]], text: str
) -> list[str]:
    """Asserts that one function undoes another; none where known results leave doubt."""
    known = [result for name in (there, back) for each in calls[name] for result in each.results]
    given = {each.args: each.results for each in calls[back]}
    undone = [
        given.get((repr(result), *each.args[1:])) in (None, (), each.values[:1])
        for each in calls[there]
        for result in each.results
    ]
    if not all(map(_exact, known)) or not all(undone):
        return []
    sure = [each for each in calls[there] if _is_sure(each, counted=_COUNTS.search(text))]
    texts = [each for each in calls[back] if isinstance(each.values[0], str)]
    on = f"{{name}}({there}({{call}}{{rest}}){{rest}}) == {{call}}"
    return [
        *(_told(f"{back}({{call}}{{rest}}) == {{first}}", there, each.args) for each in sure),
        *(_told(on, back, each.args) for each in texts),
    ]


def _is_sure(each: _Seen, *, counted: re.Match[str] | None) -> bool:
    """Whether an input certainly comes back as it was: no fraction, no digit taken for a count."""
    if isinstance(each.values[0], int):
        return bool(each.results)
    return _exact(each.values[0]) and not (counted and re.search(r"\d", each.args[0]))


def _exact(value: object) -> bool:
    """Whether a value comes back as itself: no fractions, no tuples that come back as lists."""
    match value:
        case list():
            return all(map(_exact, value))
        case dict():
            return all(isinstance(key, str) and _exact(item) for key, item in value.items())
    return value is None or isinstance(value, int | str | bytes)
