"""A task in, its requirements out: both slow thinkers split it apart, what either saw counts."""

import re

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Question
from twinsmith.core.planning.proving_words import about_proving, proving
from twinsmith.core.planning.requirement import (
    SCHEMA,
    Requirements,
    merged,
    quoted,
    read_requirements,
    same,
    with_clauses,
    with_more,
    without_headline,
)
from twinsmith.flow.build.asking import answered
from twinsmith.flow.recorder import Recorder
from twinsmith.prompts import render

LONGEST_PART = 400
HEATS = {1: 0.0, 2: 0.5}


async def required(
    task: str, ensembles: tuple[int, ...], recorder: Recorder, *, accounts: bool = False
) -> Requirements:
    """The requirements of a task; with `accounts`, also the words that ask for a login."""
    # One by one a local model answers the same for the same seed.
    found = await recorder.in_turn([_required(task, ensemble, recorder) for ensemble in ensembles])
    parts = _parts(task) if accounts else []
    logins = await recorder.in_turn([_login(part, nth, recorder) for nth, part in enumerate(parts)])
    whole = found[0]
    for other in found[1:]:
        whole = merged(whole, other)
    named = (words for words in logins if about_proving(words))
    login = proving(task) or next(named, "") if accounts else ""
    wanted = without_headline(Requirements(each=whole.each, login=login), task)
    if login and not any(same(each.quote, login) for each in wanted.each):
        wanted = with_more(wanted, [login])
    return with_clauses(wanted, task)


async def _required(task: str, ensemble: int, recorder: Recorder) -> Requirements:
    question = Question(
        role="slow",
        nth=ensemble * 10,
        text=render("requirements", task=task),
        ensemble=ensemble,
        purpose="clarification",
        temperature=HEATS[ensemble],
        schema=SCHEMA,
        tokens=700,
        template="requirements",
    )
    try:
        return await answered(question, lambda text: read_requirements(text, task), recorder.ask)
    except BadReply:
        # The task's own clauses stand for them.
        return Requirements()


async def _login(part: str, nth: int, recorder: Recorder) -> str:
    """The words of a part of the task that ask for accounts; nothing where it has none."""
    question = Question(
        role="slow",
        nth=100 + nth,
        text=render("login", task=part),
        purpose="clarification",
        temperature=0.0,
        tokens=24,
        template="login",
    )
    said = (await recorder.ask(question)).text.strip().splitlines()
    words = said[0].strip("\"'. ") if said else ""
    return "" if "nobody" in words.lower() else quoted(words, part)


def _parts(task: str) -> list[str]:
    """The task in parts of whole sentences, each so short that a small model overlooks nothing."""
    parts: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n{2,}", task.strip()):
        if parts and len(parts[-1]) + len(sentence) < LONGEST_PART:
            parts[-1] += f" {sentence}"
        elif sentence:
            parts.append(sentence)
    return parts
