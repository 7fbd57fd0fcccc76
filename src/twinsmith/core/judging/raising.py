"""Exceptions that a task names, and whether a program was ever seen to raise them."""

import builtins
import re

from twinsmith.core.judging.pool import Pool

_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Interrupt|Iteration|Exit)\b", re.ASCII)


def named_exceptions(text: str) -> tuple[str, ...]:
    """The built-in exceptions of Python that a text names, in its order."""
    found = dict.fromkeys(_NAME.findall(text))
    return tuple(name for name in found if _is_exception(name))


def never_raised(names: tuple[str, ...], pool: Pool, candidate: int) -> tuple[str, ...]:
    """Of these exceptions, those that nothing has shown a candidate to raise.

    It was seen to raise one where a call ended with it, or where a check that names it passed.
    """
    tried = tuple(zip(pool.probes, pool.seen.get(candidate, ()), strict=False))
    return tuple(
        name
        for name in names
        if not any(
            (result.outcome == "raised" and name in f"{result.detail} {result.value}")
            or (result.outcome == "passed" and name in probe.source)
            for probe, result in tried
        )
    )


def _is_exception(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)
