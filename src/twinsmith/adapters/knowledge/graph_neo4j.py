"""The graph in a Neo4j server, over Bolt: a kind is a label, a property is a property."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowing.graph import (
    EDGE_KINDS,
    NODE_KINDS,
    RESERVED,
    Direction,
    Edge,
    EdgeKind,
    Neighbour,
    Node,
    NodeKind,
    NodeRef,
    check_name,
    in_order,
    searchable,
)

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncManagedTransaction

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 120.0
BATCH = 1000
SCHEMES = ("bolt", "bolt+s", "neo4j", "neo4j+s")

_Work = list[tuple[str, list[dict[str, object]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a Neo4j server is, and who asks it."""

    address: str
    """Without a user and a password, so that it can be told."""
    database: str
    """Empty: the one that the server calls its own."""
    user: str
    password: str = field(repr=False)


def server_at(url: str, user: str, password: str) -> Server:
    """Read `bolt://user@host:7687/database`; a user or password in it wins over the given one."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        place = f"{host}:{parts.port or 7687}"
    except ValueError:
        raise ConfigError("graph.url is no address; write it as bolt://user@host:7687") from None
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ConfigError(
            f"graph.url with {parts.scheme!r} is no address; write it as bolt://user@host:7687"
        )
    return Server(
        address=f"{parts.scheme}://{place}",
        database=parts.path.strip("/"),
        user=unquote(parts.username or "") or user,
        password=unquote(parts.password or "") or password,
    )


class Neo4jGraph:
    """A graph that a server keeps; `close` it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._driver: AsyncDriver | None = None
        self._connecting = asyncio.Lock()
        self._has_constraints = False

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Keep nodes, all or none."""
        work: _Work = []
        known = {node.ref: node for node in nodes}.values()
        for kind in NODE_KINDS:
            rows: list[dict[str, object]] = [
                {"properties": {**n.properties, "key": n.key, "words": searchable(n.properties)}}
                for n in known
                if n.kind == kind
            ]
            query = (
                f"UNWIND $rows AS row MERGE (n:{kind} {{key: row.properties.key}}) "
                "SET n = row.properties"
            )
            work += [(query, batch) for batch in _batches(rows)]
        await self._write(work)

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Keep edges, all or none."""
        rows: dict[tuple[EdgeKind, NodeKind, NodeKind], dict[tuple[str, str], Edge]] = {}
        for edge in edges:
            ends = edge.source, edge.target
            alike = rows.setdefault((edge.kind, ends[0].kind, ends[1].kind), {})
            alike[ends[0].key, ends[1].key] = edge
        work: _Work = []
        for (kind, source, target), alike in rows.items():
            query = (
                f"UNWIND $rows AS row MERGE (a:{source} {{key: row.source}}) "
                f"MERGE (b:{target} {{key: row.target}}) "
                f"MERGE (a)-[e:{kind}]->(b) SET e = row.properties"
            )
            of_kind: list[dict[str, object]] = [
                {"source": a, "target": b, "properties": dict(edge.properties)}
                for (a, b), edge in alike.items()
            ]
            work += [(query, batch) for batch in _batches(of_kind)]
        await self._write(work)

    async def neighbours(
        self, of: Sequence[NodeRef], kinds: Sequence[EdgeKind], direction: Direction, limit: int
    ) -> tuple[Neighbour, ...]:
        """What hangs together with these nodes."""
        wanted = [kind for kind in EDGE_KINDS if kind in kinds]
        if not of or not wanted or limit <= 0:
            return ()
        left, right = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}[direction]
        found: list[Neighbour] = []
        for kind in NODE_KINDS:
            keys = list(dict.fromkeys(ref.key for ref in of if ref.kind == kind))
            query = (
                f"UNWIND $keys AS key MATCH (a:{kind} {{key: key}}){left}[e:{'|'.join(wanted)}]"
                f"{right}(b) RETURN DISTINCT a.key AS own, type(e) AS kind, properties(e) AS told, "
                "startNode(e) = a AS out, labels(b) AS labels, properties(b) AS properties "
                "ORDER BY own, kind, properties.key LIMIT $limit"
            )
            if keys:
                rows = await self._ask(query, {"keys": keys, "limit": limit})
                found += [_neighbour(NodeRef(kind=kind, key=row["own"]), row) for row in rows]
        return tuple(sorted(found, key=in_order)[:limit])

    async def find(
        self, kind: NodeKind, words: Sequence[str], where: Mapping[str, str], limit: int
    ) -> tuple[Node, ...]:
        """Nodes of a kind."""
        if limit <= 0:
            return ()
        values: dict[str, object] = {"limit": limit}
        values |= {f"word{n}": f" {word} " for n, word in enumerate(words)}
        values |= {f"where{n}": value for n, value in enumerate(where.values())}
        tests = [f"n.words CONTAINS $word{n}" for n in range(len(words))]
        needed = [f"n.{check_name(name)} = $where{n}" for n, name in enumerate(where)]
        needed += [f"({' OR '.join(tests)})"] if tests else []
        hits = " + ".join(f"CASE WHEN {test} THEN 1 ELSE 0 END" for test in tests) or "0"
        query = (
            f"MATCH (n:{kind}) {'WHERE' if needed else ''} {' AND '.join(needed)} "
            f"RETURN properties(n) AS properties, {hits} AS hits "
            "ORDER BY hits DESC, n.key LIMIT $limit"
        )
        return tuple(_node(kind, row["properties"]) for row in await self._ask(query, values))

    async def close(self) -> None:
        """Let the server go."""
        if self._driver is not None:
            await self._driver.close()

    async def _ask(self, query: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        from neo4j import unit_of_work

        async def reading(transaction: "AsyncManagedTransaction") -> list[dict[str, Any]]:
            return await (await transaction.run(query, dict(values))).data()

        with self._telling():
            driver = await self._connected()
            async with driver.session(database=self._server.database or None) as session:
                return await session.execute_read(unit_of_work(timeout=ANSWER_SECONDS)(reading))

    async def _write(self, work: _Work) -> None:
        from neo4j import unit_of_work

        if not work:
            return

        async def writing(transaction: "AsyncManagedTransaction") -> None:
            for query, rows in work:
                await (await transaction.run(query, {"rows": rows})).consume()

        with self._telling():
            driver = await self._connected()
            async with driver.session(database=self._server.database or None) as session:
                if not self._has_constraints:
                    for kind in NODE_KINDS:
                        await (await session.run(_constraint(kind))).consume()
                    self._has_constraints = True
                await session.execute_write(unit_of_work(timeout=ANSWER_SECONDS)(writing))

    async def _connected(self) -> "AsyncDriver":
        async with self._connecting:
            if self._driver is None:
                self._driver = await self._connect()
            return self._driver

    async def _connect(self) -> "AsyncDriver":
        from neo4j import AsyncGraphDatabase

        driver = AsyncGraphDatabase.driver(
            self._server.address,
            auth=(self._server.user, self._server.password),
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=CONNECT_SECONDS * 2,
            max_transaction_retry_time=CONNECT_SECONDS,
            notifications_min_severity="OFF",
        )
        try:
            # Asked first: a query would be tried again and again, with a warning each time.
            await driver.verify_connectivity()
        except BaseException:
            await driver.close()
            raise
        return driver

    @contextmanager
    def _telling(self) -> Iterator[None]:
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        where = self._server.address
        try:
            yield
        except AuthError:
            raise ConfigError(
                f"graph {where} refuses user {self._server.user!r}; set NEO4J_PASSWORD, and the "
                "user in graph.url or NEO4J_USERNAME"
            ) from None
        except (DriverError, Neo4jError, OSError) as error:
            reason = str(error).strip().split("\n", 1)[0] or type(error).__name__
            raise EngineError(
                f"graph {where} cannot be used ({reason}); start it, or change graph.url"
            ) from error


def _constraint(kind: NodeKind) -> str:
    # Two processes that make a node at the same time make it once.
    name = f"twinsmith_{kind.lower()}_key"
    return f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{kind}) REQUIRE n.key IS UNIQUE"


def _neighbour(of: NodeRef, row: Mapping[str, Any]) -> Neighbour:
    kind = next(label for label in NODE_KINDS if label in row["labels"])
    node = _node(kind, row["properties"])
    source, target = (of, node.ref) if row["out"] else (node.ref, of)
    edge = Edge(kind=row["kind"], source=source, target=target, properties=row["told"])
    return Neighbour(of=of, edge=edge, node=node)


def _node(kind: NodeKind, properties: Mapping[str, Any]) -> Node:
    own = {name: value for name, value in properties.items() if name not in RESERVED}
    return Node(kind=kind, key=properties["key"], properties=own)


def _batches(rows: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
