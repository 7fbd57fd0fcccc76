"""Two ensembles on fakes when budgets run out, or when a model says nothing of use."""

from dataclasses import replace

import pytest

from tests.worlds import DOUBLE, SQUARE, TASK, TRIPLE, World, job_of, saying, with_effort
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort

FULL = Effort(candidates=16, enough=1.0, least=1.0)
LONG = job_of(effort=FULL)


class TestBudget:
    """What is left when it runs out in the middle."""

    async def test_of_tokens_the_best_so_far_is_kept_and_it_is_said(self) -> None:
        say = saying(slow=["Plan."])
        job = with_effort(LONG, votes=0)
        world = World(say)
        outcome = await world.build(replace(job, budget=Budget(tokens=4000, seconds=600)))
        assert not outcome.solved
        assert "the budget of 4000 tokens is spent" in outcome.reason
        assert 2 <= len(world.prompts("coder")) < 16
        assert outcome.reason.startswith("candidate 1 passes")
        assert world.files(job)["rejected/solution.py"] == DOUBLE
        assert outcome.spent.tokens <= 4000

    @pytest.mark.parametrize(("seconds", "left"), [(5, 1), (12, 1), (22, 0), (32, 1)])
    async def test_of_seconds_what_ran_is_kept_and_it_is_said(
        self, seconds: int, left: int
    ) -> None:
        world = World(saying(slow=["Plan."]), sandbox_seconds=10.0)
        job = replace(with_effort(LONG, votes=0), budget=Budget(tokens=60_000, seconds=seconds))
        outcome = await world.build(job)
        assert not outcome.solved
        assert outcome.reason.startswith("candidate 1 passes 3 of 3 checks")
        assert f"the budget of {seconds} seconds is spent" in outcome.reason
        assert world.files(job)["rejected/solution.py"] == DOUBLE
        found = [v.findings[0] for v in outcome.verdicts if v.findings]
        not_run = [each.evidence for each in found if each.what == "not run"]
        assert not_run == ["the budget was spent before"] * left
        # Nothing is asked any more once there is no time to try it.
        assert len(world.prompts("coder")) <= 6

    async def test_that_was_enough_for_a_solution_is_not_blamed(self) -> None:
        world = World(saying(), sandbox_seconds=10.0)
        job = replace(LONG, budget=Budget(tokens=60_000, seconds=12))
        outcome = await world.build(with_effort(job, least=0.0))
        assert (outcome.solved, outcome.winner) == (True, 1)

    async def test_is_never_overspent_wherever_it_ends(self) -> None:
        for tokens in range(500, 20_000, 1300):
            world = World(saying(coder=[SQUARE, DOUBLE, TRIPLE], slow=["P"], votes=lambda _: "A"))
            budget = Budget(tokens=tokens, seconds=600)
            outcome = await world.build(replace(LONG, budget=budget))
            assert outcome.spent.tokens == world.billed <= tokens


LOOP = "and then and then " * 5000


@pytest.mark.parametrize("said", ["", "I cannot help with that.", LOOP, "\0", "```", "def double("])
@pytest.mark.parametrize("text", [TASK, "Verdopple eine Zahl, bitte"])
async def test_nonsense_ends_in_an_honest_no_within_the_budget(said: str, text: str) -> None:
    world, job = World(lambda _: said), replace(LONG, task=replace(LONG.task, text=text))
    outcome = await world.build(job)
    assert not outcome.solved
    assert outcome.winner is None
    assert outcome.reason
    assert "budget" not in outcome.reason or outcome.spent.tokens > 50_000
    assert outcome.spent.tokens <= job.budget.tokens
    assert sorted(world.files(job)) == ["report.json", "report.md"]
    # Six answers without a program are enough to know.
    assert len(world.prompts("coder")) in (0, 6)
    assert len(world.asked) <= 12


async def test_ten_thousand_words_end_honestly_within_the_budget() -> None:
    text = " ".join([TASK, *["word"] * 10_000])
    world = World(saying(slow=["Plan."], votes=lambda _: "ANSWER: A"))
    outcome = await world.build(replace(LONG, task=replace(LONG.task, text=text)))
    assert outcome.spent.tokens <= LONG.budget.tokens
    assert not outcome.solved
    assert "tokens is spent" in outcome.reason
    generous = replace(LONG.budget, tokens=1_000_000)
    world = World(saying())
    solved = await world.build(job_of(text, budget=generous))
    assert solved.solved
