"""The processes that drive runs, in a table of SQLite or PostgreSQL; each tells that it lives."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from twinsmith.adapters.sql import Database, epoch
from twinsmith.core.driving import Worker

TABLES = MetaData()
WORKERS = Table(
    "twinsmith_workers",
    TABLES,
    Column("name", String, primary_key=True),
    Column("pipeline", String, nullable=False),
    Column("serves", Boolean, nullable=False),
    Column("concurrency", Integer, nullable=False),
    Column("seen", Float, nullable=False),
)
FORGOTTEN_SECONDS = 3600.0


class WorkerTable:
    """All workers of one database; the database's own clock tells since when one is silent."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def beat(self, worker: Worker) -> None:
        """Tell that a worker lives."""
        values = {
            "pipeline": worker.pipeline,
            "serves": worker.serves,
            "concurrency": worker.concurrency,
            "seen": epoch(),
        }
        with self._database.transaction() as connection:
            known = update(WORKERS).where(WORKERS.c.name == worker.name).values(values)
            if not connection.execute(known).rowcount:
                connection.execute(insert(WORKERS).values(name=worker.name, **values))

    def leave(self, name: str) -> None:
        """Forget a worker that has ended, and all that were not heard of for an hour."""
        old = WORKERS.c.seen < epoch() - FORGOTTEN_SECONDS
        with self._database.transaction() as connection:
            connection.execute(delete(WORKERS).where((WORKERS.c.name == name) | old))

    def listed(self) -> tuple[Worker, ...]:
        """Every worker that is known, by name."""
        asked = select(WORKERS, (epoch() - WORKERS.c.seen).label("silent"))
        with self._database.transaction() as connection:
            found = connection.execute(asked.order_by(WORKERS.c.name)).mappings()
            return tuple(
                Worker(
                    name=row["name"],
                    pipeline=row["pipeline"],
                    serves=row["serves"],
                    concurrency=row["concurrency"],
                    silent=float(row["silent"]),
                )
                for row in found
            )
