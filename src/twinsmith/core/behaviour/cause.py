"""The likely cause of a change of level: what else changed, and whether that explains it.

A thing that calls can be told apart by, such as the version of a model, explains a change as far as
the change is gone within each of its values. Where calls of version 1 are as fast as before and
only those of version 2 are slow, the version explains it. Where calls of every value changed alike,
it does not. A value that is there on one side only (the new version came on that day for all) has
nothing to be compared with: then that it changed on the very day is the evidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Suspect = Literal[
    "kind", "language", "settings", "role", "model", "version", "template", "template_version"
]
SUSPECTS: tuple[Suspect, ...] = get_args(Suspect)
"""What may be the cause: first what lies in tasks and settings, and then what follows from it."""
NAMES: Mapping[Suspect, str] = {
    "kind": "mix of kinds of programs",
    "language": "mix of languages",
    "settings": "settings",
    "role": "mix of roles",
    "model": "model",
    "version": "model version",
    "template": "mix of prompts",
    "template_version": "prompt version",
}
FOLLOW: Mapping[Suspect, tuple[Suspect, ...]] = {
    "model": ("version",),
    "role": ("template", "template_version", "model", "version"),
    "kind": ("template", "template_version"),
    "language": ("template", "template_version"),
    "template": ("template_version",),
}
"""What follows from what: another model has other versions, another kind other prompts."""
LEAST_MOVED = 0.1
"""So much of all calls has to have another value than before, at least."""
LEAST_EXPLAINED = 0.5
NEARLY = 0.2
"""What explains so much less than the best explanation is not told beside it."""
FEWEST = 10
"""With fewer calls on a side, a value's own change is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Calls with one value on both sides of a change: how many, and sums of the figure."""

    value: str
    before: int
    after: int
    sum_before: float
    sum_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that changed on the same day, and how much of the change it explains."""

    what: Suspect
    name: str
    explains: float
    """From 0 to 1."""
    gone: str
    """The value that lost most calls, with its shares of calls before and after."""
    came: str
    """The value that won most, with its shares."""
    value: str = ""
    """That value alone."""
    half: float = 0.5
    """The share of calls half way between what it had and what it has."""


def causes_of(found: Mapping[Suspect, tuple[Stratum, ...]]) -> tuple[Cause, ...]:
    """The likely causes, those that explain most first; of what follows from another, none."""
    told = {what: cause for what, strata in found.items() if (cause := _cause(what, strata))}
    for what, effects in FOLLOW.items():
        for effect in effects:
            both = what in told and effect in told
            if both and told[what].explains >= told[effect].explains - NEARLY:
                del told[effect]
    best = max((each.explains for each in told.values()), default=0.0)
    likely = [each for each in told.values() if each.explains >= best - NEARLY]
    return tuple(sorted(likely, key=lambda each: (-round(each.explains, 1), _rank(each.what))))


def _rank(what: Suspect) -> int:
    return SUSPECTS.index(what)


def _cause(what: Suspect, strata: tuple[Stratum, ...]) -> Cause | None:
    """A suspect as a cause; None where it did not change, or what it did explains too little."""
    before, after = sum(each.before for each in strata), sum(each.after for each in strata)
    if not before or not after:
        return None
    moves = {each.value: each.after / after - each.before / before for each in strata}
    moved = sum(abs(each) for each in moves.values()) / 2
    if moved < LEAST_MOVED:
        return None
    explains = _explained(strata, before, after)
    if explains < LEAST_EXPLAINED:
        return None
    least, most = (
        min(strata, key=lambda s: moves[s.value]),
        max(strata, key=lambda s: moves[s.value]),
    )
    return Cause(
        what=what,
        name=NAMES[what],
        explains=explains,
        gone=_shares(least, before, after),
        came=_shares(most, before, after),
        value=most.value,
        half=(most.before / before + most.after / after) / 2,
    )


def _explained(strata: tuple[Stratum, ...], before: int, after: int) -> float:
    """The part of a change that is gone where calls of the same value are compared."""
    level = sum(each.sum_after for each in strata) / after
    total = level - sum(each.sum_before for each in strata) / before
    both = [each for each in strata if min(each.before, each.after) >= FEWEST]
    weight = sum(each.after for each in both)
    if not weight or not total:
        return 1.0
    own = sum(
        each.after * (each.sum_after / each.after - each.sum_before / each.before) for each in both
    )
    return min(1.0, max(0.0, 1.0 - own / weight / total))


def _shares(stratum: Stratum, before: int, after: int) -> str:
    share = f"{stratum.before / before:.0%} to {stratum.after / after:.0%}"
    return f"{stratum.value or '(none)'}, {share} of calls"
