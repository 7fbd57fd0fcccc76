"""Which graph remembers what was learned, by the settings: a file, or a Neo4j server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.ports import Graph
    from twinsmith.settings import Settings

FILE = "graph.lbug"


@asynccontextmanager
async def opened_graph(settings: "Settings") -> "AsyncIterator[Graph]":
    """The graph, for as long as the block lasts; no secret reaches it."""
    from twinsmith.adapters.knowledge.graph_masked import MaskedGraph

    url = settings.values.graph.url
    if not url:
        from twinsmith.adapters.knowledge.graph_ladybug import LadybugGraph

        yield MaskedGraph(LadybugGraph(settings.home / "graph" / FILE), settings.masking)
        return
    from twinsmith.adapters.knowledge.graph_neo4j import Neo4jGraph, server_at

    user = settings.users.get("graph", "neo4j")
    server = Neo4jGraph(server_at(url, user, settings.keys.get("graph", "")))
    try:
        yield MaskedGraph(server, settings.masking)
    finally:
        await server.close()
