"""A task in, checks out: written blind to the candidates, read from the task, or made up."""

import ast
from collections import Counter

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Ask, Question
from twinsmith.core.probe import Probe, Probes, read_check, read_tests
from twinsmith.core.profile import Profile
from twinsmith.core.reply_code import source_in
from twinsmith.core.task import Task
from twinsmith.prompts import render

MOST_CHECKS = 30


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
    return read_asserts(reply.text, profile.entry)


def read_asserts(text: str, entry: str) -> dict[str, int]:
    """The asserts in a reply that call the function, in one spelling each, with their number."""
    found: Counter[str] = Counter()
    for line in source_in(text, "python").splitlines():
        probe = read_check(line, number=0)
        if probe is not None and _calls(probe.source, entry):
            found[probe.source] += 1
    return dict(found.most_common(MOST_CHECKS))


def _calls(source: str, entry: str) -> bool:
    nodes = ast.walk(ast.parse(source))
    return any(isinstance(node, ast.Name) and node.id == entry for node in nodes)
