"""Requests for a person's word in a table of SQLite or PostgreSQL; a decision is a message."""

import json

from sqlalchemy import Column, RowMapping, String, Table, insert, select
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.messages import TABLES, MessageTable
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.people.approval import ApprovalRequest, Decision, decision_in, message_of

REQUESTS = Table(
    "twinsmith_approvals",
    TABLES,
    Column("id", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("run", "asked", "value")),
)


class ApprovalTable:
    """All requests of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)
        self._messages = MessageTable(url)

    def put(self, request: ApprovalRequest) -> ApprovalRequest:
        """Keep a request; one that is known stays as it is, and is given back."""
        value = json.dumps(to_json(request, ApprovalRequest), ensure_ascii=False)
        values = {"id": request.id, "run": request.run, "asked": request.asked, "value": value}
        known = self.get(request.id)
        if known is not None:
            return known
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(REQUESTS).values(values))
        except EngineError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.get(request.id) or request

    def get(self, name: str) -> ApprovalRequest | None:
        """The request of that name."""
        asked = select(REQUESTS).where(REQUESTS.c.id == name)
        with self._database.transaction() as connection:
            row = connection.execute(asked).mappings().first()
        return self._request(row) if row else None

    def decide(self, name: str, decision: Decision) -> bool:
        """Keep a decision as a message to the run; False where it was decided or is too late."""
        request = self.get(name)
        return request is not None and self._messages.put(
            request.run, request.id, message_of(decision)
        )

    def listed(self) -> tuple[ApprovalRequest, ...]:
        """Every request, oldest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(REQUESTS).order_by(REQUESTS.c.asked, REQUESTS.c.id))
            found = list(rows.mappings())
        return tuple(map(self._request, found))

    def _request(self, row: RowMapping) -> ApprovalRequest:
        from dataclasses import replace

        request = from_json(json.loads(row["value"]), ApprovalRequest)
        said = decision_in(self._messages.get(request.run, request.id))
        return replace(request, decision=said)
