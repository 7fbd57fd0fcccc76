"""Records of runs in a table of SQLite or PostgreSQL, or in a dictionary: the fake."""

import json

from pydantic import ValidationError
from sqlalchemy import Column, MetaData, RowMapping, String, Table, delete, insert, select

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.events import Json
from twinsmith.core.operating.action import Action
from twinsmith.core.run_record import Given, RunRecord
from twinsmith.core.task import Job

ACTION = "action"
TABLES = MetaData()
RUNS = Table(
    "twinsmith_runs",
    TABLES,
    Column("run", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("job", "submitted_by", "submitted_at")),
)


class RunTable:
    """The records of all runs of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def save(self, record: RunRecord) -> None:
        """Keep a record; one of the same run is replaced."""
        run = record.job.run
        values = {
            "run": run,
            "job": json.dumps(_written(record.job), ensure_ascii=False),
            "submitted_by": record.by,
            "submitted_at": record.at,
        }
        with self._database.transaction() as connection:
            connection.execute(delete(RUNS).where(RUNS.c.run == run))
            connection.execute(insert(RUNS).values(values))

    def get(self, run: str) -> RunRecord | None:
        """The record of a run."""
        with self._database.transaction() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.run == run)).mappings().first()
        return _record(row) if row else None

    def listed(self) -> tuple[RunRecord, ...]:
        """Every record, oldest first."""
        order = select(RUNS).order_by(RUNS.c.submitted_at, RUNS.c.run)
        with self._database.transaction() as connection:
            return tuple(_record(row) for row in connection.execute(order).mappings())


class MemoryRuns:
    """The records of runs for as long as the process lives."""

    def __init__(self) -> None:
        self._records: dict[str, RunRecord] = {}

    def save(self, record: RunRecord) -> None:
        """Keep a record; one of the same run is replaced."""
        self._records[record.job.run] = record

    def get(self, run: str) -> RunRecord | None:
        """The record of a run."""
        return self._records.get(run)

    def listed(self) -> tuple[RunRecord, ...]:
        """Every record, oldest first."""
        records = self._records.values()
        return tuple(sorted(records, key=lambda each: (each.at, each.job.run)))


def _written(job: Given) -> Json:
    """A job or an action as JSON; an action says that it is one."""
    return {ACTION: to_json(job, Action)} if isinstance(job, Action) else to_json(job, Job)


def _read(data: Json) -> Given:
    if isinstance(data, dict) and ACTION in data:
        return from_json(data[ACTION], Action)
    return from_json(data, Job)


def _record(row: RowMapping) -> RunRecord:
    try:
        job = _read(json.loads(row["job"]))
    except (ValidationError, ValueError) as error:
        raise EngineError(
            f"the record of run {row['run']} cannot be read ({type(error).__name__}); "
            "start a new build"
        ) from error
    return RunRecord(job=job, by=row["submitted_by"], at=row["submitted_at"])
