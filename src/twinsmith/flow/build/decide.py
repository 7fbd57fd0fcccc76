"""Two leading candidates that disagree in, votes on exactly that out."""

import ast
import re
from dataclasses import dataclass

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Ask, Question
from twinsmith.core.pool import call_text
from twinsmith.core.probe import Call
from twinsmith.core.selection import Separation
from twinsmith.core.task import Task
from twinsmith.prompts import render

FIRST_NTH = 100
"""Questions of a critic from here on are votes."""
_ANSWER = re.compile(r"ANSWER\W*([ABC])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A call, and the two values that the leading candidates give for it."""

    call: Call
    winner: str
    runner_up: str


def question_in(between: Separation | None) -> Disagreement | None:
    """What can be voted on: two values. That one program fails needs no opinion."""
    if between is None or not isinstance(between.call, Call):
        return None
    for value in (between.winner, between.runner_up):
        try:
            ast.literal_eval(value)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return None
    return Disagreement(call=between.call, winner=between.winner, runner_up=between.runner_up)


async def vote(
    task: Task, between: Disagreement, *, nth: int, ensemble: int, ask: Ask
) -> str | None:
    """The literal that a critic holds for right; None where it holds neither, or says nothing.

    Every second pair of votes sees the two the other way round: small models like what comes first.
    """
    values = [between.winner, between.runner_up]
    shown = values[::-1] if (nth // 2) % 2 else values
    question = Question(
        role="critic",
        nth=FIRST_NTH + nth,
        text=render(
            "decide",
            task=task.text,
            call=call_text(between.call),
            first=shown[0],
            second=shown[1],
        ),
        ensemble=ensemble,
        temperature=0.7,
        tokens=400,
    )
    try:
        reply = await ask(question)
    except (BadReply, BudgetExceeded):
        return None
    found = _ANSWER.findall(reply.text)
    letter = found[-1].upper() if found else "C"
    return {"A": shown[0], "B": shown[1]}.get(letter)
