"""Messages to runs, in a table of SQLite or PostgreSQL."""

import json
from collections.abc import Collection

from sqlalchemy import Column, MetaData, String, Table, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.events import Json

TABLES = MetaData()
MESSAGES = Table(
    "twinsmith_messages",
    TABLES,
    Column("run", String, primary_key=True),
    Column("topic", String, primary_key=True),
    Column("value", String, nullable=False),
)


class MessageTable:
    """The messages of one database: the first one about a topic is the one that counts."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def put(self, run: str, topic: str, value: Json) -> bool:
        """Keep a message; False where there is one about this topic already."""
        text = json.dumps(value, ensure_ascii=False)
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(MESSAGES).values(run=run, topic=topic, value=text))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return False
        return True

    def get(self, run: str, topic: str) -> Json:
        """The message about a topic; None where there is none, or it was closed without one."""
        where = (MESSAGES.c.run == run, MESSAGES.c.topic == topic)
        with self._database.transaction() as connection:
            found = connection.execute(select(MESSAGES.c.value).where(*where)).scalar()
        value: Json = None if found is None else json.loads(found)
        return value

    def delivered(self, wanted: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Of these runs and topics, those that have a message."""
        if not wanted:
            return frozenset()
        pair = tuple_(MESSAGES.c.run, MESSAGES.c.topic)
        asked = select(MESSAGES.c.run, MESSAGES.c.topic).where(pair.in_(list(wanted)))
        with self._database.transaction() as connection:
            return frozenset((row.run, row.topic) for row in connection.execute(asked))
