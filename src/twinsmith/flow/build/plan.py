"""Counterexamples in, the slow thinker's guidance for the coder out."""

from twinsmith.core.model import Ask, Question
from twinsmith.core.task import Task
from twinsmith.flow.build.asking import said
from twinsmith.prompts import render

LONGEST_PLAN = 1500


async def plan(task: Task, seen: str, *, nth: int, ensemble: int, ask: Ask) -> str:
    """The slow thinker's plan, a few sentences on another way to write it; empty if no answer."""
    text = render("plan", task=task.text, seen=seen)
    question = Question(
        role="slow",
        nth=nth,
        text=text,
        ensemble=ensemble,
        temperature=0.5,
        tokens=300,
        template="plan",
    )
    return (await said(question, ask)).strip()[:LONGEST_PLAN]
