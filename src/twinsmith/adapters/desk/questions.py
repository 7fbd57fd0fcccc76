"""Questions to people in a table of SQLite or PostgreSQL, so that any process can answer them."""

import json

from sqlalchemy import Column, MetaData, RowMapping, String, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.sql import Database
from twinsmith.core.people.question import Answer, PersonalQuestion, QuestionRecord

TABLES = MetaData()
QUESTIONS = Table(
    "twinsmith_questions",
    TABLES,
    Column("id", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("run", "text", "assumed", "choices")),
    *(Column(name, String, nullable=False) for name in ("asked", "until")),
    *(Column(name, String) for name in ("answer", "answered_by", "answered_at")),
)


class QuestionTable:
    """All questions of one database; the first answer to each is the one that counts."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def put(self, record: QuestionRecord) -> QuestionRecord:
        """Keep a question; one that is known stays as it is, and is given back."""
        asked = record.question
        values = {
            "id": asked.id,
            "run": asked.run,
            "text": asked.text,
            "assumed": asked.assumed,
            "choices": json.dumps(asked.choices, ensure_ascii=False),
            "asked": record.asked,
            "until": record.until,
        }
        known = self.get(asked.id)
        if known is not None:
            return known
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(QUESTIONS).values(values))
        except Exception as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.get(asked.id) or record

    def get(self, name: str) -> QuestionRecord | None:
        """The question of that name."""
        with self._database.transaction() as connection:
            found = connection.execute(select(QUESTIONS).where(QUESTIONS.c.id == name))
            row = found.mappings().first()
        return _record(row) if row else None

    def answer(self, name: str, given: Answer) -> bool:
        """Keep an answer; False where there is one already, or no such question."""
        change = update(QUESTIONS).where(QUESTIONS.c.id == name, QUESTIONS.c.answer.is_(None))
        values = {"answer": given.text, "answered_by": given.by, "answered_at": given.at}
        with self._database.transaction() as connection:
            return connection.execute(change.values(values)).rowcount == 1

    def listed(self) -> tuple[QuestionRecord, ...]:
        """Every question, oldest first."""
        order = select(QUESTIONS).order_by(QUESTIONS.c.asked, QUESTIONS.c.id)
        with self._database.transaction() as connection:
            return tuple(_record(row) for row in connection.execute(order).mappings())


def _record(kept: RowMapping) -> QuestionRecord:
    answer = (
        Answer(text=kept["answer"], by=kept["answered_by"], at=kept["answered_at"])
        if kept["answer"] is not None
        else None
    )
    question = PersonalQuestion(
        id=kept["id"],
        run=kept["run"],
        text=kept["text"],
        assumed=kept["assumed"],
        choices=tuple(json.loads(kept["choices"])),
    )
    return QuestionRecord(
        question=question, asked=kept["asked"], until=kept["until"], answer=answer
    )
