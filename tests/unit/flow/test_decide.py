import pytest

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.judging.selection import Separation
from twinsmith.core.model import Question, Reply
from twinsmith.core.probe import Call, Command
from twinsmith.core.task import Task
from twinsmith.flow.build.decide import FIRST_NTH, vote
from twinsmith.flow.build.disagreement import votable

TASK = Task(text="doubles a number", language="python", kind="function")
CALL = Call(function="double", args=("3",))
BETWEEN = Separation(call=CALL, winner="6", runner_up="9")


def test_two_values_can_be_voted_on() -> None:
    assert votable(Separation(call=CALL, winner="6", runner_up="9")) == BETWEEN
    assert votable(Separation(call=CALL, winner="'a'", runner_up="[1, None]")) is not None
    run = Command(args=("3",))
    assert votable(Separation(call=run, winner="'6'", runner_up=REFUSES)) is not None


@pytest.mark.parametrize(
    "between",
    [
        None,
        Separation(call=CALL, winner="6", runner_up="raised"),
        Separation(call=CALL, winner="timed out", runner_up="6"),
        Separation(call=CALL, winner="<object>", runner_up="6"),
        Separation(call=CALL, winner="(" * 100_000, runner_up="6"),
        Separation(call=Command(args=("3",)), winner="'6'", runner_up="crashed"),
    ],
)
def test_that_one_program_fails_needs_no_opinion(between: Separation | None) -> None:
    assert votable(between) is None


async def voted(text: str, nth: int = 0) -> tuple[str | None, Question]:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(text=text, model="m", tokens_in=1, tokens_out=1)

    answer = await vote(TASK, BETWEEN, nth=nth, ensemble=2, ask=ask)
    return answer, asked[0]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Three and three.\nANSWER: A", "6"),
        ("answer: b", "9"),
        ("**ANSWER:** A", "6"),
        ("First I thought ANSWER: A, but no. ANSWER: B", "9"),
        ("ANSWER: C", None),
        ("ANSWER: Both", None),
        ("It is 6.", None),
        ("", None),
    ],
)
async def test_the_last_answer_counts(text: str, answer: str | None) -> None:
    assert (await voted(text))[0] == answer


async def test_every_second_pair_of_votes_sees_the_two_the_other_way_round() -> None:
    first, asked = await voted("ANSWER: A", nth=0)
    assert first == "6"
    assert "One gives: 6\nThe other gives: 9\n" in asked.text
    second, turned = await voted("ANSWER: A", nth=2)
    assert second == "9"
    assert "One gives: 9\nThe other gives: 6\n" in turned.text


async def test_a_vote_is_a_question_of_its_own_to_a_critic() -> None:
    _, asked = await voted("ANSWER: A", nth=7)
    assert (asked.role, asked.nth, asked.ensemble) == ("critic", FIRST_NTH + 7, 2)
    assert "double(3)" in asked.text
    assert TASK.text in asked.text


async def test_no_vote_where_the_budget_has_none() -> None:
    async def ask(question: Question) -> Reply:
        raise BudgetExceeded(f"no tokens for {question.role}")

    assert await vote(TASK, BETWEEN, nth=0, ensemble=1, ask=ask) is None
