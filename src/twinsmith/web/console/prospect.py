"""What a new run would cost at most, how long it may take, and what would work on it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from twinsmith.core.errors import TwinsmithError
from twinsmith.core.model import ROLES
from twinsmith.core.program import KINDS
from twinsmith.core.progress import elapsed, several
from twinsmith.core.task import Job
from twinsmith.runs.book import Book
from twinsmith.runs.glance import Glance
from twinsmith.settings.values import Build
from twinsmith.wiring.models import ENSEMBLES, most_usd, offer, prices_of

LOOKED_AT = 60
"""How many of the latest runs an estimate is made from."""
FINISHED = ("solved", "not solved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The models that a role of an ensemble asks, in their order, and why these."""

    ensemble: int
    role: str
    models: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """How long runs of a kind took that are over."""

    kind: str
    seconds: float = 0.0
    """The middle of them."""
    runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What is known of a run before it begins."""

    cost: str
    usual: tuple[Usual, ...]
    asked: tuple[Asked, ...]
    problem: str
    """Why no model could answer; empty where one can."""
    host: str
    sandbox: str
    workers: int
    given: Build
    """The settings that hold where nobody says anything else."""


def prospect(book: Book, glance: Glance) -> Prospect:
    """What is known of a run that would begin now."""
    values = book.settings.values
    asked, cost, problem = _models(book)
    return Prospect(
        cost=cost,
        usual=usual(_finished(book, glance)),
        asked=asked,
        problem=problem,
        host=values.hosting.host,
        sandbox=values.sandbox.backend,
        workers=len(book.workers(serving=True)),
        given=values.build,
    )


def usual(finished: Iterable[tuple[str, float]]) -> tuple[Usual, ...]:
    """How long runs took that are over, for each kind of program."""
    by_kind: dict[str, list[float]] = {}
    for kind, seconds in finished:
        by_kind.setdefault(kind, []).append(seconds)
    return tuple(
        Usual(kind=kind, seconds=median(by_kind[kind]), runs=len(by_kind[kind]))
        if kind in by_kind
        else Usual(kind=kind)
        for kind in KINDS
    )


def cost_in_words(prices: Mapping[str, float | None], tokens: int, usd: float) -> str:
    """The most that a run costs, from the most that its tokens cost with each model."""
    if not prices:
        return "no money: every model that is asked is local"
    if usd:
        return f"at most {usd:.2f} USD: it ends when the budget is spent"
    unknown = [name for name, most in prices.items() if most is None]
    known = {name: most for name, most in prices.items() if most is not None}
    told = []
    if known:
        dearest = max(known, key=lambda name: known[name])
        told.append(
            f"at most about {known[dearest]:.2f} USD: all {several(tokens, 'token')} at the "
            f"highest price, of {dearest}"
        )
    if unknown:
        told.append(f"nobody knows the price of {', '.join(unknown)}: give a budget in USD")
    return "; ".join(told)


def _models(book: Book) -> tuple[tuple[Asked, ...], str, str]:
    """Who is asked, what it costs at most, and why nobody can be."""
    values = book.settings.values
    if values.models.script:
        return (), "no money: a script answers, and no model", ""
    try:
        offered = offer(book.settings)
    except TwinsmithError as error:
        return (), "", str(error)
    asked = tuple(
        Asked(
            ensemble=number,
            role=role,
            models=tuple(each.name for each in offered.routes[number, role].endpoints),
            why=offered.routes[number, role].why,
        )
        for number in ENSEMBLES
        for role in ROLES
    )
    nobody = next((each.why for each in asked if not each.models), "")
    tokens, usd = values.build.budget_tokens, values.build.budget_usd
    most = most_usd(offered, tokens, prices_of(book.settings))
    return asked, cost_in_words(most, tokens, usd), nobody


def _finished(book: Book, glance: Glance) -> list[tuple[str, float]]:
    """The kinds of the latest builds that are over, and the seconds each took."""
    found: list[tuple[str, float]] = []
    for each in glance.progresses(book.journal.runs()[-LOOKED_AT:]):
        if each.state not in FINISHED:
            continue
        try:
            given = book.given(each.run)
        except TwinsmithError:
            continue
        if isinstance(given, Job):
            found.append((given.task.kind, elapsed(each.started, each.updated)))
    return found
