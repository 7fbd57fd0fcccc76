"""A task for a service in, the part of it that cannot be built out; empty where all can."""

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Ask, Question
from twinsmith.core.planning.unsupported import unsupported_in
from twinsmith.core.task import Task
from twinsmith.prompts import render

NTH = 320


async def unsupported(task: Task, ask: Ask) -> str:
    """The slow thinker's word for what a service wants and twinsmith cannot build; or empty."""
    if task.kind != "service" or task.spec:
        return ""
    text = " ".join(task.text.split())[:1500]
    question = Question(
        role="slow",
        nth=NTH,
        text=render("unsupported", task=text),
        purpose="clarification",
        temperature=0.0,
        tokens=8,
    )
    try:
        return unsupported_in((await ask(question)).text, text)
    except BadReply:
        return ""
