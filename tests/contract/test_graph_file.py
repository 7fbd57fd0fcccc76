"""The graph in a file: processes that die, processes side by side, files that are no graph."""

import asyncio
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import until
from twinsmith.adapters.knowledge.graph_ladybug import LadybugGraph
from twinsmith.core.errors import EngineError
from twinsmith.core.knowing.graph import Node

WRITER = """
import asyncio, sys
from pathlib import Path
from twinsmith.adapters.knowledge.graph_ladybug import LadybugGraph
from twinsmith.core.knowing.graph import Edge, Node, NodeRef

async def main(path, name, most):
    graph = LadybugGraph(Path(path))
    for n in range(int(most)):
        ends = [NodeRef(kind="Task", key=f"{name}-{n}"), NodeRef(kind="Model", key="m")]
        await graph.upsert_nodes([Node(kind="Task", key=f"{name}-{n}", properties={"n": n})])
        await graph.upsert_edges([Edge(kind="USED", source=ends[0], target=ends[1])])
        print(f"{name}-{n}", flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


HALF = """
import os, sys
from ladybug import Connection, Database

connection = Connection(Database(sys.argv[1]))
connection.execute("MATCH (n:Thing {key: 'a'}) SET n.properties = '{\\"n\\":2}'")
os.kill(os.getpid(), 9)
"""


def writer(path: Path, name: str, most: int) -> "subprocess.Popen[str]":
    line = [sys.executable, "-c", WRITER, str(path), name, str(most)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


async def kept(graph: LadybugGraph) -> set[str]:
    """The tasks that have their property and their edge."""
    nodes = [n for n in await graph.find("Task", (), {}, 10_000) if "n" in n.properties]
    found = await graph.neighbours([node.ref for node in nodes], ["USED"], "out", 10_000)
    return {neighbour.of.key for neighbour in found}


async def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    graph = LadybugGraph(tmp_path / "graph.lbug")
    told: list[str] = []
    for life in range(5):
        with writer(tmp_path / "graph.lbug", f"life{life}", 10_000) as process:
            assert process.stdout is not None
            told += [process.stdout.readline().strip() for _ in range(2 + life % 2)]
            process.kill()
            told += [line.strip() for line in process.stdout if line.endswith("\n")]
        assert set(told) <= await kept(graph)
    assert len(told) >= 12


async def test_a_reader_recovers_what_a_killed_writer_left(tmp_path: Path) -> None:
    path = tmp_path / "graph.lbug"
    graph = LadybugGraph(path)
    await graph.upsert_nodes([Node(kind="Task", key="a", properties={"n": 1})])
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", HALF, str(path)], check=False)
    assert (tmp_path / "graph.lbug.wal").exists()
    (found,) = await graph.find("Task", (), {}, 1)
    assert found.properties == {"n": 2}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["graph.lbug", "graph.lbug.lock"]


async def test_two_processes_write_and_a_third_reads(tmp_path: Path) -> None:
    path, most = tmp_path / "graph.lbug", 10
    graph = LadybugGraph(path)
    writers = [writer(path, name, most) for name in ("one", "two")]
    seen = 0
    while any(process.poll() is None for process in writers):
        now = len(await graph.find("Task", (), {}, 1000))
        assert now >= seen
        seen = now
        await asyncio.sleep(0.05)
    for process in writers:
        assert process.stdout is not None
        process.stdout.close()
    assert [process.returncode for process in writers] == [0, 0]
    assert await kept(graph) == {f"{name}-{n}" for name in ("one", "two") for n in range(most)}


async def test_waiting_has_an_end_and_one_clear_line(tmp_path: Path) -> None:
    graph = LadybugGraph(tmp_path / "graph.lbug", patience=0.1)
    node = Node(kind="Task", key="a")
    await graph.upsert_nodes([node])
    lock = os.open(tmp_path / "graph.lbug.lock", os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for call in (graph.find("Task", (), {}, 1), graph.upsert_nodes([node])):
            with pytest.raises(EngineError, match=r"has been in use for 0\.1 seconds; try again"):
                await call
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert await graph.find("Task", (), {}, 1) == (node,)
    finally:
        os.close(lock)
    await graph.upsert_nodes([node])


async def test_a_caller_that_gives_up_leaves_the_file_free(tmp_path: Path) -> None:
    graph = LadybugGraph(tmp_path / "graph.lbug")
    many = [Node(kind="Task", key=f"k{n}") for n in range(2000)]
    call = asyncio.create_task(graph.upsert_nodes(many))
    await asyncio.to_thread(until, (tmp_path / "graph.lbug").exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(await graph.find("Task", (), {}, 3000)) == 2000


async def test_looking_makes_no_file(tmp_path: Path) -> None:
    await LadybugGraph(tmp_path / "none" / "graph.lbug").find("Task", (), {}, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", ["text", "cut", "folder"])
async def test_a_file_that_is_no_graph_says_what_to_do(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "graph.lbug"
    graph = LadybugGraph(path)
    if wrong == "folder":
        path.mkdir()
    elif wrong == "text":
        path.write_text("hello\n" * 2000)
    else:
        await graph.upsert_nodes([Node(kind="Task", key=f"k{n}") for n in range(100)])
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for call in (graph.find("Task", (), {}, 1), graph.upsert_nodes([Node(kind="Task", key="a")])):
        with pytest.raises(EngineError, match="if it is damaged, move it away") as error:
            await call
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    graph = LadybugGraph(tmp_path / "file" / "graph.lbug")
    with pytest.raises(EngineError, match=r"cannot be used: .*; mend the folder's rights"):
        await graph.upsert_nodes([Node(kind="Task", key="a")])
