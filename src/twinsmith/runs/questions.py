"""Questions that runs have to people, and the answers to them, from any process."""

from collections.abc import Callable, Sequence

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict, Forbidden, Unknown
from twinsmith.core.people.question import Answer, QuestionRecord, accepted
from twinsmith.core.people.role import Permission
from twinsmith.runs.book import Book
from twinsmith.wiring.people import questions_of


def asked_questions(book: Book, *, answered: bool = False) -> tuple[QuestionRecord, ...]:
    """Questions that are open, oldest first; with `answered`, all that were ever asked."""
    now = SystemClock().now()
    known = questions_of(book.settings).listed()
    return tuple(
        each for each in known if answered or (each.answer is None and not each.overdue(now))
    )


def _anybody(_permission: Permission) -> bool:
    """Whoever can use this data folder may do everything in it."""
    return True


async def answer(
    book: Book, name: str, text: str, may: Callable[[Permission], bool] = _anybody
) -> QuestionRecord:
    """Answer a question; ConfigError where it is not open, or the answer is none of its choices."""
    questions = questions_of(book.settings)
    record = _found(questions.listed(), name)
    question, now = record.question, SystemClock().now()
    if not may(question.needs):
        raise Forbidden(
            f"{book.actor.name} may not {question.needs}, which question {question.id} needs; "
            "an administrator gives roles"
        )
    if record.overdue(now):
        raise Conflict(
            f"question {question.id} was open until {record.until[:16]}; the assumption holds: "
            f"{question.assumed}"
        )
    said = accepted(question, book.settings.masking.text(text))
    given = Answer(text=said, by=book.actor.signature, at=now)
    if not questions.answer(question.id, given):
        kept = questions.get(question.id)
        before = kept.answer if kept else None
        told = f"{before.text!r} by {before.by}" if before else "elsewhere"
        raise Conflict(f"question {question.id} is answered already: {told}")
    data = {"question": question.text, "answer": said, "id": question.id}
    await book.tell(question.run, "question.answered", {**data}, key=f"question.answered:{name}")
    return questions.get(question.id) or record


def _found(records: Sequence[QuestionRecord], name: str) -> QuestionRecord:
    """The question that a person means: its whole name, or an ending that only one has."""
    exact = [each for each in records if each.question.id == name]
    matches = exact or [each for each in records if name and each.question.id.endswith(name)]
    if len(matches) > 1:
        names = ", ".join(each.question.id for each in matches[-5:])
        raise ConfigError(f"question {name!r} could be {names}; give more of it")
    if not matches:
        raise Unknown(f"question {name!r} is not known; twinsmith questions lists them")
    return matches[0]
