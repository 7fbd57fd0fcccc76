"""Requirements in, a contract out: both slow thinkers plan, and what most agree on is taken."""

from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Question
from twinsmith.core.planning.completing import NOT_FOUND, joined
from twinsmith.core.planning.contract import Contract, Field, Operation
from twinsmith.core.planning.contract_examples import LOGIN_RULE, example_for
from twinsmith.core.planning.contract_reply import named_paths, read_contract
from twinsmith.core.planning.from_examples import widened
from twinsmith.core.planning.requirement import Requirement, Requirements, same
from twinsmith.core.planning.serving import unserved
from twinsmith.flow.build.asking import answered
from twinsmith.flow.build.chronicle import Chronicle
from twinsmith.flow.recorder import Recorder
from twinsmith.prompts import render

HEATS = {1: (0.0, 0.5), 2: (0.3, 0.7)}
MOST_ADDED = 2


async def contracted(
    task: str, wanted: Requirements, ensembles: tuple[int, ...], recorder: Recorder
) -> Contract:
    """The contract of a service; BadReply where neither slow thinker has one."""
    # One by one a local model answers the same for the same seed.
    heats = [(e, nth, heat) for e in ensembles for nth, heat in enumerate(HEATS[e])]
    planned = await recorder.in_turn([_planned(task, wanted, *each, recorder) for each in heats])
    plans = [plan for plan in planned if plan is not None]
    known = [(e, plan.text()) for (e, *_), plan in zip(heats, planned, strict=True) if plan]
    await Chronicle(recorder).planned(known)
    if not plans:
        raise BadReply("no slow thinker gave a plan of the service that can be used")
    best = chosen(plans, wanted)
    for nth, lacking in enumerate(_missing(best, wanted)[:MOST_ADDED]):
        best = await _added(task, best, lacking.quote, nth, wanted, recorder)
    others = [plan for plan in plans if plan is not best]
    operations = tuple(_sure(each, task, wanted, others) for each in best.operations)
    best = replace(best, operations=operations)
    between = difference(best, others)
    if between is None:
        return best
    own, other = between
    question = f"Does {own.method} {own.path} take {_taken(own)}, or {_taken(other)}?"
    choices = (_taken(own), _taken(other))
    answer = await recorder.ask_person(question, choices[0], choices)
    return taking(best, own, other.takes) if answer == choices[1] else best


def difference(best: Contract, others: Sequence[Contract]) -> tuple[Operation, Operation] | None:
    """The first route whose fields two plans disagree on, as each of them has it."""
    for other in others:
        routes = {each.shape: each for each in other.pieces}
        for each in best.pieces:
            theirs = routes.get(each.shape)
            if theirs and {f.name for f in theirs.takes} != {f.name for f in each.takes}:
                return each, theirs
    return None


def taking(plan: Contract, route: Operation, fields: tuple[Field, ...]) -> Contract:
    """A plan in which one route takes other fields; what it keeps has a place for them."""
    operations = (replace(e, takes=fields) if e is route else e for e in plan.operations)
    whole = replace(plan, operations=tuple(operations))
    tables = tuple(widened(table, whole.operations) for table in whole.tables)
    return replace(whole, tables=tables)


def _taken(operation: Operation) -> str:
    return ", ".join(field.name for field in operation.takes) or "nothing"


def chosen(plans: Sequence[Contract], wanted: Requirements) -> Contract:
    """The plan that is most like the others, among those that serve most requirements."""
    parts = [_parts(plan) for plan in plans]

    def likeness(nth: int) -> float:
        own = parts[nth]
        return sum(len(own & other) / len(own | other) for other in parts)

    order = range(len(plans))
    return plans[min(order, key=lambda nth: (len(_missing(plans[nth], wanted)), -likeness(nth)))]


def _parts(plan: Contract) -> frozenset[tuple[str, ...]]:
    """The routes of a plan and the fields that each takes, to compare plans by."""
    routes = {each.shape for each in plan.operations}
    taken = {(*each.shape, field.name) for each in plan.pieces for field in each.takes}
    return frozenset(routes | taken)


def _missing(plan: Contract, wanted: Requirements) -> list[Requirement]:
    return list(unserved(wanted.each, plan.operations))


async def _planned(
    task: str, wanted: Requirements, ensemble: int, nth: int, heat: float, recorder: Recorder
) -> Contract | None:
    login = bool(wanted.login)
    other, example = example_for(login=login)
    question = Question(
        role="slow",
        nth=200 + ensemble + 10 * nth,
        text=render(
            "contract",
            task=task,
            other=other,
            example=example,
            who=LOGIN_RULE if login else "",
            requirements="\n".join(f"{each.number}. {each.quote}" for each in wanted.each),
        ),
        ensemble=ensemble,
        purpose="clarification",
        temperature=heat,
        tokens=1000,
        template="contract",
    )
    try:
        return await answered(
            question, lambda text: read_contract(text, task, login=wanted.login), recorder.ask
        )
    except BadReply:
        return None


async def _added(
    task: str, plan: Contract, lacking: str, nth: int, wanted: Requirements, recorder: Recorder
) -> Contract:
    """The plan with routes for a requirement that it lacks; unchanged where no model gives any."""
    login = bool(wanted.login)
    question = Question(
        role="slow",
        nth=230 + nth,
        text=render(
            "contract_more",
            task=task,
            tables=", ".join(table.text() for table in plan.tables) or "none",
            routes=plan.text(),
            missing=lacking,
            example=example_for(login=login)[1],
        ),
        purpose="clarification",
        temperature=0.2,
        tokens=700,
        template="contract_more",
    )
    try:
        more = await answered(
            question, lambda text: read_contract(text, "", login=wanted.login), recorder.ask
        )
    except BadReply:
        return plan
    named = [replace(each, quote=lacking) for each in more.pieces]
    added = replace(more, operations=tuple(named))
    return joined(plan, added, login=wanted.login, named=named_paths(task))


def _sure(
    operation: Operation, task: str, wanted: Requirements, others: Sequence[Contract]
) -> Operation:
    """The operation without refusals that only one slow thinker came up with."""
    theirs = {
        (each.shape, refusal.status)
        for other in others
        for each in other.operations
        for refusal in each.refuses
    }
    kept = tuple(
        refusal
        for refusal in operation.refuses
        if operation.part
        or str(refusal.status) in task
        or (refusal.status == NOT_FOUND and operation.parameters)
        or (operation.shape, refusal.status) in theirs
        or any(same(refusal.when, each.quote) for each in wanted.each)
    )
    return replace(operation, refuses=kept)
