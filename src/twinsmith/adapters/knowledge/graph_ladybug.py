"""The graph in one file of the data folder, by ladybug.

Ladybug lets one process write, and a reader beside it may see half a checkpoint. So the file is
open only as long as one call lasts, some milliseconds, and a lock of our own puts the callers in
a row: any number of readers, or one writer. The kernel frees the lock of a process that dies; what
that process left unfinished is recovered by the next one, be it a reader.
"""

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from twinsmith.core.errors import EngineError
from twinsmith.core.knowing.graph import (
    EDGE_KINDS,
    Direction,
    Edge,
    EdgeKind,
    Neighbour,
    Node,
    NodeKind,
    NodeRef,
    Value,
    check_name,
    in_order,
    searchable,
)

if TYPE_CHECKING:
    from ladybug import Connection

T = TypeVar("T")

PATIENCE = 10.0
BATCH = 1000
# Room for one call, taken only as it is used; and the largest file, of which ladybug reserves the
# addresses (its own default, 8 TB, is refused where addresses are limited).
MEMORY = 512 * 2**20
LARGEST = 2**36
# What lies beside the file while it is written to, and after a writer was killed.
_UNFINISHED = (".wal", ".wal.checkpoint", ".shadow")
_PAUSE = 0.01
_THING = "id STRING PRIMARY KEY, kind STRING, key STRING, words STRING, properties STRING"
_SCHEMA = (
    f"CREATE NODE TABLE IF NOT EXISTS Thing({_THING})",
    *(
        f"CREATE REL TABLE IF NOT EXISTS {kind}(FROM Thing TO Thing, properties STRING)"
        for kind in EDGE_KINDS
    ),
)
_NODES = (
    "UNWIND $rows AS row MERGE (n:Thing {id: row.id}) "
    "SET n.kind = row.kind, n.key = row.key, n.words = row.words, n.properties = row.properties"
)
_ENDS = (
    "UNWIND $rows AS row MERGE (n:Thing {id: row.id}) "
    "ON CREATE SET n.kind = row.kind, n.key = row.key, n.words = ' ', n.properties = '{}'"
)


class LadybugGraph:
    """A graph that lies in a file."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Keep nodes, all or none; what this returns from survives the process."""
        rows = {
            _id(node.ref): {
                "id": _id(node.ref),
                "kind": node.kind,
                "key": node.key,
                "words": searchable(node.properties),
                "properties": _written(node.properties),
            }
            for node in nodes
        }
        await self._write([(_NODES, batch) for batch in _batches(list(rows.values()))])

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Keep edges, all or none."""
        known = {(e.kind, _id(e.source), _id(e.target)): e for e in edges}
        refs = {end for edge in known.values() for end in (edge.source, edge.target)}
        ends = [{"id": _id(ref), "kind": ref.kind, "key": ref.key} for ref in refs]
        work = [(_ENDS, batch) for batch in _batches(ends)]
        for kind in EDGE_KINDS:
            rows = [
                {"source": source, "target": target, "properties": _written(edge.properties)}
                for (of, source, target), edge in known.items()
                if of == kind
            ]
            work += [(_edges(kind), batch) for batch in _batches(rows)]
        await self._write(work)

    async def neighbours(
        self, of: Sequence[NodeRef], kinds: Sequence[EdgeKind], direction: Direction, limit: int
    ) -> tuple[Neighbour, ...]:
        """What hangs together with these nodes."""
        asked = {_id(ref): ref for ref in of}
        wanted = [kind for kind in EDGE_KINDS if kind in kinds]
        if not asked or not wanted or limit <= 0:
            return ()
        values = {"ids": list(asked), "limit": limit}

        def work(connection: "Connection") -> list[Neighbour]:
            found: dict[tuple[object, ...], Neighbour] = {}
            for out in (True, False):
                if direction == ("in" if out else "out"):
                    continue
                for row in _rows(connection, _around(wanted, out=out), values):
                    neighbour = _neighbour(asked[str(row[0])], row, out=out)
                    edge = neighbour.edge
                    # An edge from a node to itself is found both ways.
                    found[neighbour.of, edge.kind, edge.source, edge.target] = neighbour
            return list(found.values())

        return tuple(sorted(await self._read(work), key=in_order)[:limit])

    async def find(
        self, kind: NodeKind, words: Sequence[str], where: Mapping[str, str], limit: int
    ) -> tuple[Node, ...]:
        """Nodes of a kind."""
        if limit <= 0:
            return ()
        values: dict[str, object] = {"kind": kind, "limit": limit}
        values |= {f"word{n}": f" {word} " for n, word in enumerate(words)}
        # A quote in a value is written with a backslash before it, so that this is never part
        # of one.
        values |= {
            f"where{n}": _written({check_name(name): value})[1:-1]
            for n, (name, value) in enumerate(where.items())
        }
        tests = [f"n.words CONTAINS $word{n}" for n in range(len(words))]
        needed = [
            "n.kind = $kind",
            *(f"n.properties CONTAINS $where{n}" for n in range(len(where))),
        ]
        needed += [f"({' OR '.join(tests)})"] if tests else []
        hits = " + ".join(f"CASE WHEN {test} THEN 1 ELSE 0 END" for test in tests) or "0"
        query = (
            f"MATCH (n:Thing) WHERE {' AND '.join(needed)} "
            f"RETURN n.kind, n.key, n.properties, {hits} AS hits "
            "ORDER BY hits DESC, n.key LIMIT $limit"
        )
        rows = await self._read(lambda connection: _rows(connection, query, values))
        return tuple(_node(*row[:3]) for row in rows)

    async def _write(self, work: Sequence[tuple[str, list[dict[str, str]]]]) -> None:
        if not work:
            return

        def all_of_it(connection: "Connection") -> None:
            _rows(connection, "BEGIN TRANSACTION")
            for statement in _SCHEMA:
                _rows(connection, statement)
            for query, batch in work:
                _rows(connection, query, {"rows": batch})
            _rows(connection, "COMMIT")

        await self._locked(all_of_it, writing=True)

    async def _read(self, work: "Callable[[Connection], list[T]]") -> list[T]:
        def if_there(connection: "Connection") -> list[T]:
            tables = {str(row[0]) for row in _rows(connection, "CALL show_tables() RETURN name")}
            return work(connection) if "Thing" in tables else []

        return await self._locked(if_there, writing=False) if self._path.exists() else []

    async def _locked(self, work: "Callable[[Connection], T]", *, writing: bool) -> T:
        """Wait for the file, then do the work in a thread; the thread gives the file back."""
        lock = self._lock_file()
        try:
            alone = await self._turn(lock, writing=writing)
        except BaseException:
            os.close(lock)
            raise

        def then_let_go() -> T:
            try:
                with self._opened(writing=alone) as connection:
                    return work(connection)
            finally:
                os.close(lock)

        # Whoever stops waiting must not take the file away from the thread that uses it.
        return await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(then_let_go)))

    async def _turn(self, lock: int, *, writing: bool) -> bool:
        """Wait for the lock; whether it is held alone, as recovering needs it, too."""
        deadline = time.monotonic() + self._patience
        while True:
            alone = writing or self._unfinished()
            if _taken(lock, alone=alone) and (alone or not self._unfinished()):
                return alone
            if time.monotonic() > deadline:
                raise EngineError(
                    f"graph {self._path} has been in use for {self._patience:g} seconds; "
                    "try again when the other twinsmith process has ended"
                )
            await asyncio.sleep(_PAUSE)

    def _unfinished(self) -> bool:
        return any(self._path.with_name(f"{self._path.name}{e}").exists() for e in _UNFINISHED)

    def _lock_file(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._path.with_name(f"{self._path.name}.lock")
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EngineError(
                f"graph {self._path} cannot be used: {error.strerror}; mend the folder's rights"
            ) from None

    @contextmanager
    def _opened(self, *, writing: bool) -> "Iterator[Connection]":
        from ladybug import Connection, Database

        try:
            with (
                Database(
                    self._path,
                    read_only=not writing,
                    buffer_pool_size=MEMORY,
                    max_db_size=LARGEST,
                    max_num_threads=1,
                ) as database,
                Connection(database, num_threads=1) as connection,
            ):
                yield connection
        except RuntimeError as error:
            reason = str(error).splitlines()[0].strip() if str(error) else "no reason given"
            raise EngineError(
                f"graph {self._path} cannot be used ({reason}); if it is damaged, move it away: "
                "what was learned is lost, and new runs learn anew"
            ) from error


def _taken(lock: int, *, alone: bool) -> bool:
    try:
        fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _rows(
    connection: "Connection", query: str, values: Mapping[str, object] | None = None
) -> list[Any]:
    result = connection.execute(query, dict(values or {}))
    assert not isinstance(result, list)
    with result:
        return result.get_all()


def _edges(kind: EdgeKind) -> str:
    # Two MATCHes: with both nodes in one, ladybug joins by scanning and takes 20 times as long.
    return (
        "UNWIND $rows AS row MATCH (a:Thing {id: row.source}) "
        "MATCH (b:Thing {id: row.target}) "
        f"MERGE (a)-[e:{kind}]->(b) SET e.properties = row.properties"
    )


def _around(kinds: Sequence[EdgeKind], *, out: bool) -> str:
    left, right = ("-", "->") if out else ("<-", "-")
    return (
        f"UNWIND $ids AS id MATCH (a:Thing {{id: id}}){left}[e:{'|'.join(kinds)}]{right}"
        f"(b:Thing) RETURN a.id AS own, label(e) AS kind, e.properties, b.kind, b.key AS other, "
        "b.properties ORDER BY own, kind, other LIMIT $limit"
    )


def _neighbour(of: NodeRef, row: Sequence[Any], *, out: bool) -> Neighbour:
    _, kind, properties, *other = row
    node = _node(*other)
    source, target = (of, node.ref) if out else (node.ref, of)
    edge = Edge(kind=kind, source=source, target=target, properties=json.loads(properties))
    return Neighbour(of=of, edge=edge, node=node)


def _node(kind: Any, key: Any, properties: Any) -> Node:  # noqa: ANN401
    return Node(kind=kind, key=key, properties=json.loads(properties))


def _id(ref: NodeRef) -> str:
    return f"{ref.kind}:{ref.key}"


def _written(properties: Mapping[str, Value]) -> str:
    return json.dumps(dict(properties), separators=(",", ":"))


def _batches(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
