"""Two ensembles on fakes, and a person who is asked what programs cannot tell."""

import pytest

from tests.worlds import DOUBLE, PLUS, TRIPLE, World, job_of, saying, with_effort
from twinsmith.core.effort import Effort
from twinsmith.core.people.question import Asked, PersonalQuestion

ZERO = "assert double(0) == 0"
MISTAKEN = (
    "Write a function double(n) that gives twice a number. "
    "For instance double(2) == 4, double(3) == 6 and double(5) == 9."
)


class Person:
    """Somebody at the desk, with an answer to everything."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def ask(self, question: PersonalQuestion) -> Asked:
        self.asked.append(question.text)
        return Asked(answer=self._answer or question.assumed)


@pytest.mark.parametrize(
    ("answer", "winner"), [("a", 1), ("B)", 2), ("", 1), ("I do not know", 1), ("2", 1)]
)
async def test_what_votes_leave_open_a_person_may_settle(answer: str, winner: int) -> None:
    world = World(saying(coder=[DOUBLE, TRIPLE], critic=[ZERO], votes=lambda _: "ANSWER: C"))
    world.desk = person = Person(answer)
    outcome = await world.build(with_effort(job_of(), enough=1.0, votes=2))
    (question,) = person.asked
    assert question.startswith("Two programs disagree on double(")
    assert outcome.winner == winner
    assert ("told by a person" in world.stages()) == (answer in ("a", "B)", "2"))


async def test_a_persons_word_is_a_hard_filter() -> None:
    world = World(saying(coder=[DOUBLE, TRIPLE], critic=[ZERO], votes=lambda _: "ANSWER: C"))
    world.desk = Person("123456")
    outcome = await world.build(with_effort(job_of(), enough=1.0, votes=2))
    assert not outcome.solved
    assert "gave" in outcome.reason


class TestAMistakenExample:
    """All programs give 10 for double(5); the task says 9."""

    @pytest.mark.parametrize(
        ("answer", "solved"),
        [("b", True), ("10", True), ("a", False), ("9", False), ("", False), ("What?", False)],
    )
    async def test_is_put_to_a_person_once(self, answer: str, solved: bool) -> None:
        world = World(saying(slow=["Plan."]))
        world.desk = person = Person(answer)
        job = with_effort(job_of(MISTAKEN, effort=Effort()), votes=0)
        outcome = await world.build(job)
        assert outcome.solved == solved
        (question,) = person.asked
        assert question.startswith("The task says that double(5) gives 9, but all 12 programs")
        assert "b) 10, as the programs do" in question
        assert ("example corrected" in world.stages()) == solved
        # Who says that the task is right has the programs mended; who says nothing, has not.
        assert ("vary 12" in world.stages()) == (answer in ("a", "9"))
        if solved:
            assert world.files(job)["solution.py"] == DOUBLE
            assert "double(5) == 10" in world.files(job)["test_solution.py"]
            said = "- double(5) gives 10, not 9 as the task says"
            assert said in world.files(job)["report.md"].splitlines()
            assert len(world.prompts("coder")) == 12
        kept = "- double(5) gives 9, as the task says"
        assert (kept in world.files(job)["report.md"]) == (answer in ("a", "9"))

    async def test_is_told_where_nobody_is_asked(self) -> None:
        world = World(saying(slow=["Plan."]))
        outcome = await world.build(with_effort(job_of(MISTAKEN, effort=Effort()), votes=0))
        assert not outcome.solved
        assert len(world.prompts("coder")) == 12
        assert "example 3 failed: double(5) gave 10, not 9;" in outcome.reason
        assert outcome.reason.endswith("if the example is mistaken, change it and build again")

    @pytest.mark.parametrize(
        "coders", [[DOUBLE, TRIPLE] * 10, [*[DOUBLE] * 11, PLUS, *[DOUBLE] * 8]]
    )
    async def test_is_not_doubted_where_programs_differ_or_one_keeps_it(
        self, coders: list[str]
    ) -> None:
        world = World(saying(slow=["Plan."], coder=coders))
        world.desk = person = Person("b")
        await world.build(with_effort(job_of(MISTAKEN, effort=Effort()), votes=0))
        assert not any(each.startswith("The task says") for each in person.asked)
