"""Who drives which run, in a table of SQLite or PostgreSQL; a fence keeps late workers out."""

from collections.abc import Collection, Sequence

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Float,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.sql import Database, epoch
from twinsmith.core.driving import Change, Driving, DrivingState
from twinsmith.core.errors import EngineError, RunBusy, RunLost

TABLES = MetaData()
DRIVING = Table(
    "twinsmith_driving",
    TABLES,
    Column("run", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("state", "worker", "pipeline")),
    Column("fence", Integer, nullable=False),
    *(Column(name, String, nullable=False) for name in ("topic", "until", "priority", "node")),
    Column("attended", Boolean, nullable=False),
    Column("key", String, unique=True),
    Column("since", Float, nullable=False),
)
LOST = "run {} was taken over by another worker; follow it with: twinsmith watch {}"
BUSY = "run {} is being driven by worker {}; follow it with: twinsmith watch {}"


class DrivingTable:
    """The state of all runs of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def submit(self, driving: Driving, key: str | None = None) -> str:
        """Keep the state of a new run; where one was submitted under this key, that one's name."""
        if key is not None:
            known = self.of_key(key)
            if known:
                return known
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(DRIVING).values({**_values(driving), "key": key}))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return (self.of_key(key) if key is not None else "") or driving.run
        return driving.run

    def of_key(self, key: str) -> str:
        """The run that was submitted under a key; empty where none was."""
        with self._database.transaction() as connection:
            found = connection.execute(select(DRIVING.c.run).where(DRIVING.c.key == key)).scalar()
        return str(found) if found else ""

    def get(self, run: str) -> Driving | None:
        """The state of a run."""
        found = self._where(DRIVING.c.run == run)
        return found[0] if found else None

    def listed(self, *, also: Collection[str] = ()) -> tuple[Driving, ...]:
        """The states of all runs that have not ended, and of those named in `also`."""
        return self._where(or_(DRIVING.c.state != "ended", DRIVING.c.run.in_(list(also))))

    def claim(self, run: str, worker: str, *, pipeline: str, living: Sequence[str]) -> int:
        """Take a run for a worker; its new fence. RunBusy where one of `living` drives it."""
        free = or_(DRIVING.c.state != "driven", DRIVING.c.worker.not_in(list(living)))
        values = {
            "state": "driven",
            "worker": worker,
            "pipeline": pipeline,
            "fence": DRIVING.c.fence + 1,
            "since": epoch(),
        }
        change = update(DRIVING).where(DRIVING.c.run == run, free)
        with self._database.transaction() as connection:
            row = connection.execute(change.values(values).returning(DRIVING.c.fence)).first()
        if row is not None:
            return int(row[0])
        known = self.get(run)
        if known is not None:
            raise RunBusy(BUSY.format(run, known.worker, run))
        # A run of an earlier release.
        self.submit(Driving(run=run, state="parked", pipeline=pipeline))
        return self.claim(run, worker, pipeline=pipeline, living=living)

    def check(self, run: str, fence: int) -> None:
        """RunLost where somebody else has taken the run since."""
        asked = select(DRIVING.c.fence).where(DRIVING.c.run == run)
        with self._database.transaction() as connection:
            if connection.execute(asked).scalar() != fence:
                raise RunLost(LOST.format(run, run))

    def leave(
        self, run: str, fence: int, state: DrivingState, *, topic: str = "", until: str = ""
    ) -> bool:
        """Let go of a run in a state; False where somebody else has taken it since."""
        values = {"state": state, "topic": topic, "until": until, "since": epoch()}
        return self._updated(DRIVING.c.run == run, DRIVING.c.fence == fence, **values)

    def change(self, wanted: Change) -> bool:
        """Change the state of a run and shut its last worker out; False where that came late."""
        seen = (DRIVING.c.run == wanted.run, DRIVING.c.fence == wanted.fence)
        same = or_(DRIVING.c.state != wanted.state, DRIVING.c.pipeline != wanted.pipeline)
        # Whoever held the fence finds another one now. What was never begun stays so: at 0.
        fence = wanted.fence + 1 if wanted.fence else 0
        values = {"state": wanted.state, "pipeline": wanted.pipeline, "fence": fence}
        return self._updated(*seen, same, **values, since=epoch())

    def seize(self, run: str, state: DrivingState) -> None:
        """Change the state of a run, whoever drives it, and shut that worker out."""
        self._updated(DRIVING.c.run == run, state=state, fence=DRIVING.c.fence + 1, since=epoch())

    def _updated(self, *where: ColumnElement[bool], **values: object) -> bool:
        with self._database.transaction() as connection:
            return connection.execute(update(DRIVING).where(*where).values(values)).rowcount == 1

    def _where(self, where: ColumnElement[bool]) -> tuple[Driving, ...]:
        asked = select(DRIVING, (epoch() - DRIVING.c.since).label("ago")).where(where)
        with self._database.transaction() as connection:
            found = connection.execute(asked.order_by(DRIVING.c.run)).mappings()
            return tuple(_driving(row) for row in found)


def _values(driving: Driving) -> dict[str, object]:
    return {
        "run": driving.run,
        "state": driving.state,
        "worker": driving.worker,
        "fence": driving.fence,
        "pipeline": driving.pipeline,
        "topic": driving.topic,
        "until": driving.until,
        "priority": driving.priority,
        "node": driving.node,
        "attended": driving.attended,
        "since": epoch(),
    }


def _driving(row: RowMapping) -> Driving:
    named = {name: row[name] for name in _values(Driving(run="", state="queued"))}
    return Driving(**{**named, "since": max(float(row["ago"]), 0.0)})
