"""Two ensembles on fakes: when they stop, what they are asked, and how they end."""

import asyncio
from dataclasses import replace

import pytest

from tests.worlds import (
    BROKEN,
    DOUBLE,
    PLUS,
    POSITIVE,
    SQUARE,
    TASK,
    TRIPLE,
    Say,
    World,
    job_of,
    saying,
    voting_for,
    with_effort,
)
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.model import Prompt
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.program import Kind
from twinsmith.core.task import Job
from twinsmith.core.verdict import Finding

ZERO = "assert double(0) == 0"
EXAMPLES = f"{TASK}\n>>> double(4)\n8\n>>> double(-3)\n-6\n"
FULL = Effort(candidates=16, enough=1.0, least=1.0)
LONG = job_of(effort=FULL)
ROUNDS = ["explore", "again", "widen", "deepen", "rethink"]


def rounds_of(world: World) -> list[str]:
    return [stage for stage in world.stages() if stage in ROUNDS]


async def confidence(say: Say) -> float:
    return (await World(say).build(job_of())).confidence


async def threshold() -> float:
    """Between two candidates that agree and two that do not."""
    agree, differ = await confidence(saying()), await confidence(saying(coder=[DOUBLE, TRIPLE]))
    assert differ < agree
    return (agree + differ) / 2


async def test_candidates_that_agree_end_the_search_after_one_round() -> None:
    job = with_effort(job_of(effort=Effort()), enough=await threshold())
    world = World(saying())
    outcome = await world.build(job)
    assert outcome.solved
    assert rounds_of(world) == ["explore"]
    assert [(p.role, p.ensemble) for p in world.asked] == [
        ("coder", 1),
        ("coder", 2),
        ("critic", 1),
    ]


async def test_where_the_task_has_examples_two_that_agree_need_no_critic() -> None:
    world = World(saying(critic=[]))
    outcome = await world.build(job_of(EXAMPLES, effort=Effort()))
    assert (outcome.solved, outcome.confidence > 0.9) == (True, True)
    assert rounds_of(world) == ["explore"]
    assert [prompt.role for prompt in world.asked] == ["coder", "coder"]


async def test_inputs_are_made_up_from_examples_and_once_more_from_what_critics_thought_of() -> (
    None
):
    tried: list[int] = []
    for critic in ("Hm.", "assert double(1000) == 2000"):
        world = World(saying(slow=["Plan."], coder=[DOUBLE, *[TRIPLE] * 20], critic=[critic]))
        effort = replace(FULL, inputs=20, votes=0, variants=0)
        await world.build(job_of(EXAMPLES, effort=effort))
        calls = world.tried[DOUBLE]
        assert len(calls) == len(set(calls))
        tried.append(len(calls))
    silent, heard = tried
    assert silent == 2 + 20
    assert silent + 1 + 5 < heard <= silent + 1 + 20


async def test_where_nobody_thinks_of_an_input_they_are_made_of_the_declared_type() -> None:
    typed = 'Complete this:\n\ndef double(n: int) -> int:\n    """Twice a number."""\n'
    world = World(saying(slow=["Plan."], coder=[TRIPLE, *[DOUBLE] * 20], critic=["Hm."]))
    outcome = await world.build(with_effort(job_of(typed, effort=Effort()), inputs=20, votes=0))
    tried = {call.args[0] for call in world.tried[DOUBLE]}
    assert len(tried) >= 20
    assert all(each.isdecimal() for each in tried)
    # Most of them are alike, but nobody ever said what is right: no reason to vouch for it.
    assert not outcome.solved
    assert outcome.reason.startswith("candidate 2 passes 0 of 0 checks")
    assert "15 of 16 candidates agree on everything that was tried, but nothing could be" in (
        outcome.reason
    )
    assert world.files(job_of())["rejected/solution.py"] == DOUBLE


async def test_candidates_that_differ_are_joined_by_more_and_voted_on() -> None:
    job = with_effort(job_of(effort=Effort()), enough=1.0)
    coders = [DOUBLE, TRIPLE, SQUARE, POSITIVE, DOUBLE, TRIPLE]
    world = World(saying(slow=["Plan."], coder=coders, critic=[ZERO], votes=lambda _: "ANSWER: C"))
    await world.build(job)
    decided = world.stages().index("decide after deepen")
    assert world.stages().index("deepen") < decided < world.stages().index("rethink")
    votes = [p for p in world.prompts("critic") if p.nth >= 100]
    assert [p.ensemble for p in votes[:4]] == [1, 2, 1, 2]
    # Each ensemble sees the two both ways.
    assert votes[0].text == votes[1].text != votes[2].text == votes[3].text
    # Both critics write checks as well, where guesses leave doubt.
    written = [(p.nth, p.ensemble) for p in world.prompts("critic") if p.nth < 100]
    later = [(12, 1), (13, 2), (16, 1), (17, 2)]
    assert written == [(0, 1), (8, 1), (9, 2), *later]


def counting(times: int) -> Say:
    """A critic who works it out: the call stands in the question."""

    def say(prompt: Prompt) -> str:
        argument = int(prompt.text.split("double(")[2].split(")")[0])
        return voting_for(str(argument * times))(prompt)

    return say


@pytest.mark.parametrize(("times", "winner"), [(2, 1), (3, 2)])
async def test_votes_shift_the_winner(times: int, winner: int) -> None:
    world = World(saying(coder=[DOUBLE, TRIPLE], critic=[ZERO], votes=counting(times)))
    outcome = await world.build(with_effort(job_of(), enough=1.0, votes=4))
    assert outcome.winner == winner


async def test_later_rounds_that_leave_a_difference_are_voted_on_anew() -> None:
    world = World(saying(slow=["Plan."], coder=[DOUBLE, TRIPLE], votes=lambda _: "ANSWER: C"))
    await world.build(LONG)
    decisions = [stage for stage in world.stages() if stage.startswith("decide")]
    assert decisions == [f"decide after {each}" for each in ROUNDS[3:]]
    votes = [prompt.key for prompt in world.prompts("critic") if prompt.nth >= 100]
    assert len(set(votes)) == len(votes) == 4 * len(decisions)


async def test_neither_is_no_vote() -> None:
    job = with_effort(job_of(), enough=1.0, votes=2)
    silent = World(saying(coder=[DOUBLE, TRIPLE], critic=[ZERO], votes=lambda _: "Hm."))
    outcome = await silent.build(job)
    notes = {stage.name: stage.note for stage in silent.progress.stages}
    assert notes["decide after explore"].endswith(": neither, neither")
    assert outcome.verdicts[0].total == 1


@pytest.mark.parametrize("wrong", [SQUARE, BROKEN])
async def test_what_fails_an_example_is_mended_at_most_twice(wrong: str) -> None:
    world = World(saying(slow=["Think."], coder=[wrong]))
    job = replace(LONG, task=replace(LONG.task, text=EXAMPLES))
    outcome = await world.build(job)
    assert [s for s in world.stages() if s.startswith("refine")] == ["refine 1", "refine 2"]
    assert not outcome.solved
    assert len(world.prompts("coder")) <= 16 + 2 * 2
    mends = [p.text for p in world.prompts("coder") if "It fails this:" in p.text]
    assert all("double(4) has to give 8, and" in text for text in mends)
    assert len(mends) == 4


async def test_a_mended_candidate_wins_and_ends_the_search() -> None:
    world = World(saying(coder=[SQUARE, POSITIVE, DOUBLE]))
    job = with_effort(job_of(EXAMPLES), refinements=2, variants=0, enough=0.0)
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (True, 3)
    assert world.stages().count("refine 1") == 1
    assert "refine 2" not in world.stages()
    assert "- 3 (ensemble 1, refined): **chosen**" in world.files(job)["report.md"]
    told = [p.text for p in world.prompts("coder")[2:]]
    assert ["and gives 16" in told[0], "and gives 6" in told[1]] == [True, True]


@pytest.mark.parametrize("exchange", [True, False])
async def test_a_slow_thinker_hears_what_the_other_ensemble_saw_if_they_exchange(
    exchange: bool,
) -> None:
    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            return f"Plan {prompt.nth}."
        return ZERO if prompt.role == "critic" else {1: SQUARE, 2: POSITIVE}[prompt.ensemble]

    effort = replace(FULL, exchange=exchange, refinements=0, votes=0)
    world = World(say)
    await world.build(job_of(EXAMPLES, effort=effort))
    own, others = "- double(4) gave 16; right is 8", "- double(-3) gave 6; right is -6"
    first, second = world.prompts("slow")
    assert (first.ensemble, first.nth, second.ensemble, second.nth) == (1, 1, 2, 2)
    assert own in first.text
    assert (others in first.text) == exchange
    assert others in second.text
    assert (own in second.text) == exchange
    for ensemble in (1, 2):
        planned = world.prompts("coder", ensemble)[-1].text
        assert f"Plan {ensemble}." in planned
        assert f"Plan {3 - ensemble}." not in planned


async def test_where_they_do_not_exchange_a_difference_between_them_stays_unsaid() -> None:
    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            return "Plan."
        return ZERO if prompt.role == "critic" else {1: DOUBLE, 2: TRIPLE}[prompt.ensemble]

    apart, together = World(say), World(say)
    effort = replace(FULL, votes=0)
    await apart.build(job_of(effort=replace(effort, exchange=False)))
    await together.build(job_of(effort=effort))
    assert apart.prompts("slow") == []
    assert [p.ensemble for p in together.prompts("slow")] == [1, 2]
    assert "one program gives" in together.prompts("slow")[0].text


async def test_one_ensemble_can_work_alone() -> None:
    world = World(saying(coder=[DOUBLE, TRIPLE], slow=["Plan."], votes=lambda _: "ANSWER: C"))
    await world.build(with_effort(LONG, ensembles=1))
    assert {prompt.ensemble for prompt in world.asked} == {1}
    assert rounds_of(world) == ROUNDS


async def test_no_more_candidates_are_written_than_was_said() -> None:
    for most in (1, 2, 3, 7):
        world = World(saying(coder=[DOUBLE, TRIPLE], slow=["Plan."], votes=lambda _: "C"))
        await world.build(with_effort(LONG, candidates=most))
        assert len(world.prompts("coder")) == most


async def test_examples_that_contradict_each_other_are_told_before_anything_is_written() -> None:
    world = World(saying())
    outcome = await world.build(job_of(f"{TASK}\n>>> double(2)\n4\n>>> double(2)\n5\n"))
    assert not outcome.solved
    told = "the task's examples contradict each other: double(2) gives 4 and 5; mend it"
    assert outcome.reason == told
    assert world.asked == []


async def test_a_task_in_german_is_built() -> None:
    german = "Schreibe eine Funktion, die eine Zahl verdoppelt: aus 4 wird 8"
    profile = '{"entry": "double", "signature": "", "question": "", "assumed": ""}'
    world = World(saying(slow=[profile]))
    outcome = await world.build(job_of(german))
    assert outcome.solved
    assert all(german in prompt.text for prompt in world.asked)


def _everything(prompt: Prompt) -> str:
    """A run in which every stage has something to do."""
    if prompt.role == "slow":
        return "Plan."
    if prompt.role == "critic":
        return "ANSWER: A" if prompt.nth >= 100 else "assert double(1) == 2\nassert double(5) == 10"
    wrong = [SQUARE, SQUARE, BROKEN, SQUARE, BROKEN, SQUARE]
    return [*wrong, *wrong, PLUS, DOUBLE, DOUBLE, TRIPLE, PLUS, DOUBLE][prompt.nth % 18]


BUSY: Job = job_of(f"{TASK}\n>>> double(4)\n8\n", effort=replace(FULL, least=0.0))


async def finished(world: World) -> RunOutcome:
    try:
        return await world.build(BUSY)
    finally:
        await asyncio.sleep(0)


async def test_a_run_that_is_resumed_after_any_question_repeats_nothing() -> None:
    undisturbed = World(_everything)
    outcome = await finished(undisturbed)
    assert outcome.solved
    stages = undisturbed.stages()
    assert {"explore", "vary 12", "refine 1", "widen", "deepen", "rethink"} <= set(stages)
    assert any(stage.startswith("decide") for stage in stages)
    keys = [prompt.key for prompt in undisturbed.asked]
    assert len(set(keys)) == len(keys)
    for key in keys:
        world = World(_everything)
        world.down = {key}
        with pytest.raises(ModelUnavailable):
            await finished(world)
        world.down = set()
        again = await finished(world)
        assert replace(again, spent=outcome.spent) == outcome
        assert again.spent.tokens == outcome.spent.tokens
        assert sorted(world.answered) == sorted(keys)
        assert sorted(world.steps()) == sorted(undisturbed.steps())
        assert world.stages() == stages
        assert world.runs == undisturbed.runs


async def test_a_leader_that_a_reviewer_objects_to_is_passed_over() -> None:
    bad = Finding(what="ruff S105", where="line 2", evidence="a password", severity="blocking")
    world, job = World(saying(coder=[DOUBLE, POSITIVE])), job_of()
    world.findings = {DOUBLE: (bad,)}
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (True, 2)
    assert world.steps().count("inspect 1") == 1
    both = World(saying())
    both.findings = {DOUBLE: (bad,)}
    outcome = await both.build(job)
    assert not outcome.solved
    assert "a password" in outcome.reason
    assert outcome.reason == (
        "every candidate that runs was refused: ruff S105, line 2: a password"
    )


@pytest.mark.parametrize(
    ("kind", "notes", "noting"),
    [("function", True, [10, 11, 12]), ("function", False, []), ("library", True, [])],
)
async def test_the_second_coder_notes_the_rules_of_a_function_where_guesses_disagree(
    kind: Kind, notes: bool, noting: list[int]
) -> None:
    outline = '{"parts": [{"name": "double", "signature": "def double(n):", "does": "twice n"}]}'
    world = World(saying(slow=[outline], votes=voting_for("0")))
    job = with_effort(LONG, notes=notes)
    await world.build(replace(job, task=replace(job.task, kind=kind)))
    assert "deepen" in rounds_of(world)
    restating = [p for p in world.asked if "comments that restate each rule" in p.text]
    assert [p.nth + 1 for p in restating] == noting
    assert {p.ensemble for p in restating} <= {2}
    assert {p.role for p in restating} <= {"coder"}
