"""The board of a run, told from its events alone: all that two ensembles wrote and found.

Journals of earlier versions tell less; what they leave out is missing on the board, nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import unified_diff

from twinsmith.core import members
from twinsmith.core.board_items import (
    Aim,
    AimState,
    Answers,
    Contender,
    Criterion,
    Crossing,
    Difference,
    Piece,
    PieceState,
    Plan,
    Share,
    aims_in,
    cells_in,
    criteria_in,
    difference_in,
    findings_in,
    scores_in,
    shares_in,
    sources_in,
)
from twinsmith.core.events import Entry
from twinsmith.core.execution import Outcome
from twinsmith.core.members import Object
from twinsmith.core.verdict import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Everything that one run has come to so far."""

    run: str
    stage: str = ""
    """The stage that is under way; empty between stages."""
    requirements: tuple[Aim, ...] = ()
    plans: tuple[Plan, ...] = ()
    pieces: tuple[Piece, ...] = ()
    """The functions of a service, in the order of its contract."""
    candidates: tuple[Contender, ...] = ()
    """All candidates, in the order of their numbers."""
    checks: tuple[Criterion, ...] = ()
    """The checks that are shown, those given first: the columns of the heat map."""
    cells: Mapping[int, Mapping[int, Outcome]] = field(default_factory=dict)
    """The outcomes by the numbers of candidate and check; what was not run is left out."""
    findings: Mapping[int, tuple[Finding, ...]] = field(default_factory=dict)
    """Reasons to refuse or doubt a candidate, by its number."""
    crossings: tuple[Crossing, ...] = ()
    leader: int | None = None
    """The best candidate so far."""
    runner_up: int | None = None
    winner: int | None = None
    """The candidate that was handed over; None before the end, and where none was good enough."""
    confidence: float = 0.0
    """The probability that the leader is right."""
    clusters: tuple[tuple[int, ...], ...] = ()
    """Groups of candidates that do the same everywhere; the leader's group comes first."""
    separating: Difference | None = None
    known: Mapping[int, Criterion] = field(default_factory=dict)
    """Every check that was ever told, by its number."""
    answers: Mapping[int, Answers] = field(default_factory=dict)
    """The answers of coders, by the numbers of the questions."""

    def candidate(self, number: int) -> Contender | None:
        """The candidate with a number; None where there is none."""
        return next((each for each in self.candidates if each.number == number), None)

    def of(self, ensemble: int) -> tuple[Contender, ...]:
        """The candidates of one ensemble."""
        return tuple(each for each in self.candidates if each.ensemble == ensemble)

    def outcome(self, candidate: int, check: int) -> str:
        """What became of a check on a candidate, such as "passed"; empty where it was not run."""
        return self.cells.get(candidate, {}).get(check, "")

    def diff(self, left: int, right: int) -> str:
        """The unified diff from the files of one candidate to those of another."""
        one, other = (
            {source.name: source.text.splitlines() for source in each.files} if each else {}
            for each in (self.candidate(left), self.candidate(right))
        )
        return "\n".join(
            line
            for name in dict.fromkeys((*one, *other))
            for line in unified_diff(
                one.get(name, []),
                other.get(name, []),
                f"{left}/{name}",
                f"{right}/{name}",
                lineterm="",
            )
        )


def advance(board: Board, entry: Entry) -> Board:
    """The board after one more event."""
    fold = _FOLDS.get(entry.event.kind)
    return fold(board, entry.event.data) if fold else board


def board_of(run: str, entries: Iterable[Entry]) -> Board:
    """The board that all events of a run amount to."""
    board = Board(run=run)
    for entry in entries:
        board = advance(board, entry)
    return board


def _stage_started(board: Board, data: Object) -> Board:
    return replace(board, stage=members.text(data, "stage"))


def _stage_finished(board: Board, data: Object) -> Board:
    return replace(board, stage="") if members.text(data, "stage") == board.stage else board


def _requirements_read(board: Board, data: Object) -> Board:
    # Some are added when there is a contract: what was read before stands as it is.
    known = {each.number: each for each in (*aims_in(data), *board.requirements)}
    return replace(board, requirements=tuple(known[number] for number in sorted(known)))


def _requirements_shown(board: Board, data: Object) -> Board:
    """The board with the state of each requirement, and of the pieces that serve them."""
    known = {each.number: each for each in board.requirements}
    for told in members.objects(data, "requirements"):
        number = members.whole(told, "number")
        if number is None:
            continue
        state: AimState = "met" if members.flag(told, "met") else "not met"
        known[number] = replace(
            known.get(number, Aim(number=number, text=members.text(told, "text"))),
            state=state,
            why=members.text(told, "why"),
            shown=members.texts(told, "shown"),
            against=members.texts(told, "against"),
            functions=members.texts(told, "functions"),
        )
    met = {name for each in known.values() if each.state == "met" for name in each.functions}
    unmet = {name for each in known.values() if each.state != "met" for name in each.functions}
    return replace(
        board,
        requirements=tuple(known[number] for number in sorted(known)),
        pieces=tuple(_stood(each, shown=each.name in met - unmet) for each in board.pieces),
    )


def _stood(piece: Piece, *, shown: bool) -> Piece:
    """The piece after it was said whether everything that it serves was shown."""
    if piece.state == "kit":
        return piece
    if shown:
        return replace(piece, state="shown", why="")
    return replace(piece, state="written") if piece.state == "shown" else piece


def _plan_made(board: Board, data: Object) -> Board:
    number, text = members.whole(data, "ensemble"), members.text(data, "text")
    if number is None or not text:
        return board
    return replace(board, plans=(*board.plans, Plan(ensemble=number, text=text, stage=board.stage)))


def _pieces_planned(board: Board, data: Object) -> Board:
    pieces = []
    for each in members.objects(data, "pieces"):
        state: PieceState = "kit" if members.flag(each, "kit") else "planned"
        pieces.append(
            Piece(
                name=members.text(each, "name"),
                route=members.text(each, "route"),
                quote=members.text(each, "quote"),
                state=state,
            )
        )
    return replace(board, pieces=tuple(pieces))


def _pieces_judged(board: Board, data: Object) -> Board:
    """The board with the pieces that have to be written anew; a name of none means all."""
    told = members.objects(data, "wrong")
    wrong = {members.text(each, "name"): members.text(each, "why") for each in told}
    names = {each.name for each in board.pieces}
    whole = next((why for name, why in wrong.items() if name not in names), None)

    def judged(piece: Piece) -> Piece:
        if piece.name in wrong:
            return replace(piece, state="wrong", why=wrong[piece.name])
        if whole is not None and piece.state == "written":
            return replace(piece, state="wrong", why=whole)
        if whole is None and piece.state == "wrong":
            return replace(piece, state="written", why="")
        return piece

    return replace(board, pieces=tuple(map(judged, board.pieces)))


def _model_replied(board: Board, data: Object) -> Board:
    nth = members.whole(data, "nth")
    if members.text(data, "role") != "coder" or nth is None:
        return board
    before, model = board.answers.get(nth, Answers()), members.text(data, "model")
    answers = Answers(
        ensemble=members.whole(data, "ensemble") or 0,
        models=tuple(dict.fromkeys(filter(None, (*before.models, model)))),
        tokens=before.tokens + (members.whole(data, "tokens") or 0),
        seconds=before.seconds + members.number(data, "seconds"),
    )
    return replace(board, answers={**board.answers, nth: answers})


def _candidate_written(board: Board, data: Object) -> Board:
    number = members.whole(data, "candidate")
    if number is None:
        return board
    known = {each.number: each for each in board.candidates}
    made = _paid(
        Contender(
            number=number,
            ensemble=members.whole(data, "ensemble") or 0,
            way=members.text(data, "way"),
            stage=board.stage,
            language=members.text(data, "language"),
            files=tuple(sources_in(data, known)),
            problem=members.text(data, "problem"),
            repairs=members.texts(data, "repairs"),
            told=members.text(data, "told"),
            of=members.wholes(data.get("of")),
            shares=shares_in(data),
        ),
        board.answers,
    )
    lines = tuple(_crossed(made, known))
    board = replace(
        board,
        candidates=_ordered({**known, number: made}),
        pieces=tuple(_written(each, made, board.pieces) for each in board.pieces),
    )
    crossings = (
        Crossing(source=source, to=made.ensemble, kind="pieces", lines=(line,), stage=board.stage)
        for source, line in lines
    )
    return replace(board, crossings=(*board.crossings, *crossings))


def _paid(made: Contender, answers: Mapping[int, Answers]) -> Contender:
    """The candidate with what the coder's answers cost that it is made of."""
    asked = dict.fromkeys(each.nth for each in made.shares if each.nth is not None)
    own = [answers[nth] for nth in asked if nth in answers]
    return replace(
        made,
        models=tuple(dict.fromkeys(model for each in own for model in each.models)),
        tokens=sum(each.tokens for each in own),
        seconds=sum(each.seconds for each in own),
    )


def _crossed(made: Contender, known: Mapping[int, Contender]) -> Iterator[tuple[int, str]]:
    """The ensembles that a candidate has parts of for the first time, each with a line on it."""
    own = [each for each in known.values() if each.ensemble == made.ensemble]
    taken = {share for each in own for share in each.shares}
    for share in made.shares:
        if share.ensemble not in (0, made.ensemble) and share not in taken:
            line = f"candidate {made.number} has {share.name} of ensemble {share.ensemble}"
            yield share.ensemble, line
    for number in made.of:
        other = known.get(number)
        if other is not None and other.ensemble not in (0, made.ensemble):
            yield other.ensemble, f"candidate {made.number} has parts of candidate {number}"


def _written(piece: Piece, made: Contender, pieces: tuple[Piece, ...]) -> Piece:
    """The piece after a candidate with a version of it; a part of no piece's name holds all."""
    names = {each.name for each in pieces}
    versions = dict.fromkeys(piece.versions)
    fresh: list[Share] = []
    for share in made.shares:
        mine = share.name == piece.name or share.name not in names
        if mine and share not in versions:
            fresh.append(share)
    if piece.state == "kit" or not fresh:
        return piece
    state: PieceState = "shown" if piece.state == "shown" else "written"
    return replace(piece, state=state, why="", versions=(*piece.versions, *fresh))


def _compared(board: Board, data: Object) -> Board:
    """The board after a comparison; in older journals it is all that tells of candidates."""
    known = {each.number: each for each in board.candidates}
    if "clusters" in data:
        clusters = tuple(map(members.wholes, members.items(data, "clusters")))
        board = replace(board, clusters=clusters)
        for number in (each for cluster in clusters for each in cluster):
            answer = board.answers.get(number - 1, Answers())
            share = Share(ensemble=answer.ensemble, nth=number - 1)
            stub = Contender(number=number, ensemble=answer.ensemble, shares=(share,))
            known.setdefault(number, _paid(stub, board.answers))
    for ensemble, said in members.numbered(data, "ensembles"):
        best = said.partition(",")[0] if isinstance(said, str) else ""
        if best.isdecimal() and len(best) <= members.LONGEST_NAME:
            known.setdefault(int(best), Contender(number=int(best), ensemble=ensemble))
    return replace(
        board,
        candidates=_ordered(known),
        leader=members.whole(data, "winner"),
        confidence=members.number(data, "confidence", board.confidence),
    )


def _judged(board: Board, data: Object) -> Board:
    """The board after a selection: checks, cells, findings and scores."""
    known = {**board.known, **{each.number: each for each in criteria_in(data)}}
    columns = members.wholes(data.get("columns"))
    verdicts = {number: members.wholes(row) for number, row in members.numbered(data, "verdicts")}
    barred, scores = members.wholes(data.get("barred")), scores_in(data)

    def weighed(each: Contender) -> Contender:
        match verdicts.get(each.number, ()):
            case (passed, total):
                each = replace(each, passed=passed, total=total)
        return replace(each, barred=each.number in barred, score=scores.get(each.number))

    return replace(
        board,
        known=known,
        checks=tuple(known[number] for number in columns if number in known),
        cells=cells_in(data),
        findings={**board.findings, **dict(findings_in(data))},
        candidates=tuple(map(weighed, board.candidates)),
        leader=members.whole(data, "winner"),
        runner_up=members.whole(data, "runner_up"),
        confidence=members.number(data, "confidence"),
        clusters=tuple(map(members.wholes, members.items(data, "clusters"))),
        separating=difference_in(data),
    )


def _insights_crossed(board: Board, data: Object) -> Board:
    source, to = members.whole(data, "source"), members.whole(data, "to")
    lines = members.texts(data, "lines")
    if source is None or to is None or not lines:
        return board
    kind = members.text(data, "kind")
    made = Crossing(source=source, to=to, kind=kind, lines=lines, stage=board.stage)
    return replace(board, crossings=(*board.crossings, made))


def _ended(board: Board, data: Object) -> Board:
    winner = members.whole(data, "winner")
    leader = board.leader if winner is None else winner
    confidence = members.number(data, "confidence", board.confidence)
    return replace(board, stage="", winner=winner, leader=leader, confidence=confidence)


def _ordered(known: Mapping[int, Contender]) -> tuple[Contender, ...]:
    return tuple(known[number] for number in sorted(known))


_FOLDS: Mapping[str, Callable[[Board, Object], Board]] = {
    "stage.started": _stage_started,
    "stage.finished": _stage_finished,
    "requirements.read": _requirements_read,
    "requirements.shown": _requirements_shown,
    "plan.made": _plan_made,
    "pieces.planned": _pieces_planned,
    "pieces.judged": _pieces_judged,
    "model.replied": _model_replied,
    "candidate.written": _candidate_written,
    "candidates.compared": _compared,
    "candidates.judged": _judged,
    "insights.crossed": _insights_crossed,
    "run.ended": _ended,
}
