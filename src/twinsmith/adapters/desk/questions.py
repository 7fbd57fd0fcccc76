"""Questions to people in a table of SQLite or PostgreSQL, so that any process can answer them.

The answer to a question is a message to its run, under the question's name.
"""

import json

from sqlalchemy import Column, RowMapping, Select, String, Table, and_, insert, select
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.messages import MESSAGES, TABLES, MessageTable
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.people.question import (
    Answer,
    PersonalQuestion,
    QuestionRecord,
    answer_in,
    message_of,
)

QUESTIONS = Table(
    "twinsmith_questions",
    TABLES,
    Column("id", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("run", "text", "assumed", "choices")),
    *(Column(name, String, nullable=False) for name in ("asked", "until")),
)


class QuestionTable:
    """All questions of one database; the first answer to each is the one that counts."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)
        self._messages = MessageTable(url)

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
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.get(asked.id) or record

    def get(self, name: str) -> QuestionRecord | None:
        """The question of that name."""
        found = self._records(_SELECTED.where(QUESTIONS.c.id == name))
        return found[0] if found else None

    def answer(self, name: str, given: Answer) -> bool:
        """Keep an answer; False where there is one already, or no such question."""
        record = self.get(name)
        return record is not None and self._messages.put(
            record.question.run, name, message_of(given)
        )

    def listed(self) -> tuple[QuestionRecord, ...]:
        """Every question, oldest first."""
        return self._records(_SELECTED.order_by(QUESTIONS.c.asked, QUESTIONS.c.id))

    def _records(self, asked: Select[tuple[object, ...]]) -> tuple[QuestionRecord, ...]:
        with self._database.transaction() as connection:
            return tuple(_record(row) for row in connection.execute(asked).mappings())


_SELECTED = select(QUESTIONS, MESSAGES.c.value).select_from(
    QUESTIONS.outerjoin(
        MESSAGES, and_(MESSAGES.c.run == QUESTIONS.c.run, MESSAGES.c.topic == QUESTIONS.c.id)
    )
)


def _record(kept: RowMapping) -> QuestionRecord:
    question = PersonalQuestion(
        id=kept["id"],
        run=kept["run"],
        text=kept["text"],
        assumed=kept["assumed"],
        choices=tuple(json.loads(kept["choices"])),
    )
    return QuestionRecord(
        question=question,
        asked=kept["asked"],
        until=kept["until"],
        answer=answer_in(json.loads(kept["value"] or "null")),
    )
