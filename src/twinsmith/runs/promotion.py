"""What wins an experiment, put in force by a person's word or by policy, and taken back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict, Forbidden
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.people.actor import Actor
from twinsmith.core.people.approval import ApprovalRequest, Decision, Dossier, may_decide
from twinsmith.core.task import Job
from twinsmith.core.trying.arrangement import Arrangement
from twinsmith.core.trying.experiment import MEANING, Experiment
from twinsmith.core.trying.experiment_verdict import Judgement, in_words
from twinsmith.runs.book import Book
from twinsmith.runs.experiments import found, himself, of_runs, reviewed, seen
from twinsmith.runs.versions import put_in_force
from twinsmith.wiring.delivering import approvals_of
from twinsmith.wiring.experiments import experiments_of
from twinsmith.wiring.trying import forces_of

PREFIX = "experiment-"
"""How the names begin under which experiments ask for a person's word."""


async def reviewed_after(book: Book, job: Job) -> None:
    """Let the end of a run decide what it decides."""
    for name in of_runs(book, job):
        await settled(book, name)


async def settled(book: Book, name: str) -> Experiment:
    """An experiment after what its runs decide was decided and acted on; harmless to repeat."""
    experiment = await _finished(book, await reviewed(book, name))
    if experiment.state != "over" or not winner(experiment):
        return experiment
    match book.settings.values.experiments.promote:
        case "auto":
            return await _promote(himself(book), experiment, "by policy: experiments.promote")
        case "ask":
            return await _asked(book, experiment)
        case "never":
            return experiment


async def promote(book: Book, name: str, reason: str = "") -> Experiment:
    """Put the winner in force, by the word of whoever asks; without a winner that takes a reason.

    It is the same word that an approval is: whoever may not give that one may not give this one.
    """
    experiment = await _finished(book, await reviewed(book, name))
    if experiment.state == "promoted":
        raise Conflict(f"experiment {name} is promoted already")
    if experiment.state == "undone":
        raise Conflict(f"experiment {name} was promoted and taken back; begin a new one")
    if experiment.verdict == "a" and not experiment.a:
        raise Conflict(f"a won in experiment {name}, and a is how it is done already")
    if not winner(experiment) and not reason.strip():
        told = experiment.why or seen(book, name).judgement.why
        raise Conflict(f"nothing has won in experiment {name} ({told}); b all the same: --reason …")
    request = approvals_of(book.settings).get(request_of(name))
    policy = book.settings.values.approvals
    asked = request or _request(book, experiment, ())
    why_not = may_decide(asked, book.actor.signature, allowed=policy.by, own=policy.own)
    if why_not:
        raise Forbidden(f"experiment {name}: {why_not}")
    now = SystemClock().now()
    if request is not None and request.decision is None and not request.overdue(now):
        said = Decision(said="approve", by=book.actor.signature, at=now, note=reason)
        approvals_of(book.settings).decide(request.id, said)
    return await _promote(book, experiment, reason)


async def undo(book: Book, name: str, reason: str = "") -> Experiment:
    """Take a promotion back: what it took the place of holds again."""
    experiment = await _finished(book, found(book, name))
    if experiment.state != "promoted":
        raise Conflict(
            f"experiment {name} is {MEANING[experiment.state]}, so nothing of it is in force"
        )
    now = {each.key: each.value for each in forces_of(book.settings).entries()}
    other = [key for key, value in _pairs(_won(experiment)) if now.get(key) != value]
    if other:
        raise Conflict(
            f"{other[0]} was changed since experiment {name} was promoted; what holds now: "
            "twinsmith models"
        )
    why = _said(book, reason)
    undoing = replace(experiment, state="undoing", undone_by=book.actor.signature, note=why)
    return await _finished(book, _changed(book, undoing))


async def decided(book: Book, request: ApprovalRequest) -> None:
    """Act on a person's word about a winner, once it is kept."""
    said = request.decision
    if said is not None and said.said == "approve":
        experiment = found(book, request.run.removeprefix(PREFIX))
        if experiment.state == "over":
            await _promote(book, experiment, said.note)


def is_experiment(request: ApprovalRequest) -> bool:
    """Whether a request is about the winner of an experiment."""
    return request.run.startswith(PREFIX)


def request_of(name: str) -> str:
    """The name of the request for a person's word about a winner."""
    return f"{PREFIX}{name}.a1"


def winner(experiment: Experiment) -> bool:
    """Whether an arm has won that is not how things are done already."""
    return experiment.verdict in ("a", "b") and bool(_won(experiment))


async def _asked(book: Book, experiment: Experiment) -> Experiment:
    """An experiment whose winner a person was asked about; what they said by now is done."""
    table = approvals_of(book.settings)
    request = table.get(request_of(experiment.name))
    if request is None:
        judgement = seen(book, experiment.name).judgement
        request = table.put(_request(book, experiment, _evidence(judgement)))
    data: dict[str, Json] = {
        "id": request.id,
        "what": request.dossier.what,
        "why": list[Json](request.dossier.occasions),
        "until": request.until,
    }
    await himself(book).tell(SYSTEM, "approval.asked", data, key=f"approval.asked:{request.id}")
    await decided(book, request)
    return found(book, experiment.name)


async def _promote(book: Book, experiment: Experiment, reason: str) -> Experiment:
    """Put the winning arm in force."""
    now, who = SystemClock().now(), book.actor.signature
    keys = _instead_of(_won(experiment))
    promoting = replace(
        experiment,
        state="promoting",
        ended=experiment.ended or now,
        ended_by=experiment.ended_by or who,
        promoted=now,
        promoted_by=who,
        note=_said(book, reason),
        before=tuple(each for each in forces_of(book.settings).entries() if each.key in keys),
    )
    return await _finished(book, _changed(book, promoting))


async def _finished(book: Book, experiment: Experiment) -> Experiment:
    """An experiment after what was begun with it is done, by whoever began it or looks after it."""
    table, won, name = forces_of(book.settings), _won(experiment), experiment.name
    told: dict[str, Json] = {"name": name, "reason": experiment.note}
    match experiment.state:
        case "promoting":
            await _put(book, experiment)
            data = told | {
                "in_force": list[Json](won.words),
                "before": [f"{each.key}={each.value}" for each in experiment.before],
                "evidence": experiment.why,
            }
            who = experiment.promoted_by
            await _tell(book, who, f"experiment.promoted:{name}", data)
            return _kept(book, replace(experiment, state="promoted"))
        case "undoing":
            table.put(experiment.before, instead_of=_instead_of(won))
            data = told | {"taken_back": list[Json](won.words)}
            await _tell(book, experiment.undone_by, f"experiment.undone:{name}", data)
            return _kept(book, replace(experiment, state="undone"))
        case _:
            return experiment


async def _put(book: Book, experiment: Experiment) -> None:
    """Put the winner in force; where that cannot be, it is as if nobody had wanted it."""
    name = experiment.promoted_by.removeprefix("user:")
    who = book if book.actor.name == name else book.acting_as(Actor(name=name, way="worker"))
    try:
        await put_in_force(who, _won(experiment), "promoted")
    except ConfigError:
        as_before = replace(experiment, state="over", promoted="", promoted_by="", before=())
        experiments_of(book.settings).change(as_before)
        raise


async def _tell(book: Book, who: str, key: str, data: dict[str, Json]) -> None:
    """Keep in the journal what somebody did, once, whoever finished it for them."""
    kind, actor = key.partition(":")[0], book.actor
    via: dict[str, Json] = {"via": actor.where} if who == actor.signature and actor.where else {}
    await book.journal.append(Event(run=SYSTEM, kind=kind, who=who, data=data | via, key=key))


def _kept(book: Book, experiment: Experiment) -> Experiment:
    """An experiment after its last step; where two took it at once, it was taken once."""
    experiments_of(book.settings).change(experiment)
    return found(book, experiment.name)


def _changed(book: Book, experiment: Experiment) -> Experiment:
    """An experiment as it is kept after a change; Conflict where somebody was faster."""
    if not experiments_of(book.settings).change(experiment):
        raise Conflict(f"experiment {experiment.name} was changed by somebody just now; look again")
    return found(book, experiment.name)


def _request(book: Book, experiment: Experiment, evidence: Sequence[str]) -> ApprovalRequest:
    now = SystemClock().now()
    wait = timedelta(seconds=book.settings.values.approvals.wait_seconds)
    won = " ".join(_won(experiment).words)
    return ApprovalRequest(
        id=request_of(experiment.name),
        run=f"{PREFIX}{experiment.name}",
        app="",
        by=experiment.by,
        dossier=Dossier(
            what=f"put {won} in force for all runs: it won experiment {experiment.name}",
            occasions=("promotion",),
            risk="low",
            cost=f"twinsmith experiment undo {experiment.name} takes it back",
            evidence=tuple(evidence),
        ),
        asked=now,
        until=(datetime.fromisoformat(now) + wait).isoformat(timespec="microseconds"),
        # Nobody's silence changes how everybody's programs are built.
        unanswered="reject",
    )


def _evidence(judgement: Judgement) -> tuple[str, ...]:
    """What shows that an arm is better, line by line."""
    guards = (
        f"guard {each.guard}: {each.state} ({in_words(each.estimate)})" for each in judgement.guards
    )
    return (judgement.why, *guards, "intervals hold at every moment, with 95 %")


def _won(experiment: Experiment) -> Arrangement:
    """The arrangement that won; b's where a person promotes without a winner."""
    return experiment.a if experiment.verdict == "a" else experiment.b


def _pairs(arrangement: Arrangement) -> tuple[tuple[str, str], ...]:
    """The differences of an arrangement, each with its value."""
    return tuple((key, value) for key, _, value in (w.partition("=") for w in arrangement.words))


def _instead_of(won: Arrangement) -> list[str]:
    """Everything in force that a winner takes the place of: a role's models those of both sides."""
    keys = [word.partition("=")[0] for word in won.words]
    roles = [place for place, _ in won.models if "." not in place]
    return [*keys, *(f"{number}.{role}" for role in roles for number in (1, 2))]


def _said(book: Book, reason: str) -> str:
    return book.settings.masking.text(" ".join(reason.split()))[:500]
