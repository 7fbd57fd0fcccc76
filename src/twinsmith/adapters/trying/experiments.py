"""Experiments and their runs in tables of SQLite or PostgreSQL.

Whoever begins an experiment holds the one lock of the table until its row stands there: of two that
try the same setting, begun on two servers at once, one is refused.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.adapters.trying.experiments_memory import refusal
from twinsmith.core.errors import EngineError
from twinsmith.core.trying.experiment import Assigned, Experiment
from twinsmith.core.trying.experiment_results import Result, Trial
from twinsmith.ports.experiments import Clash

TABLES = MetaData()
EXPERIMENTS = Table(
    "twinsmith_experiments",
    TABLES,
    Column("name", String, primary_key=True),
    Column("begun", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("value", String, nullable=False),
)
TRIALS = Table(
    "twinsmith_trials",
    TABLES,
    *(Column(name, String, primary_key=True) for name in ("experiment", "run")),
    *(Column(name, String, nullable=False) for name in ("unit", "arm", "result")),
)
LOCK = 7_473_104
"""The lock of a server under which one process at a time begins an experiment."""


class ExperimentTable:
    """The experiments of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def begin(self, experiment: Experiment, clash: Clash) -> str:
        """Keep a new one; else why that cannot be, as seen by all processes alike."""
        with self._alone() as connection:
            why_not = refusal(experiment, _listed(connection), clash)
            if not why_not:
                connection.execute(insert(EXPERIMENTS).values(**_row(experiment)))
            return why_not

    def change(self, experiment: Experiment) -> bool:
        """Keep a change of what was read; False where somebody was faster."""
        row = _row(experiment) | {"revision": experiment.revision + 1}
        mine = and_(
            EXPERIMENTS.c.name == experiment.name, EXPERIMENTS.c.revision == experiment.revision
        )
        with self._database.transaction() as connection:
            return bool(connection.execute(update(EXPERIMENTS).where(mine).values(row)).rowcount)

    def get(self, name: str) -> Experiment | None:
        """The experiment of that name."""
        with self._database.transaction() as connection:
            return next((each for each in _listed(connection) if each.name == name), None)

    def listed(self) -> tuple[Experiment, ...]:
        """Every experiment, oldest first."""
        with self._database.transaction() as connection:
            return _listed(connection)

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A transaction beside which nobody begins an experiment."""
        with self._database.transaction() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            else:
                # The first statement writes: from here on SQLite lets nobody else write.
                connection.execute(delete(EXPERIMENTS).where(EXPERIMENTS.c.name == ""))
            yield connection


class TrialTable:
    """The runs of the experiments of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def assign(self, assigned: Assigned) -> None:
        """Keep that a run is in an arm; twice is once."""
        row = {
            "experiment": assigned.experiment,
            "run": assigned.run,
            "unit": assigned.unit,
            "arm": assigned.arm,
            "result": "",
        }
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(TRIALS).values(row))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise

    def settle(self, experiment: str, result: Result) -> None:
        """Keep what became of a run, as its journal tells it."""
        mine = and_(TRIALS.c.experiment == experiment, TRIALS.c.run == result.run)
        value = json.dumps(to_json(result, Result))
        with self._database.transaction() as connection:
            connection.execute(update(TRIALS).where(mine).values(result=value))

    def listed(self, experiment: str) -> tuple[Trial, ...]:
        """Every run of an experiment, in the order of their names."""
        asked = select(TRIALS).where(TRIALS.c.experiment == experiment).order_by(TRIALS.c.run)
        with self._database.transaction() as connection:
            rows = list(connection.execute(asked).mappings())
        return tuple(
            Trial(
                assigned=Assigned(
                    experiment=row["experiment"], run=row["run"], unit=row["unit"], arm=row["arm"]
                ),
                result=from_json(json.loads(row["result"]), Result) if row["result"] else None,
            )
            for row in rows
        )


def _listed(connection: Connection) -> tuple[Experiment, ...]:
    asked = select(EXPERIMENTS).order_by(EXPERIMENTS.c.begun, EXPERIMENTS.c.name)
    rows = connection.execute(asked).mappings()
    return tuple(
        from_json({**json.loads(row["value"]), "revision": row["revision"]}, Experiment)
        for row in rows
    )


def _row(experiment: Experiment) -> dict[str, str | int]:
    return {
        "name": experiment.name,
        "begun": experiment.begun,
        "revision": experiment.revision,
        "value": json.dumps(to_json(experiment, Experiment), ensure_ascii=False),
    }
