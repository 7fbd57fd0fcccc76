"""An input on which the two leading candidates disagree in, a critic's vote on it out."""

import re

from twinsmith.core.checks.inputs import input_text
from twinsmith.core.judging.selection import Separation
from twinsmith.core.model import Ask, Question, holding
from twinsmith.core.task import Task
from twinsmith.flow.build.asking import said
from twinsmith.prompts import render

FIRST_NTH = 100
"""Questions of a critic from here on are votes."""
_ANSWER = re.compile(r"ANSWER\W*([ABC])\b", re.IGNORECASE)


async def vote(task: Task, between: Separation, *, nth: int, ensemble: int, ask: Ask) -> str | None:
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
            call=input_text(between.call),
            first=shown[0],
            second=shown[1],
        ),
        ensemble=ensemble,
        temperature=0.7,
        tokens=300,
        template="decide",
        read=holding("vote", _ANSWER.findall),
    )
    found = _ANSWER.findall(await said(question, ask))
    letter = found[-1].upper() if found else "C"
    return {"A": shown[0], "B": shown[1]}.get(letter)
