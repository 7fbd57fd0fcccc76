"""Results that every machine of a database can fetch: a table beside the folder."""

import json
from collections.abc import Mapping

from sqlalchemy import Column, MetaData, String, Table, delete, insert, select

from twinsmith.adapters.sql import Database
from twinsmith.ports import Outbox

TABLES = MetaData()
RESULTS = Table(
    "twinsmith_results",
    TABLES,
    Column("run", String, primary_key=True),
    Column("files", String, nullable=False),
)


class ResultTable:
    """The files of all results, by run."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def save(self, run: str, files: Mapping[str, str]) -> None:
        """Keep the files of a run, all or none; those that it had are replaced."""
        values = {"run": run, "files": json.dumps(dict(files), ensure_ascii=False)}
        with self._database.transaction() as connection:
            connection.execute(delete(RESULTS).where(RESULTS.c.run == run))
            connection.execute(insert(RESULTS).values(values))

    def get(self, run: str) -> dict[str, str] | None:
        """The files of a run; None where it has none here."""
        with self._database.transaction() as connection:
            row = connection.execute(select(RESULTS.c.files).where(RESULTS.c.run == run)).first()
        return json.loads(row[0]) if row else None


class SharedOutbox:
    """Publishes to a folder, where it is this machine's, and to the table of all machines."""

    def __init__(self, folder: Outbox | None, results: ResultTable) -> None:
        self._folder = folder
        self._results = results

    async def publish(self, run: str, out: str, files: Mapping[str, str]) -> None:
        """Put all files in the folder, or none, and keep them for others."""
        if self._folder is not None:
            await self._folder.publish(run, out, files)
        self._results.save(run, files)
