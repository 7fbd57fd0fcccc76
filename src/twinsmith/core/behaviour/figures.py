"""The behaviour of models as figures: what calls took, and what became of what was answered.

Three truths about a program are kept apart. By outcome: it is the accepted one, or did the same as
that everywhere. By tests: it passed all checks that a person, the task or its contract gave. In
operation: it was released, and had no trouble. A program may be right by one and wrong by another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError

Dimension = Literal[
    "model",
    "version",
    "role",
    "ensemble",
    "template",
    "template_version",
    "language",
    "kind",
    "settings",
    "run",
    "day",
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""Everything that calls can be told apart by."""
View = Literal["models", "roles", "prompts", "runs"]
VIEWS: tuple[View, ...] = get_args(View)
BY: Mapping[View, tuple[Dimension, ...]] = {
    "models": ("model", "version", "role"),
    "roles": ("role", "ensemble"),
    "prompts": ("template", "template_version", "role"),
    "runs": ("kind", "language"),
}
"""What each view tells apart, unless it is told otherwise."""
COMPARED: Mapping[View, tuple[Dimension, ...]] = {
    "models": ("model", "version"),
    "roles": ("role", "ensemble"),
    "prompts": ("template", "template_version"),
    "runs": ("kind", "language", "settings", "run"),
}
"""What two things may be that are held against each other in a view."""
REFUSED = "refused: "
"""What the reason of a try begins with whose provider did not want to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How long something took; None where nobody knows."""

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Calls of models. What the cache answered was paid before: it is counted, and took nothing."""

    answered: int = 0
    cached: int = 0
    unanswered: int = 0
    """Calls that no model answered."""
    tries: int = 0
    """Tries in vain before a model answered, each counted for the model that was tried."""
    refused: int = 0
    """Tries among them that the provider refused, a content filter for example."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Calls whose price nobody knew: they are missing in `usd`."""
    seconds: float = 0.0
    whole: Spread = Spread()
    """Seconds of a call."""
    first: Spread = Spread()
    """Seconds to the first token, where they were measured."""
    read: int = 0
    """Answers that had to have a form."""
    unusable: int = 0
    """Answers among them that did not have it."""
    repaired: int = 0
    """Answers among them in which something had to be mended."""
    cut: int = 0
    """Answers that ended because they could be no longer."""

    @property
    def asked(self) -> int:
        """The calls that the model itself answered."""
        return self.answered - self.cached

    @property
    def pace(self) -> float | None:
        """Seconds of a call."""
        return self.seconds / self.asked if self.asked else None

    @property
    def length(self) -> float | None:
        """Tokens of an answer."""
        return self.tokens_out / self.asked if self.asked else None

    @property
    def price(self) -> float | None:
        """The cost of a call; None where there was none, or nobody knows what one costs."""
        return self.usd / self.asked if self.asked and not self.unpriced else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Candidates, by the answers that they are made of."""

    written: int = 0
    broken: int = 0
    """Those that could not be run."""
    won: int = 0
    ended: int = 0
    """Those whose run ended, solved or not: only these can be right by outcome."""
    accepted: int = 0
    """Those of them that are the accepted program, or did the same as it everywhere."""
    tested: int = 0
    """Those that were held against given checks."""
    right: int = 0
    """Those of them that passed all."""
    released: int = 0
    """Those that were handed over and serve, or served, as an app."""
    held: int = 0
    """Those of them without an incident or a rollback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Checks that critics proposed, held against the program that was accepted in the end."""

    judged: int = 0
    agreed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The runs that calls took part in."""

    runs: int = 0
    """Those that ended, solved or not."""
    solved: int = 0
    told: int = 0
    """Those in which an ensemble was told what only the other one had seen."""
    changed: int = 0
    """Those of them whose result that changed; the decision record says what counts as that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Everything about one group of calls."""

    key: tuple[str, ...]
    """The values of what groups are told apart by, in that order."""
    calls: Calls = Calls()
    work: Work = Work()
    checks: Checks = Checks()
    part: Part = Part()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read of the journal."""

    lines: int = 0
    torn: int = 0
    """Lines that are no entry of a journal: they were skipped."""
    altered: int = 0
    """Lines whose hash does not fit what they hold: they were skipped, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody wants to know: a view, what is told apart in it, and from which day on."""

    view: View = "models"
    by: tuple[Dimension, ...] = ()
    """Empty: what the view tells apart by itself."""
    since: str = ""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """What groups are told apart by."""
        return self.by or BY[self.view]


def view_in(text: str) -> View:
    """The view of that name; ConfigError where there is none."""
    found = next((each for each in VIEWS if each == text), None)
    if found is None:
        raise ConfigError(f"{text!r} cannot be analysed; one of {', '.join(VIEWS)}")
    return found


def dimensions_in(text: str) -> tuple[Dimension, ...]:
    """What groups are told apart by, as a person lists it; ConfigError where nothing is called so.

    An empty text is an empty list.
    """
    names = [each for each in text.replace(" ", "").split(",") if each]
    found = tuple(dict.fromkeys(each for each in DIMENSIONS for name in names if each == name))
    unknown = [name for name in names if name not in DIMENSIONS]
    if unknown:
        known = ", ".join(DIMENSIONS)
        raise ConfigError(f"calls cannot be told apart by {unknown[0]!r}; by some of {known}")
    return tuple(sorted(found, key=names.index))
