"""How people are reached."""

from typing import Protocol

from twinsmith.core.people.question import Answer, Asked, PersonalQuestion, QuestionRecord


class Desk(Protocol):
    """Asks a person."""

    async def ask(self, question: PersonalQuestion) -> Asked:
        """The person's answer, or the assumption where nobody is to be waited for.

        Without an answer it says until when one may come, as a message to the run.
        """
        ...


class Questions(Protocol):
    """Keeps questions and their answers, for every process that asks or answers."""

    def put(self, record: QuestionRecord) -> QuestionRecord:
        """Keep a question; one that is known stays as it is, and is given back."""
        ...

    def get(self, name: str) -> QuestionRecord | None:
        """The question of that name."""
        ...

    def answer(self, name: str, given: Answer) -> bool:
        """Keep an answer; False where there is one already, or no such question."""
        ...

    def listed(self) -> tuple[QuestionRecord, ...]:
        """Every question, oldest first."""
        ...
