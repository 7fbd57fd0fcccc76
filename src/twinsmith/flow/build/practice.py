"""A sensitive task in, best practice out: the rules that experienced people keep to."""

from twinsmith.core.model import Ask, Question
from twinsmith.core.task import Task
from twinsmith.core.wording import spoken
from twinsmith.flow.build.asking import said
from twinsmith.prompts import render

NTH = 900
"""The number of the question about practice, far from a coder's other questions."""
MOST_LINES = 6
LONGEST_LINE = 200


async def practices(task: Task, ask: Ask) -> str:
    """The rules for the coders, each a line that begins with a dash; empty if no answer."""
    question = Question(
        role="coder",
        nth=NTH,
        text=render("practice", task=task.text, language=spoken(task.language), kind=task.kind),
        purpose="practice",
        temperature=0.0,
        tokens=300,
        template="practice",
    )
    lines = [line.strip() for line in (await said(question, ask)).splitlines()]
    kept = [line[:LONGEST_LINE] for line in lines if line.startswith(("-", "*", "•"))]
    return "\n".join(f"- {line.lstrip('-*• ')}" for line in kept[:MOST_LINES])
