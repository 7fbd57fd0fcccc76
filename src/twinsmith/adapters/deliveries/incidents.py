"""Incidents in a table of SQLite or PostgreSQL, and in a dictionary."""

import json

from sqlalchemy import Boolean, Column, Float, RowMapping, String, Table, delete, insert, select

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.deliveries.tables import TABLES
from twinsmith.adapters.sql import Database
from twinsmith.core.operating.incident import Incident

INCIDENTS = Table(
    "twinsmith_incidents",
    TABLES,
    Column("id", String, primary_key=True),
    Column("opened", Float, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("value", String, nullable=False),
)


class IncidentTable:
    """All incidents of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def save(self, incident: Incident) -> None:
        """Keep an incident; one of the same name is replaced."""
        values = {
            "id": incident.id,
            "opened": incident.opened,
            "closed": incident.stage == "closed",
            "value": json.dumps(to_json(incident, Incident), ensure_ascii=False),
        }
        with self._database.transaction() as connection:
            connection.execute(delete(INCIDENTS).where(INCIDENTS.c.id == incident.id))
            connection.execute(insert(INCIDENTS).values(values))

    def get(self, name: str) -> Incident | None:
        """The incident of that name."""
        asked = select(INCIDENTS).where(INCIDENTS.c.id == name)
        with self._database.transaction() as connection:
            row = connection.execute(asked).mappings().first()
        return _incident(row) if row else None

    def listed(self, *, over: bool = False) -> tuple[Incident, ...]:
        """Incidents that are not closed, oldest first; with `over`, all there ever were."""
        asked = select(INCIDENTS).order_by(INCIDENTS.c.opened, INCIDENTS.c.id)
        if not over:
            asked = asked.where(INCIDENTS.c.closed.is_(False))
        with self._database.transaction() as connection:
            return tuple(map(_incident, connection.execute(asked).mappings()))


class MemoryIncidents:
    """Incidents in a dictionary: the fake."""

    def __init__(self) -> None:
        self._incidents: dict[str, Incident] = {}

    def save(self, incident: Incident) -> None:
        """Keep an incident; one of the same name is replaced."""
        self._incidents[incident.id] = incident

    def get(self, name: str) -> Incident | None:
        """The incident of that name."""
        return self._incidents.get(name)

    def listed(self, *, over: bool = False) -> tuple[Incident, ...]:
        """Incidents that are not closed, oldest first; with `over`, all there ever were."""
        found = [each for each in self._incidents.values() if over or each.stage != "closed"]
        return tuple(sorted(found, key=lambda each: (each.opened, each.id)))


def _incident(row: RowMapping) -> Incident:
    return from_json(json.loads(row["value"]), Incident)
