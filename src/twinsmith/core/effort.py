"""How hard a task is worked on, and in which rounds."""

from dataclasses import dataclass, replace
from typing import Literal

ENSEMBLES = (1, 2)
Frame = Literal["auto", "on", "off"]
FRAMED = ("python",)
"""The languages that there is a frame for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The most work that is put into a task, and when it is enough."""

    candidates: int = 16
    enough: float = 0.9
    """Work stops when the best candidate is right with this probability."""
    least: float = 0.65
    """A result that is right with less than this probability is not handed out as solved."""
    votes: int = 4
    """The number of votes on an input on which the two leading candidates differ."""
    variants: int = 400
    """The number of small edits, free of tokens, tried on candidates that miss an example."""
    refinements: int = 2
    mending: bool = True
    """Whether a model is asked to mend candidates where small edits did not help."""
    ensembles: int = 2
    inputs: int = 40
    """The number of made-up calls, free of tokens, that show where candidates differ."""
    exchange: bool = True
    """Whether one ensemble learns what the other saw."""
    notes: bool = True
    """Whether coders restate a function's rules in comments where first guesses leave doubt."""
    retrieval: bool = True
    frame: Frame = "auto"
    """Whether services are written around a frame; "auto": where their language has one."""
    practice: bool = False
    """Whether coders of sensitive tasks are told the rules that experienced people keep to."""

    def frames(self, language: str) -> bool:
        """Whether a service in this language is written around a frame."""
        return self.frame != "off" and language in FRAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The work of every ensemble before candidates are compared again."""

    name: str
    temperatures: dict[int, tuple[float, ...]]
    """By ensemble, the temperature of each candidate that it writes."""
    critics: tuple[int, ...] = ()
    """The ensembles whose critics propose checks."""
    noted: tuple[int, ...] = ()
    """The ensembles that restate the task in comments before they write; it costs more."""
    planned: bool = False
    late: bool = False
    """Whether candidates are mended and voted on: four votes cost as much as seven programs and a
    refinement as much as two or three, so that programs come first."""


def rounds(effort: Effort, *, given: bool = False, noted: bool = False) -> tuple[Round, ...]:
    """The rounds of a build: two guesses first; critics, plans and votes only where doubt is left.

    Where the task gives examples, two that pass them and agree on every made-up input need no
    critic to be believed: the first two rounds do without.
    """
    ensembles = ENSEMBLES[: effort.ensembles]
    first, second, third, direct, last = _sizes(effort.candidates)
    explore = Round(
        name="explore",
        temperatures=_shared(first, ensembles, (0.0, 0.8)),
        critics=() if given else ensembles[:1],
    )
    again = Round(name="again", temperatures=_shared(second, ensembles, (0.8,)))
    widen = Round(
        name="widen",
        temperatures=_shared(third, ensembles, (0.8,)),
        critics=ensembles,
    )
    deepen = Round(
        name="deepen",
        temperatures=_shared(direct, ensembles, (0.8,)),
        critics=ensembles,
        noted=ensembles[-1:] if noted else (),
        late=True,
    )
    rethink = Round(
        name="rethink",
        temperatures=_shared(last, ensembles, (0.8,)),
        critics=ensembles,
        planned=True,
        late=True,
    )
    every = (explore, again, widen, deepen, rethink)
    held = [each for each in every if any(each.temperatures.values())]
    # Where there are few candidates there are few rounds: the last one is voted on all the same.
    return (*held[:-1], replace(held[-1], late=True))


def _sizes(candidates: int) -> tuple[int, int, int, int, int]:
    """The number of candidates in each of the five rounds."""
    first, second, third = (max(0, min(candidates - done, 2)) for done in (0, 2, 4))
    rest = candidates - first - second - third
    direct = 2 * ((3 * rest + 5) // 10)
    return first, second, third, direct, rest - direct


def _shared(
    count: int, ensembles: tuple[int, ...], temperatures: tuple[float, ...]
) -> dict[int, tuple[float, ...]]:
    """Candidates dealt to the ensembles in turn; the last temperature serves all that follow."""
    shared: dict[int, tuple[float, ...]] = dict.fromkeys(ensembles, ())
    for number in range(count):
        heat = temperatures[min(number, len(temperatures) - 1)]
        shared[ensembles[number % len(ensembles)]] += (heat,)
    return shared
