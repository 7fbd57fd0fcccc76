"""Apps, releases, the execution queue and overrides in tables of SQLite or PostgreSQL."""

import json
from typing import TypeVar

from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.operating.action import OVER, ActionState, Queued
from twinsmith.core.operating.app import App, Release
from twinsmith.core.people.override import Override

T = TypeVar("T")
TABLES = MetaData()
APPS = Table(
    "twinsmith_apps",
    TABLES,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)
RELEASES = Table(
    "twinsmith_releases",
    TABLES,
    Column("app", String, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("value", String, nullable=False),
)
ACTIONS = Table(
    "twinsmith_actions",
    TABLES,
    Column("run", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("app", "kind", "state", "by", "at")),
    # Unique, but for those that are not let in yet.
    Column("place", Integer, unique=True),
)
OVERRIDES = Table(
    "twinsmith_overrides",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *(Column(name, String, nullable=False) for name in ("scope", "kind", "reason")),
    *(Column(name, String, nullable=False) for name in ("by", "at", "lifted")),
)
TRIES = 20


class AppTable:
    """The apps of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def get(self, name: str) -> App | None:
        """The app of that name."""
        with self._database.transaction() as connection:
            row = connection.execute(select(APPS).where(APPS.c.name == name)).mappings().first()
        return _value(row, App) if row else None

    def listed(self) -> tuple[App, ...]:
        """Every app, by name."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(APPS).order_by(APPS.c.name)).mappings()
            return tuple(_value(row, App) for row in rows)

    def save(self, app: App) -> None:
        """Keep an app; one of the same name is replaced."""
        with self._database.transaction() as connection:
            connection.execute(delete(APPS).where(APPS.c.name == app.name))
            connection.execute(insert(APPS).values(name=app.name, value=_text(app, App)))

    def remove(self, name: str) -> None:
        """Forget an app and its releases."""
        with self._database.transaction() as connection:
            connection.execute(delete(APPS).where(APPS.c.name == name))
            connection.execute(delete(RELEASES).where(RELEASES.c.app == name))


class ReleaseTable:
    """The releases of all apps of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def save(self, *releases: Release) -> None:
        """Keep releases, all or none; those of the same numbers are replaced."""
        with self._database.transaction() as connection:
            for each in releases:
                same = (RELEASES.c.app == each.app) & (RELEASES.c.number == each.number)
                connection.execute(delete(RELEASES).where(same))
                values = {"app": each.app, "number": each.number, "value": _text(each, Release)}
                connection.execute(insert(RELEASES).values(values))

    def listed(self, app: str) -> tuple[Release, ...]:
        """The releases of an app, oldest first."""
        asked = select(RELEASES).where(RELEASES.c.app == app).order_by(RELEASES.c.number)
        with self._database.transaction() as connection:
            return tuple(_value(row, Release) for row in connection.execute(asked).mappings())


class ActionTable:
    """The execution queue of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def put(self, action: Queued) -> Queued:
        """Keep an action that was asked for; one that is known stays as it is."""
        known = self._known(action.run)
        if known is not None:
            return known
        values = {**to_dict(action), "place": action.place or None}
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(ACTIONS).values(values))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self._known(action.run) or action

    def admit(self, run: str) -> Queued:
        """Let an action into the queue, behind all that are in it; once in, it keeps its place."""
        for left in reversed(range(TRIES)):
            known = self._known(run)
            assert known is not None, f"action {run} was never asked for"
            if known.place:
                return known
            last = select(func.coalesce(func.max(ACTIONS.c.place), 0)).scalar_subquery()
            change = update(ACTIONS).where(ACTIONS.c.run == run, ACTIONS.c.place.is_(None))
            try:
                with self._database.transaction() as connection:
                    connection.execute(change.values(place=last + 1, state="queued"))
            except EngineError as error:
                # Somebody took the same place at the same moment.
                if not left or not isinstance(error.__cause__, IntegrityError):
                    raise
        raise AssertionError("unreachable")

    def change(self, run: str, state: ActionState) -> None:
        """Change the state of an action; one that is over stays so."""
        open_ = ACTIONS.c.state.not_in(OVER)
        with self._database.transaction() as connection:
            connection.execute(
                update(ACTIONS).where(ACTIONS.c.run == run, open_).values(state=state)
            )

    def listed(self, *, over: bool = False) -> tuple[Queued, ...]:
        """Actions that are not over, in their order; with `over`, all there ever were."""
        asked = select(ACTIONS).order_by(ACTIONS.c.place.is_(None), ACTIONS.c.place, ACTIONS.c.at)
        if not over:
            asked = asked.where(ACTIONS.c.state.not_in(OVER))
        with self._database.transaction() as connection:
            return tuple(_queued(row) for row in connection.execute(asked).mappings())

    def _known(self, run: str) -> Queued | None:
        with self._database.transaction() as connection:
            row = connection.execute(select(ACTIONS).where(ACTIONS.c.run == run)).mappings().first()
        return _queued(row) if row else None


class OverrideTable:
    """The overrides of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def put(self, override: Override) -> None:
        """Keep an override; it holds at once."""
        with self._database.transaction() as connection:
            connection.execute(insert(OVERRIDES).values(to_dict(override)))

    def lift(self, scope: str, when: str) -> int:
        """Lift all overrides of a scope; how many there were."""
        held = update(OVERRIDES).where(OVERRIDES.c.scope == scope, OVERRIDES.c.lifted == "")
        with self._database.transaction() as connection:
            return connection.execute(held.values(lifted=when)).rowcount

    def listed(self) -> tuple[Override, ...]:
        """Every override, oldest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(OVERRIDES).order_by(OVERRIDES.c.id)).mappings()
            return tuple(
                from_json({name: row[name] for name in row if name != "id"}, Override)
                for row in rows
            )


def to_dict(value: Queued | Override) -> dict[str, object]:
    """A value of plain fields as a row."""
    data = to_json(value, type(value))
    assert isinstance(data, dict)
    return {**data}


def _queued(row: RowMapping) -> Queued:
    return from_json({**row, "place": row["place"] or 0}, Queued)


def _text(value: T, kind: type[T]) -> str:
    return json.dumps(to_json(value, kind), ensure_ascii=False)


def _value(row: RowMapping, kind: type[T]) -> T:
    return from_json(json.loads(row["value"]), kind)
