"""Questions to a model: asked until the answer can be read, or once where it may be lacking."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Ask, Question, taken_whole
from twinsmith.core.task import Task
from twinsmith.prompts import render

MOST_RETRIES = 2
LONGEST_TASK = 1500

T = TypeVar("T")


async def answered(question: Question, read: Callable[[str], T], ask: Ask) -> T:
    """The answer as `read` reads it; where it cannot, the model is asked again with the reason.

    Raises BadReply when the last answer cannot be used either.
    """
    question = replace(question, read=taken_whole(read))
    asked = question
    for retry in range(1, MOST_RETRIES + 1):
        reply = await ask(asked)
        try:
            return read(reply.text)
        except BadReply as error:
            text = f"{question.text}\nAn earlier answer could not be used: {error}. Answer anew."
            asked = replace(question, text=text, retry=retry)
    return read((await ask(asked)).text)


async def said(question: Question, ask: Ask) -> str:
    """The text of an answer; empty where none can be used, or none can be paid for any more."""
    try:
        return (await ask(question)).text
    except (BadReply, BudgetExceeded):
        return ""


async def in_a_word(prompt: str, task: Task, *, nth: int, ask: Ask) -> str:
    """The slow thinker's answer of a word or two about a task; empty where it cannot be used."""
    question = Question(
        role="slow",
        nth=nth,
        text=render(prompt, task=" ".join(task.text.split())[:LONGEST_TASK]),
        purpose="clarification",
        temperature=0.0,
        tokens=8,
        template=prompt,
    )
    try:
        return (await ask(question)).text
    except BadReply:
        return ""
