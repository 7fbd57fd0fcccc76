"""A task that does not say what kind of program it wants in, the kind out."""

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Ask, Question
from twinsmith.core.program import KINDS, Kind
from twinsmith.core.task import Task
from twinsmith.prompts import render

NTH = 300


async def kind_of(task: Task, ask: Ask) -> Kind:
    """The kind of program that the slow thinker takes a task for; else the kind guessed before."""
    question = Question(
        role="slow",
        nth=NTH,
        text=render("kind", task=" ".join(task.text.split())[:1500]),
        purpose="clarification",
        temperature=0.0,
        tokens=8,
    )
    try:
        words = (await ask(question)).text.lower().split()
    except BadReply:
        return task.kind
    said = words[0].strip(".\"'`*") if words else ""
    return next((kind for kind in KINDS if kind == said), task.kind)
