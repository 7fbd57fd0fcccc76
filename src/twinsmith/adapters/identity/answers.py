"""Answers to requests with an Idempotency-Key, in a table and in a dictionary."""

from sqlalchemy import (
    Column,
    ColumnElement,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.people.account import later
from twinsmith.core.people.answered import LOST_SECONDS, Answered, Asking

TABLES = MetaData()
ANSWERS = Table(
    "twinsmith_answered",
    TABLES,
    Column("who", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("digest", String, nullable=False),
    Column("begun", String, nullable=False, index=True),
    Column("status", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("body", String, nullable=False),
    Column("location", String, nullable=False),
)


class AnswerTable:
    """The answers of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def begin(self, asking: Asking, now: str) -> Answered | None:
        """Note that a request is begun; what is known of it where its key was used before."""
        values = {"who": asking.who, "key": asking.key, "digest": asking.digest, "begun": now}
        lost = (ANSWERS.c.status == 0) & (ANSWERS.c.begun < later(now, -LOST_SECONDS))
        try:
            with self._database.transaction() as connection:
                connection.execute(delete(ANSWERS).where(*_mine(asking), lost))
                connection.execute(insert(ANSWERS).values({**values, **_NOTHING_YET}))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return self._known(asking)
        return None

    def settle(self, asking: Asking, answered: Answered) -> None:
        """Keep the answer to a request that was begun."""
        kept = {name: getattr(answered, name) for name in _NOTHING_YET}
        with self._database.transaction() as connection:
            connection.execute(update(ANSWERS).where(*_mine(asking)).values(kept))

    def drop(self, asking: Asking) -> None:
        """Forget a request that came to nothing: it may be tried again."""
        with self._database.transaction() as connection:
            connection.execute(delete(ANSWERS).where(*_mine(asking)))

    def forget(self, before: str) -> None:
        """Forget all requests that were begun before a moment."""
        with self._database.transaction() as connection:
            connection.execute(delete(ANSWERS).where(ANSWERS.c.begun < before))

    def _known(self, asking: Asking) -> Answered:
        with self._database.transaction() as connection:
            row = connection.execute(select(ANSWERS).where(*_mine(asking))).mappings().first()
        if row is None:
            # Forgotten at this very moment.
            return Answered(digest=asking.digest)
        return Answered(**{name: row[name] for name in Answered.__slots__})


class MemoryAnswers:
    """Answers in a dictionary: the fake."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], tuple[str, Answered]] = {}

    def begin(self, asking: Asking, now: str) -> Answered | None:
        """Note that a request is begun; what is known of it where its key was used before."""
        begun, known = self._answers.get((asking.who, asking.key), ("", None))
        if known is not None and (known.status or begun >= later(now, -LOST_SECONDS)):
            return known
        self._answers[asking.who, asking.key] = (now, Answered(digest=asking.digest))
        return None

    def settle(self, asking: Asking, answered: Answered) -> None:
        """Keep the answer to a request that was begun."""
        begun, _ = self._answers[asking.who, asking.key]
        self._answers[asking.who, asking.key] = (begun, answered)

    def drop(self, asking: Asking) -> None:
        """Forget a request that came to nothing: it may be tried again."""
        self._answers.pop((asking.who, asking.key), None)

    def forget(self, before: str) -> None:
        """Forget all requests that were begun before a moment."""
        kept = {name: each for name, each in self._answers.items() if each[0] >= before}
        self._answers = kept


_NOTHING_YET: dict[str, object] = {"status": 0, "kind": "", "body": "", "location": ""}


def _mine(asking: Asking) -> tuple[ColumnElement[bool], ...]:
    return (ANSWERS.c.who == asking.who, ANSWERS.c.key == asking.key)
