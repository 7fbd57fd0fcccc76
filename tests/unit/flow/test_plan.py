from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.model import Question, Reply
from twinsmith.core.task import Task
from twinsmith.flow.build.plan import LONGEST_PLAN, plan

TASK = Task(text="double a number", language="python", kind="function")
SEEN = "- double(2) gave 3; right is 4"


async def test_the_slow_thinker_hears_the_task_and_what_was_seen() -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(text="  Add it to itself.\n", model="m", tokens_in=1, tokens_out=1)

    assert await plan(TASK, SEEN, nth=2, ensemble=2, ask=ask) == "Add it to itself."
    (question,) = asked
    assert (question.role, question.nth, question.ensemble) == ("slow", 2, 2)
    assert TASK.text in question.text
    assert SEEN in question.text


async def test_a_plan_is_bounded() -> None:
    async def ask(question: Question) -> Reply:
        return Reply(text="la " * 10_000, model="m", tokens_in=1, tokens_out=question.tokens)

    assert len(await plan(TASK, SEEN, nth=1, ensemble=1, ask=ask)) <= LONGEST_PLAN


async def test_no_plan_where_the_budget_has_none() -> None:
    async def ask(question: Question) -> Reply:
        raise BudgetExceeded(f"no tokens for {question.role}")

    assert await plan(TASK, SEEN, nth=1, ensemble=1, ask=ask) == ""
