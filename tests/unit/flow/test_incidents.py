"""Incidents in the graph: what helped and what did not is found the next time."""

from dataclasses import replace

from tests.unit.core.test_remedy import incident
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.core.knowing.graph import NodeRef
from twinsmith.core.operating.incident import Attempt
from twinsmith.core.operating.trouble import Evidence, Trouble
from twinsmith.flow.incidents import learn, similar

SAID = Evidence(said=("ZeroDivisionError: division by zero",))
WRONG = Attempt(run="r-1", cause="rounding", why="no version passes the check that fails")
RIGHT = Attempt(run="r-2", cause="an empty cart", release=3, why="it is well", helped=True)
OVER = replace(incident("errors"), evidence=SAID, attempts=(WRONG, RIGHT))
DIFFS = {"r-1": "-a\n+b", "r-2": "-1 / len(rows)\n+len(rows)"}


def trouble(said: str, name: str = "another") -> Trouble:
    return Trouble(incident=name, kind="errors", told="30% fail", evidence=Evidence(said=(said,)))


async def test_causes_fixes_and_releases_stand_around_an_incident() -> None:
    graph = MemoryGraph()
    for _ in range(2):
        await learn(OVER, DIFFS, graph)
    own = [NodeRef(kind="Incident", key=OVER.id)]
    causes = await graph.neighbours(own, ("CAUSED",), "in", 10)
    assert {each.node.properties["text"] for each in causes} == {"rounding", "an empty cart"}
    (fix,) = await graph.neighbours(own, ("FIXED_BY",), "out", 10)
    assert fix.node.properties["text"] == DIFFS["r-2"]
    (failed,) = await graph.neighbours(own, ("FAILED",), "out", 10)
    assert failed.node.properties["why"] == WRONG.why
    (release,) = await graph.neighbours([fix.node.ref], ("USED",), "in", 10)
    assert release.node.key == f"{OVER.app} 3"


async def test_what_helped_and_what_did_not_is_told_in_like_trouble_only() -> None:
    graph = MemoryGraph()
    await learn(OVER, DIFFS, graph)
    (told,) = await similar(trouble("ZeroDivisionError: float division by zero"), graph)
    assert "mended by: -1 / len(rows)" in told.text
    assert "not mended by: -a" in told.text
    assert "caused by: an empty cart" in told.text
    assert await similar(trouble("KeyError: 'title'"), graph) == ()
    # An incident is not told of itself.
    assert await similar(trouble("ZeroDivisionError: division by zero", OVER.id), graph) == ()
