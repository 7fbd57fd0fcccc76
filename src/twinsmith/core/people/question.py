"""A question to a person: its text, what holds without an answer, until when it is open."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.core.people.role import Permission

LONGEST_ANSWER = 2000
ABOUT_MONEY = ".budget-"
"""Stands in the name of a question whether a run may pass a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalQuestion:
    """One question of a run; `assumed` holds where nobody answers in time."""

    id: str
    """The run and the number of the question in it: `20261115-101500-a3f9.1`."""
    run: str
    text: str
    assumed: str
    choices: tuple[str, ...] = ()
    """The only answers there are; empty where any text will do."""

    @property
    def needs(self) -> Permission:
        """What somebody has to be permitted who answers it from elsewhere."""
        return "decide" if ABOUT_MONEY in self.id else "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question, who gave it, and when."""

    text: str
    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """A question as it is kept, with its answer once there is one; times are ISO 8601 in UTC."""

    question: PersonalQuestion
    asked: str
    until: str
    """The moment from which on the assumption holds."""
    answer: Answer | None = None

    def overdue(self, now: str) -> bool:
        """Whether its time is over without an answer."""
        return self.answer is None and now >= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of a question at first: an answer, or a moment until which one may come."""

    answer: str | None
    until: str = ""


def message_of(answer: Answer) -> Json:
    """An answer as the message that its run gets."""
    return {"text": answer.text, "by": answer.by, "at": answer.at}


def answer_in(message: Json) -> Answer | None:
    """The answer that a message brings; None where it brings none."""
    if not isinstance(message, dict):
        return None
    given = {name: str(message.get(name, "")) for name in ("text", "by", "at")}
    return Answer(**given)


def accepted(question: PersonalQuestion, text: str) -> str:
    """An answer as it is kept; an empty one is the assumption.

    Where there are choices it is one of them, also by its number; ConfigError where it is none.
    """
    given = " ".join(text.split())[:LONGEST_ANSWER]
    if not given:
        return question.assumed
    if not question.choices:
        return given
    if given.isdecimal() and 1 <= int(given) <= len(question.choices):
        return question.choices[int(given) - 1]
    for choice in question.choices:
        if choice.casefold() == given.casefold():
            return choice
    raise ConfigError(
        f"{given!r} is no answer to {question.id}; one of {numbered(question.choices)}"
    )


def numbered(choices: Sequence[str]) -> str:
    """Choices in one line, each with its number: `1: yes, 2: no`."""
    return ", ".join(f"{number}: {choice}" for number, choice in enumerate(choices, 1))
