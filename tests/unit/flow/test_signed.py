"""Every event of a run is signed by who acted: a rule is no critic, nor is a review tool."""

from tests.worlds import DOUBLE, SQUARE, World, job_of, saying

ACTORS = {
    "model.asked": {"coder", "critic"},
    "model.replied": {"coder", "critic"},
    "candidate.executed": {"sandbox"},
    "candidate.inspected": {"reviewer"},
    "candidates.compared": {"selection"},
    "stage.started": {"twinsmith"},
    "stage.finished": {"twinsmith"},
    "result.published": {"twinsmith"},
}


async def test_events_are_signed_by_who_acted() -> None:
    world = World(saying(coder=[DOUBLE, SQUARE]))
    await world.build(job_of())
    seen: dict[str, set[str]] = {}
    for entry in world.journal.entries("r1"):
        seen.setdefault(entry.event.kind, set()).add(entry.event.who)
    assert {kind: seen[kind] for kind in ACTORS} == ACTORS
