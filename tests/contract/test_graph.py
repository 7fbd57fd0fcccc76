"""What every graph must do: in memory, in a file by ladybug, in a real Neo4j 5 over Bolt."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.neo4j_server import PASSWORD, serving
from twinsmith.adapters.knowledge.graph_ladybug import LadybugGraph
from twinsmith.adapters.knowledge.graph_masked import MaskedGraph
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.adapters.knowledge.graph_neo4j import Neo4jGraph, server_at
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowing.graph import EDGE_KINDS, Edge, Node, NodeRef, asked_words
from twinsmith.core.knowing.insight import Insight, Outcome
from twinsmith.core.masking import Masking
from twinsmith.flow.insights import insights, record, tell_outcomes
from twinsmith.ports import Graph
from twinsmith.settings import load
from twinsmith.wiring.graph import opened_graph

MANY = 10_000
HOSTILE = {
    "quotes": 'it\'s "so" `here` \\ \\\' \\"',
    "cypher": "'}) DETACH DELETE n // \") MATCH (n) DETACH DELETE n; $rows {id: 1}",
    "json": '","language":"python","x":"',
    "nul": "before\0after",
    "lines": "one\r\ntwo\u2028three\ttab\x1b[31mred",
    "far": "😀 naïve İstanbul ﬁ ẞ 漢字",
    "long": "0123456789" * 10_000,
    "empty": "",
}


@pytest.fixture(scope="session")
def neo4j() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture(
    params=["memory", "ladybug", pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j"))]
)
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Graph]:
    match request.param:
        case "memory":
            yield MemoryGraph()
        case "ladybug":
            yield LadybugGraph(tmp_path / "graph.lbug")
        case _:
            async with emptied(request.getfixturevalue("neo4j")) as server:
                yield server


@asynccontextmanager
async def emptied(address: str) -> AsyncIterator[Neo4jGraph]:
    """The one server of this test run, with nothing in it."""
    from neo4j import AsyncGraphDatabase

    server = server_at(address, "", PASSWORD)
    auth = (server.user, server.password)
    async with AsyncGraphDatabase.driver(server.address, auth=auth) as driver:
        await driver.execute_query("MATCH (n) DETACH DELETE n")
    graph = Neo4jGraph(server)
    try:
        yield graph
    finally:
        await graph.close()


def task(key: str, **properties: str | float | bool) -> Node:
    return Node(kind="Task", key=key, properties=properties)


def ref(key: str) -> NodeRef:
    return NodeRef(kind="Task", key=key)


def edge(source: str, target: str, **properties: str | float | bool) -> Edge:
    return Edge(kind="CAUSED", source=ref(source), target=ref(target), properties=properties)


async def test_a_new_graph_holds_nothing(graph: Graph) -> None:
    assert await graph.find("Task", (), {}, 10) == ()
    assert await graph.neighbours([ref("a")], EDGE_KINDS, "both", 10) == ()


async def test_a_node_comes_back_with_all_kinds_of_values(graph: Graph) -> None:
    node = task("a", text="Sort it", n=-3, big=2**62, share=0.25, ok=True, bad=False)
    await graph.upsert_nodes([node])
    (found,) = await graph.find("Task", (), {}, 10)
    assert found == node
    assert {name: type(value) for name, value in found.properties.items()} == {
        name: type(value) for name, value in node.properties.items()
    }


async def test_a_node_has_the_properties_that_were_told_last(graph: Graph) -> None:
    await graph.upsert_nodes([task("a", text="sort", old="x"), task("b")])
    await graph.upsert_nodes([task("a", text="lost"), task("a", text="search")])
    assert await graph.find("Task", (), {}, 10) == (task("a", text="search"), task("b"))
    assert await graph.find("Task", ("sort",), {}, 10) == ()


async def test_a_key_is_unique_within_its_kind_only(graph: Graph) -> None:
    await graph.upsert_nodes([task("a", text="one"), Node(kind="Plan", key="a")])
    assert await graph.find("Task", (), {}, 10) == (task("a", text="one"),)
    assert await graph.find("Plan", (), {}, 10) == (Node(kind="Plan", key="a"),)


async def test_words_find_nodes_most_words_first(graph: Graph) -> None:
    nodes = [
        task("a", text="Sort a list of numbers"),
        task("b", text="readFile raises an Error", error="ZeroDivisionError: division by zero"),
        task("c", text="Sorted lists", other="numbers"),
    ]
    await graph.upsert_nodes(nodes)

    async def found(question: str) -> list[str]:
        return [node.key for node in await graph.find("Task", asked_words(question), {}, 10)]

    assert await found("list of numbers") == ["a", "c"]
    assert await found("ZeroDivisionError") == ["b"]
    assert await found("the file") == ["b"]
    assert await found("SORT") == ["a"]
    assert await found("umber") == []
    assert len(await graph.find("Task", ("list",), {}, 1)) == 1


async def test_properties_find_nodes_and_only_exactly(graph: Graph) -> None:
    trap = '"language":"go"'
    await graph.upsert_nodes([task("a", language="go"), task("b", language="gopher", text=trap)])
    assert [n.key for n in await graph.find("Task", (), {"language": "go"}, 10)] == ["a"]
    assert [n.key for n in await graph.find("Task", (), {"text": trap}, 10)] == ["b"]
    assert await graph.find("Task", ("go",), {"language": "go"}, 10) == ()
    with pytest.raises(ConfigError, match=r"property 'a = 1 OR n\.b' cannot be kept"):
        await graph.find("Task", (), {"a = 1 OR n.b": "x"}, 10)


async def test_edges_lead_to_neighbours_both_ways(graph: Graph) -> None:
    await graph.upsert_nodes([task("a"), task("b", text="second"), task("c")])
    await graph.upsert_edges([edge("a", "b", at="1"), edge("c", "a"), edge("b", "c")])
    out = await graph.neighbours([ref("a")], EDGE_KINDS, "out", 10)
    assert [(n.of, n.edge, n.node) for n in out] == [
        (ref("a"), edge("a", "b", at="1"), task("b", text="second"))
    ]
    into = await graph.neighbours([ref("a")], EDGE_KINDS, "in", 10)
    assert [(n.edge, n.node) for n in into] == [(edge("c", "a"), task("c"))]
    both = await graph.neighbours([ref("a"), ref("b")], EDGE_KINDS, "both", 10)
    assert [(n.of.key, n.node.key) for n in both] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "a"),
        ("b", "c"),
    ]
    assert await graph.neighbours([ref("a")], ["USED"], "both", 10) == ()
    assert len(await graph.neighbours([ref("a"), ref("b")], EDGE_KINDS, "both", 3)) == 3


async def test_an_edge_is_kept_once_and_brings_its_nodes(graph: Graph) -> None:
    await graph.upsert_edges([edge("a", "b", at="1"), edge("a", "b", at="2")])
    await graph.upsert_edges([edge("a", "b", at="3", why="x"), edge("a", "a")])
    found = await graph.neighbours([ref("a")], EDGE_KINDS, "both", 10)
    assert [n.edge for n in found] == [edge("a", "a"), edge("a", "b", at="3", why="x")]
    await graph.upsert_nodes([task("a", text="told")])
    await graph.upsert_edges([edge("a", "b", at="4")])
    assert await graph.find("Task", (), {}, 10) == (task("a", text="told"), task("b"))


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_text_comes_back_as_it_was(graph: Graph, name: str) -> None:
    text = HOSTILE[name]
    await graph.upsert_nodes([task("safe", text="stays"), task("odd", text=text, other=text)])
    await graph.upsert_edges([edge("odd", "safe", why=text)])
    assert await graph.find("Task", (), {"other": text}, 10) == (
        task("odd", text=text, other=text),
    )
    (neighbour,) = await graph.neighbours([ref("safe")], EDGE_KINDS, "in", 10)
    assert neighbour.edge == edge("odd", "safe", why=text)
    words = asked_words(text)
    assert "odd" in [n.key for n in await graph.find("Task", words, {}, 10)]
    assert len(await graph.find("Task", (), {}, 10)) == 2


async def test_odd_keys_and_words_are_data(graph: Graph) -> None:
    keys = ["a'b\"c`d\\", "}) DETACH DELETE n //", "😀", "x:y", "a b"]
    await graph.upsert_nodes([task(key) for key in keys])
    await graph.upsert_edges([edge(keys[0], key) for key in keys[1:]])
    found = await graph.neighbours([ref(keys[0])], EDGE_KINDS, "out", 10)
    assert {n.node.key for n in found} == set(keys[1:])
    assert await graph.find("Task", ("' OR 1 = 1 //", "\0", "%"), {}, 10) == ()


async def test_ten_thousand_nodes_and_edges(graph: Graph) -> None:
    await graph.upsert_nodes([task(f"k{n:05}", text=f"number {n}") for n in range(MANY)])
    await graph.upsert_edges([edge(f"k{n:05}", f"k{n * 7 % MANY:05}") for n in range(MANY)])
    assert len(await graph.find("Task", (), {}, 2 * MANY)) == MANY
    assert [n.key for n in await graph.find("Task", ("4711",), {}, 10)] == ["k04711"]
    refs = [ref(f"k{n:05}") for n in range(MANY)]
    assert len(await graph.neighbours(refs, EDGE_KINDS, "out", 2 * MANY)) == MANY


async def test_many_callers_at_once(graph: Graph) -> None:
    await asyncio.gather(
        *(graph.upsert_edges([edge("a", f"b{n}"), edge(f"b{n}", "a")]) for n in range(10)),
        *(graph.find("Task", (), {}, 10) for _ in range(10)),
    )
    assert len(await graph.neighbours([ref("a")], EDGE_KINDS, "both", 100)) == 20


async def test_what_a_run_learned_is_weighed_and_found(graph: Graph) -> None:
    fix = Insight(
        text="close the connection in the thread that opened it",
        kind="fix",
        language="python",
        run="run-1",
        learned="2026-11-15T10:00:00",
        error="sqlite3.ProgrammingError: SQLite objects created in a thread",
    )
    four = replace(fix, kind="counterexample", subject="f(2)", error="", text="f(2) gives 4")
    five = replace(four, text="f(2) gives 5", run="run-2", learned="2026-11-15T11:00:00")
    for _ in range(2):  # a resumed run tells everything again
        (kept, _) = await record(graph, [fix, four], task="an API", models=["m"])
        await record(graph, [five])
        for run in ("run-3", "run-4"):
            outcome = Outcome(run=run, helped=run == "run-3", at=f"2026-{run}")
            await tell_outcomes(graph, [kept.key], outcome)
    found = await insights(graph)
    assert [one.text for one in found] == [five.text, four.text, fix.text]
    assert found[0].contradicts == {found[1].key: four.text}
    assert found[1].contradicts == {found[0].key: five.text}
    assert (found[2].helped, found[2].failed, found[2].run) == (1, 1, "run-1")
    assert found[2].learned == fix.learned
    (by_error,) = await insights(graph, about="ProgrammingError")
    assert by_error == found[2]
    assert await insights(graph, about="kubernetes") == ()
    assert await insights(graph, about="?!") == ()
    assert len(await insights(graph, language="python", limit=2)) == 2
    assert await insights(graph, language="rust") == ()
    (error,) = await graph.find("Error", (), {}, 10)
    (fixed,) = await graph.neighbours([error.ref], ["FIXED_BY"], "out", 10)
    assert fixed.node.properties["text"] == fix.text


async def test_no_secret_reaches_a_graph(graph: Graph) -> None:
    masked = MaskedGraph(graph, Masking(secrets=("hunter22",)))
    await masked.upsert_nodes([task("a", text="log in with hunter22", n=1)])
    await masked.upsert_edges([edge("a", "a", why="Bearer abcdefghijklmnopqrstuvwxyz")])
    (node,) = await graph.find("Task", (), {}, 10)
    assert node.properties == {"text": "log in with [masked]", "n": 1}
    (found,) = await masked.neighbours([ref("a")], EDGE_KINDS, "out", 10)
    assert found.edge.properties == {"why": "Bearer [masked]"}


@pytest.mark.xdist_group("neo4j")
async def test_settings_choose_the_server(neo4j: str, command: Command) -> None:
    async with emptied(neo4j) as server:
        await server.upsert_nodes([])
    env = {"TWINSMITH_GRAPH_URL": neo4j, "NEO4J_PASSWORD": PASSWORD}
    learned = Insight(
        text="test with PASSWORD of tests", kind="practice", language="", run="r", learned="2026"
    )
    async with opened_graph(load({"TWINSMITH_HOME": str(command.home), **env})) as graph:
        await record(graph, [learned])
    command.env |= env
    assert "test with PASSWORD" in command("insights").stdout
    command.env["NEO4J_PASSWORD"] = "wrong-password"
    refused = command("insights", code=2)
    assert "refuses user 'neo4j'; set NEO4J_PASSWORD" in refused.stderr
    assert "wrong-password" not in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_an_address_names_who_asks_and_what() -> None:
    plain = server_at("bolt://127.0.0.1", "neo4j", "secret")
    assert (plain.address, plain.database) == ("bolt://127.0.0.1:7687", "")
    assert (plain.user, plain.password) == ("neo4j", "secret")
    full = server_at("neo4j+s://a%40b:p%2Fw@[::1]:1/shop", "neo4j", "secret")
    assert (full.address, full.database) == ("neo4j+s://[::1]:1", "shop")
    assert (full.user, full.password) == ("a@b", "p/w")
    assert "secret" not in repr(plain)
    for wrong in ("bolt://", "http://h", "bolt://h:port", "bolt://me:hunter22@h:99999"):
        with pytest.raises(ConfigError, match="write it as bolt://user@host:7687") as error:
            server_at(wrong, "neo4j", "")
        assert "hunter22" not in str(error.value)


async def test_a_server_that_is_not_there_is_told_in_one_line() -> None:
    graph = Neo4jGraph(server_at("bolt://me:hunter22@127.0.0.1:9", "", ""))
    with pytest.raises(EngineError, match=r"graph bolt://127.0.0.1:9 cannot be used") as error:
        await graph.find("Task", (), {}, 1)
    assert "\n" not in str(error.value)
    assert "hunter22" not in f"{error.value} {error.value.__cause__}"
