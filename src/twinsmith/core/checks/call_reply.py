"""A critic's reply that lists calls of a library's functions and their results, as JSON.

Under a schema a small model cannot write the functions over again, and says nothing in a language
that the checks are not written in.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from twinsmith.core.errors import BadReply
from twinsmith.core.probe import Call, Probe
from twinsmith.core.replies.reply_json import object_in, object_schema

LONGEST_LITERAL = 400
_LIST = {"type": "array", "maxItems": 6}
_ANY = {"type": ["string", "number", "boolean", "null", "array", "object"]}


def calls_schema(names: Sequence[str], most: int) -> str:
    """The JSON schema for a list of calls: function, arguments and result."""
    call = object_schema({"function": {"enum": list(names)}, "args": _LIST, "gives": _ANY})
    calls = {"type": "array", "minItems": 2, "maxItems": most, "items": call}
    return json.dumps(object_schema({"calls": calls}))


def read_calls(text: str, calls: Sequence[str]) -> dict[Probe, int]:
    """The calls that a critic proposes, and how often each; BadReply where there is none.

    `calls` says how functions are called, as in `share(cents, parts)`: what has another number of
    arguments is left out.
    """
    counts = dict(map(_counted, calls))
    listed = object_in(text, "the answer").get("calls")
    found: Counter[Probe] = Counter()
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and (probe := _probe(each, counts)):
            found[probe] += 1
    if not found:
        raise BadReply("the answer has no call of a function; ask again")
    return dict(found)


def _probe(raw: Mapping[str, object], counts: Mapping[str, int | None]) -> Probe | None:
    name, args = raw.get("function"), raw.get("args")
    if not isinstance(name, str) or name not in counts or not isinstance(args, list):
        return None
    if counts[name] not in (None, len(args)) or "gives" not in raw:
        return None
    values, expected = tuple(map(repr, args)), repr(raw["gives"])
    literals = (*values, expected)
    # JSON knows numbers that are none of Python's literals.
    if any(len(each) > LONGEST_LITERAL or re.search(r"\b(?:nan|inf)\b", each) for each in literals):
        return None
    line = f"{name}({', '.join(values)}) == {expected}"
    call = Call(function=name, args=values, expected=expected)
    return Probe(name=line, origin="plan", source=f"assert {line}", call=call)


def _counted(call: str) -> tuple[str, int | None]:
    """The name of a function and the number of its arguments; None where any number is allowed."""
    name, _, rest = call.partition("(")
    given = rest.removesuffix(")")
    if given == "...":
        return name, None
    return name, len(given.split(",")) if given.strip() else 0
