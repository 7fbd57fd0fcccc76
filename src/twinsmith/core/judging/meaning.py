"""Comparing results of programs: literals that mean the same value are the same."""

import ast
import math
from collections.abc import Hashable

from twinsmith.core.replies.python_names import UNREADABLE

DIGITS = 9
"""Numbers that are the same to this many digits count as the same."""
SINGLE_DIGITS = 6
"""The digits that count in languages that have numbers of single precision."""


def meaning(literal: str, *, exact: bool = True) -> Hashable:
    """A key that is the same for all literals that mean the same value."""
    try:
        return _meaning(ast.literal_eval(literal), exact=exact)
    except UNREADABLE:
        return ("text", literal)


def _meaning(value: object, *, exact: bool) -> Hashable:
    match value:
        case int():
            return ("number", int(value))
        case float() if math.isfinite(value):
            digits = DIGITS if exact else SINGLE_DIGITS
            if math.isclose(value, round(value), rel_tol=10**-digits):
                return ("number", round(value))
            return ("number", float(f"{value:.{digits}g}"))
        case list() | tuple():
            kind = type(value).__name__ if exact else "list"
            return (kind, tuple(_meaning(item, exact=exact) for item in value))
        case set() | frozenset():
            items = sorted((_meaning(item, exact=exact) for item in value), key=repr)
            return ("set" if exact else "list", tuple(items))
        case dict() if not value and not exact:
            # `{}` is an empty list in some languages and an empty map in others.
            return ("list", ())
        case dict():
            keys = {key if exact or isinstance(key, str) else repr(key): key for key in value}
            pairs = [
                (_meaning(word, exact=exact), _meaning(value[key], exact=exact))
                for word, key in keys.items()
            ]
            return ("dict", tuple(sorted(pairs, key=repr)))
    return (type(value).__name__, repr(value))
