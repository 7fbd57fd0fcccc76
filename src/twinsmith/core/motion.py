"""What moves between the parts of the system, told from the journal's entries alone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from twinsmith.core import members
from twinsmith.core.anatomy import ENSEMBLES, Kind, PartName, Way, of
from twinsmith.core.events import SYSTEM, Entry
from twinsmith.core.members import Object
from twinsmith.core.progress import elapsed, several

LIT_SECONDS = 10.0
"""So long a way stays lit after something passed by it."""
LONGEST = 160
DELIVERY = (
    "image",
    "scan",
    "approval",
    "try",
    "rehearse",
    "canary",
    "soak",
    "drain",
    "switch",
    "stop",
    "remove",
)
"""How the names of stages begin that are about an app."""
AGAIN = ("refine", "again", "mend")
"""How the names of stages begin in which coders are asked to refine."""
DEEDS: Mapping[str, str] = {
    "clarification": "asks for a clarification",
    "practice": "looks up best practice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """The last thing that a part did."""

    at: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """What every part did last, and when something passed by each way."""

    last: Mapping[PartName, Deed] = field(default_factory=dict)
    passed: Mapping[Way, str] = field(default_factory=dict)


Move = tuple[PartName, str] | tuple[PartName, str, bool] | Way
"""A deed of a part, in words; whether it failed; or a way that something took."""
EnsembleOf = Callable[[str, int | None], int]
"""The ensemble that wrote a candidate of a run, or its winner; 0 where that is not known."""


def advance(motion: Motion, entry: Entry, ensemble_of: EnsembleOf) -> Motion:
    """What moved up to and with an entry, wherever its place among those of other chains is."""
    last, passed = dict(motion.last), dict(motion.passed)
    for move in moves(entry, ensemble_of):
        if isinstance(move, Way):
            passed[move] = max(passed.get(move, ""), entry.at)
            continue
        part, text = move[:2]
        failed = len(move) == 3 and bool(move[2])
        if part not in last or last[part].at <= entry.at:
            told = " ".join(text.split())[:LONGEST]
            last[part] = Deed(at=entry.at, text=told, failed=failed)
    return replace(motion, last=last, passed=passed)


def lit(motion: Motion, now: str) -> frozenset[Way]:
    """The ways that something took in the last seconds."""
    return frozenset(
        way for way, at in motion.passed.items() if -1 <= elapsed(at, now) <= LIT_SECONDS
    )


def moves(entry: Entry, ensemble_of: EnsembleOf) -> Iterator[Move]:
    """What an entry says that parts did, and by which ways something passed."""
    event = entry.event
    yield "log", event.kind
    told = _TOLD.get(event.kind)
    if told is not None:
        yield from told(event.data)
        return
    data = event.data
    match event.kind:
        case "run.started" if event.run == SYSTEM and members.text(data, "app"):
            yield from _action_begun(data, ensemble_of)
        case "candidate.executed":
            number = members.whole(data, "candidate")
            yield from _executed(data, _one_or_both(ensemble_of(event.run, number)))
        case "knowledge.recalled":
            yield from _recalled(data, about=event.key.partition("recall ")[2])
        case _ if event.kind.startswith("app."):
            done = event.kind == "app.done"
            yield "containers", _said(data, "app", "action", "reason"), not done
            if done:
                yield Way("containers", "monitor")


def _one_or_both(ensemble: int) -> tuple[int, ...]:
    return (ensemble,) if ensemble in ENSEMBLES else ENSEMBLES


def _seat(data: Object) -> PartName | None:
    """The part that asked a model; None where it is none of the drawing's."""
    role, number = members.text(data, "role"), members.whole(data, "ensemble")
    kinds: Mapping[str, Kind] = {"slow": "slow", "coder": "coder", "critic": "critic"}
    return of(kinds[role], number) if role in kinds and number in ENSEMBLES else None


def _asked(data: Object) -> Iterator[Move]:
    seat = _seat(data)
    if seat is not None:
        yield seat, DEEDS.get(members.text(data, "purpose"), "asks a model")
        yield Way(seat, "manager")
    yield "manager", f"{members.text(data, 'role')} asks"
    yield Way("manager", "models")


def _replied(data: Object) -> Iterator[Move]:
    seat, tokens = _seat(data), members.whole(data, "tokens_out") or 0
    model, seconds = members.text(data, "model"), members.number(data, "seconds")
    model = model.partition(":")[2] or model
    if seat is not None:
        yield seat, f"answered, {several(tokens, 'token')}"
        yield Way(seat, "manager")
    kept = ", from the cache" if members.flag(data, "cached") else ""
    yield "models", f"{model} in {seconds:.1f} s{kept}"
    yield "manager", f"{model} answered {members.text(data, 'role')}"
    yield "behaviour", f"{model}: {seconds:.1f} s, {several(tokens, 'token')}"
    yield Way("models", "manager")
    yield Way("log", "behaviour")


def _failed(data: Object) -> Iterator[Move]:
    why, seat = members.text(data, "reason") or "no model answers", _seat(data)
    for part in ("models", "manager", seat):
        if part is not None:
            yield part, why, True


def _planned(data: Object) -> Iterator[Move]:
    number = members.whole(data, "ensemble")
    if number in ENSEMBLES:
        yield of("slow", number), "made a plan"
        yield Way(of("slow", number), of("coder", number))
        yield Way(of("slow", number), of("critic", number))


def _divided(data: Object) -> Iterator[Move]:
    for number in ENSEMBLES:
        yield (
            of("slow", number),
            f"planned {several(len(members.items(data, 'pieces')), 'piece')}",
        )
        yield Way(of("slow", number), of("coder", number))


def _refined(data: Object) -> Iterator[Move]:
    stage = members.text(data, "stage")
    if "wrong" in data or stage.startswith(AGAIN):
        for number in ENSEMBLES:
            yield Way(of("execution", number), of("coder", number))
    elif stage.startswith(DELIVERY):
        yield "containers", stage
        yield Way("queue", "containers")


def _stage_finished(data: Object) -> Iterator[Move]:
    stage, note = members.text(data, "stage"), members.text(data, "note")
    if stage.startswith(DELIVERY):
        yield "containers", f"{stage}: {note}" if note else stage


def _written(data: Object) -> Iterator[Move]:
    number = members.whole(data, "ensemble")
    if number in ENSEMBLES:
        yield of("coder", number), f"wrote candidate {members.whole(data, 'candidate')}"
        yield Way(of("coder", number), of("execution", number))


def _executed(data: Object, ensembles: tuple[int, ...]) -> Iterator[Move]:
    found = members.member(data, "outcomes")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in found.items())
    told = counts or members.text(data, "problem") or "executed"
    for number in ensembles:
        yield of("execution", number), f"candidate {members.whole(data, 'candidate')}: {told}"
        yield Way(of("execution", number), of("critic", number))
        yield Way(of("execution", number), "log")


def _compared(data: Object) -> Iterator[Move]:
    winner = members.whole(data, "winner")
    told = members.text(data, "best") or (f"candidate {winner} leads" if winner else "judged")
    for number in ENSEMBLES:
        yield of("critic", number), told
        yield Way(of("critic", number), of("execution", number))


def _recalled(data: Object, about: str) -> Iterator[Move]:
    problem, found = members.text(data, "problem"), len(members.items(data, "pieces"))
    yield "retriever", problem or several(found, "passage"), bool(problem)
    yield "vectors", problem or several(found, "passage"), bool(problem)
    for number in ENSEMBLES:
        yield Way(of("coder" if about else "slow", number), "retriever")
    yield Way("retriever", "vectors")
    yield Way("vectors", "retriever")


def _remembered(data: Object) -> Iterator[Move]:
    problem, found = members.text(data, "problem"), len(members.items(data, "insights"))
    yield "graph", problem or f"{several(found, 'insight')} remembered", bool(problem)
    yield Way("retriever", "graph")
    yield Way("graph", "retriever")


def _shared(data: Object) -> Iterator[Move]:
    said = members.text(data, "said")
    yield "graph", said, said.startswith("not kept")
    yield Way("retriever", "graph")


def _kept(data: Object) -> Iterator[Move]:
    said = members.text(data, "said") or f"taught: {members.text(data, 'title')}"
    yield "vectors", said, said.startswith("not kept")
    yield Way("retriever", "vectors")


def _crossed(data: Object) -> Iterator[Move]:
    source, to = members.whole(data, "source"), members.whole(data, "to")
    if source in ENSEMBLES and to in ENSEMBLES and source != to:
        lines = members.texts(data, "lines")
        yield of("slow", to), f"learned of ensemble {source}: {lines[0] if lines else ''}"
        yield Way(of("execution", source), of("slow", to))


def _action_begun(data: Object, ensemble_of: EnsembleOf) -> Iterator[Move]:
    yield "queue", members.text(data, "task")
    if members.text(data, "trigger") == "heal":
        yield "healer", members.text(data, "task")
        yield Way("healer", "containers")
    built = members.text(data, "from")
    if members.text(data, "kind") == "deploy" and built:
        for number in _one_or_both(ensemble_of(built, None)):
            yield Way(of("execution", number), "containers")


def _incident(data: Object) -> Iterator[Move]:
    stage, text = members.text(data, "stage"), _said(data, "app", "text")
    if stage == "seen":
        yield "monitor", text
        yield Way("monitor", "healer")
        return
    yield "healer", text
    if stage == "escalated":
        yield Way("healer", "approvals")
    elif stage in ("restarted", "rolling back", "releasing"):
        yield Way("healer", "containers")


def _request(data: Object) -> Iterator[Move]:
    yield "approvals", members.text(data, "what") or "asks a person"
    yield Way("approvals", "override")


def _decided(data: Object) -> Iterator[Move]:
    yield "override", _said(data, "said", "app", "note")
    yield Way("override", "queue")


def _commanded(data: Object) -> Iterator[Move]:
    yield "override", _said(data, "command", "scope", "reason")
    yield Way("override", "queue")


def _revived(data: Object) -> Iterator[Move]:
    yield "monitor", f"set the proxy up again for {', '.join(members.texts(data, 'apps'))}"


def _deed(part: PartName, *names: str) -> Callable[[Object], Iterator[Move]]:
    """A deed of one part, in the words of these members."""

    def told(data: Object) -> Iterator[Move]:
        yield part, _said(data, *names)

    return told


def _said(data: Object, *names: str) -> str:
    """The texts of members, those that there are."""
    return ": ".join(filter(None, (members.text(data, name) for name in names)))


_TOLD: Mapping[str, Callable[[Object], Iterator[Move]]] = {
    "model.asked": _asked,
    "model.replied": _replied,
    "model.failed": _failed,
    "plan.made": _planned,
    "pieces.planned": _divided,
    "pieces.judged": _refined,
    "stage.started": _refined,
    "stage.finished": _stage_finished,
    "candidate.written": _written,
    "candidates.compared": _compared,
    "candidates.judged": _compared,
    "insights.crossed": _crossed,
    "insights.remembered": _remembered,
    "insights.shared": _shared,
    "program.kept": _kept,
    "knowledge.taught": _kept,
    "incident.told": _incident,
    "incident.closed": _deed("healer", "app", "note"),
    "proxy.revived": _revived,
    "approval.asked": _request,
    "approval.decided": _decided,
    "override.commanded": _commanded,
    "person.answered": _deed("approvals", "question", "answer"),
    "question.answered": _deed("approvals", "question", "answer"),
    "run.waiting": _deed("approvals", "reason"),
}
