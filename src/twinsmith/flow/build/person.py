"""A doubt that programs cannot settle in, a person's word on it out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from twinsmith.core.checks.inputs import input_text, printed, probe_of
from twinsmith.core.judging.doubt import Doubted
from twinsmith.core.judging.selection import Separation
from twinsmith.core.outcome import Work
from twinsmith.core.probe import Command, Input, is_literal

AskPerson = Callable[[str, str], Awaitable[str]]
"""Asks a person: a question and the answer assumed where nobody gives one in, an answer out."""
OPEN = "left open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The result that a person holds for right on one input."""

    call: Input
    right: str
    note: str = ""

    @property
    def text(self) -> str:
        """The person's word as the report tells it."""
        return f"{input_text(self.call)} gives {self.right}{self.note}"


async def about_leaders(between: Separation, ask: AskPerson) -> Word | None:
    """A person's word where two leading programs differ; None where it stays open."""
    question = (
        f"Two programs disagree on {input_text(between.call)}:\n"
        f"a) {between.winner}\nb) {between.runner_up}\n"
        "Which is right? Type a, b, or what is right instead."
    )
    right = _right(await ask(question, OPEN), between.call, between.winner, between.runner_up)
    return Word(call=between.call, right=right) if right else None


async def about_example(doubt: Doubted, ask: AskPerson) -> Word | None:
    """A person's word on an example that all programs break alike; None where it stays open."""
    question = (
        f"The task says that {input_text(doubt.call)} gives {doubt.expected}, but all "
        f"{doubt.programs} programs that do the rest of it give another result.\n"
        f"a) {doubt.expected}, as the task says\nb) {doubt.gave}, as the programs do\n"
        "Which is right? Type a, b, or what is right instead."
    )
    right = _right(await ask(question, OPEN), doubt.call, doubt.expected, doubt.gave)
    if not right:
        return None
    as_told = right == doubt.expected
    note = ", as the task says" if as_told else f", not {doubt.expected} as the task says"
    return Word(call=doubt.call, right=right, note=note)


def with_word(work: Work, word: Word) -> Work:
    """The work with a person's word as a check that decides."""
    asked = replace(probe_of(word.call, word.right), origin="person")
    pool = work.pool.with_check(asked, given=True)
    return replace(work, pool=pool, told=(*work.told, word.text))


def _right(answer: str, call: Input, first: str, second: str) -> str:
    """The value that a person's answer names, as a literal; empty where it names none."""
    answer = answer.strip()
    if answer == OPEN:
        return ""
    chosen = {"a": first, "b": second}.get(answer.lower().rstrip(")."))
    if chosen is not None:
        return chosen
    if isinstance(call, Command):
        return repr(printed(answer.replace("\\n", "\n")))
    return answer if is_literal(answer) else ""
