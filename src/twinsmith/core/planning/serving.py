"""Matching requirements and routes: which operations a requirement is about."""

import re
from collections.abc import Iterable, Sequence

from twinsmith.core.planning.contract import Contract, Operation
from twinsmith.core.planning.requirement import Requirement, same, words_of


def unserved(
    requirements: Iterable[Requirement], operations: Sequence[Operation]
) -> tuple[Requirement, ...]:
    """Requirements for which no route was planned."""
    return tuple(each for each in requirements if not serving(each, operations))


def unasked(requirements: Sequence[Requirement], contract: Contract) -> tuple[str, ...]:
    """The routes that no requirement is about, in words, so that they are checked as well."""
    served = {each.function for r in requirements for each in serving(r, contract.operations)}
    return tuple(
        f"{each.method} {each.path}" + (f": {each.quote}" if each.quote else "")
        for each in contract.pieces
        if each.function not in served
    )


def serving(requirement: Requirement, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations that a requirement is about: by its quote, else by words in common."""
    quoting = tuple(
        each for each in operations if each.quote and same(each.quote, requirement.quote)
    )
    if quoting:
        return quoting
    wanted = set(words_of(requirement.quote)) | set(words_of(requirement.what))
    scores = {each.function: len(wanted & _words(each)) for each in operations}
    best = max(scores.values(), default=0)
    return tuple(each for each in operations if best and scores[each.function] == best)


def _words(operation: Operation) -> set[str]:
    """The words in an operation's names and path."""
    names = [
        operation.function,
        operation.path,
        operation.quote,
        *(f.name for f in operation.takes),
    ]
    names += [refusal.when for refusal in operation.refuses]
    example = operation.example()
    names += list(example) if isinstance(example, dict) else []
    return set(words_of(re.sub(r"[\W_]+", " ", " ".join(map(str, names)))))
