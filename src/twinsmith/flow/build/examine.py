"""A task in, checks out: written blind to the candidates, read from the task, or made up."""

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Ask, Question
from twinsmith.core.probe import Probe, Probes, read_tests
from twinsmith.core.profile import Profile
from twinsmith.core.proposed import counted
from twinsmith.core.task import Task
from twinsmith.prompts import render


def given_probes(task: Task, profile: Profile) -> Probes:
    """What decides: a person's tests, and the examples that the task itself gives."""
    given = read_tests(task.tests, file="tests") if task.tests else Probes()
    examples = [
        Probe(
            name=f"example {number}",
            origin="task",
            source=f"assert {call.function}({', '.join(call.args)}) == {call.expected}",
            call=call,
        )
        for number, call in enumerate(profile.examples, 1)
    ]
    more = [
        Probe(name=f"example {number}", origin="task", source=source)
        for number, source in enumerate(profile.example_checks, len(examples) + 1)
    ]
    return Probes(checks=(*given.checks, *examples, *more), setup=given.setup)


async def propose(
    task: Task, profile: Profile, *, nth: int, ensemble: int, ask: Ask
) -> dict[str, int]:
    """Asserts that a critic thinks should hold, and how often it wrote each; blind to programs."""
    question = Question(
        role="critic",
        nth=nth,
        text=render("checks", task=task.text, entry=profile.entry),
        ensemble=ensemble,
        temperature=0.8 if nth else 0.2,
        tokens=600,
    )
    try:
        reply = await ask(question)
    except (BadReply, BudgetExceeded):
        return {}
    return counted(reply.text, profile.entry)
