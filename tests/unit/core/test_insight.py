from dataclasses import replace

import pytest

from twinsmith.adapters.knowledge.graph_masked import MaskedGraph
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.core.knowing.graph import Edge, Neighbour, Node, NodeRef
from twinsmith.core.knowing.insight import (
    Insight,
    Outcome,
    contradicted,
    edges_of,
    insights_from,
    nodes_of,
    settled,
    weight,
)
from twinsmith.core.masking import Masking
from twinsmith.flow.insights import insights, record, tell_outcomes

FIX = Insight(
    text="strip 'Bearer ' before the token is read",
    kind="fix",
    language="python",
    run="run-1",
    learned="2026-11-15T10:00:00",
    error="jwt.DecodeError: not enough segments",
)
COUNTER = replace(FIX, kind="counterexample", error="", subject="f(2)", text="f(2) gives 4")


def after(*helped: bool) -> float:
    told = [Outcome(run=f"r{n}", helped=yes, at=f"{n:03}") for n, yes in enumerate(helped)]
    return weight(replace(FIX, outcomes=tuple(told)))


def test_weight_is_even_before_anything_is_known_and_follows_what_happens() -> None:
    assert after() == 0.5
    assert after(True) == pytest.approx(2 / 3)
    assert after(False) == pytest.approx(1 / 3)
    assert 0.5 < after(True, True) < after(*[True] * 20) < 1
    assert 0 < after(*[False] * 20) < after(False, False) < 0.5


def test_what_stops_helping_loses_weight_however_often_it_helped() -> None:
    weights = [after(*[True] * 50, *[False] * n) for n in range(8)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 0.85
    assert weights[5] < 0.5


def test_newer_outcomes_count_more() -> None:
    assert after(False, False, True, True) > after(True, True, False, False)


def test_what_is_kept_has_a_key_made_of_what_it_says() -> None:
    first, again = settled(FIX), settled(replace(FIX, run="run-2", learned="later"))
    assert first.key == again.key
    assert len(first.key) == 16
    others = [
        replace(FIX, text="other"),
        replace(FIX, language="go"),
        replace(FIX, kind="practice"),
        replace(FIX, error="other"),
        replace(FIX, subject="other"),
    ]
    assert len({settled(one).key for one in [FIX, *others]}) == 6
    assert settled(replace(FIX, key="given")).key == "given"


def test_what_programs_print_cannot_stop_a_run() -> None:
    kept = settled(replace(FIX, text="a\ud800b" + "x" * 200_000, error="\udcff\0"))
    assert kept.text.startswith("a?b")
    assert len(kept.text) == 20_000
    assert nodes_of([kept], "task \ud800", ["m"])


def test_a_fix_is_kept_with_its_error_its_task_and_its_models() -> None:
    fix = settled(FIX)
    nodes = {node.kind: node for node in nodes_of([fix], "an API", ["m1"])}
    assert set(nodes) == {"Model", "Insight", "Task", "Fix", "Error"}
    assert nodes["Task"].properties["text"] == "an API"
    lines = [f"{e.source.kind} {e.kind} {e.target.kind}" for e in edges_of([fix], ["m1"])]
    assert lines == [
        "Insight LEARNED_FROM Task",
        "Task USED Model",
        "Insight LEARNED_FROM Fix",
        "Task USED Fix",
        "Task CAUSED Error",
        "Error FIXED_BY Fix",
    ]


@pytest.mark.parametrize(("kind", "thing"), [("plan", "Plan"), ("practice", "Practice")])
def test_plans_and_practices_are_things_of_their_own(kind: str, thing: str) -> None:
    one = settled(replace(FIX, kind=kind, error=""))  # type: ignore[arg-type]
    assert [node.kind for node in nodes_of([one], "", ())] == ["Insight", thing]


def test_counterexamples_about_one_subject_contradict_when_they_differ() -> None:
    four = settled(COUNTER)
    (node,) = nodes_of([four], "", ())
    five = settled(replace(COUNTER, text="f(2) gives 5"))
    assert contradicted(five, [node]).contradicts == {four.key: "f(2) gives 4"}
    assert contradicted(four, [node]) == four
    for other in (
        replace(five, subject="f(3)"),
        replace(five, subject=""),
        replace(five, language="go"),
        replace(five, kind="practice"),
    ):
        assert contradicted(other, [node]).contradicts == {}


def test_of_a_run_that_told_two_outcomes_the_later_counts() -> None:
    node = Node(kind="Insight", key="k", properties={"kind": "fix", "text": "t"})

    def told(kind: str, run: str, at: str) -> Neighbour:
        task = Node(kind="Task", key=run)
        edge = Edge(kind=kind, source=node.ref, target=task.ref, properties={"at": at})  # type: ignore[arg-type]
        return Neighbour(of=node.ref, edge=edge, node=task)

    around = [
        told("HELPED", "b", "5"),
        told("HELPED", "a", "1"),
        told("FAILED", "a", "9"),
        told("LEARNED_FROM", "late", "4"),
        told("LEARNED_FROM", "early", "0"),
    ]
    (found,) = insights_from([node, Node(kind="Insight", key="empty")], around)
    assert (found.run, found.learned) == ("early", "0")
    assert [(o.run, o.helped) for o in found.outcomes] == [("b", True), ("a", False)]


async def test_a_resumed_run_counts_once() -> None:
    graph = MemoryGraph()
    for _ in range(3):
        (kept,) = await record(graph, [FIX])
        await tell_outcomes(graph, [kept.key], Outcome(run="r", helped=True, at="1"))
    (found,) = await insights(graph)
    assert (found.helped, found.failed) == (1, 0)


async def test_what_was_masked_does_not_contradict_itself() -> None:
    graph = MaskedGraph(MemoryGraph(), Masking(secrets=("hunter22",)))
    for _ in range(2):
        await record(graph, [replace(COUNTER, text="f(2) gives hunter22")])
    (found,) = await insights(graph)
    assert (found.text, found.contradicts) == ("f(2) gives [masked]", {})


async def test_two_that_contradict_in_one_run_are_told_as_such() -> None:
    graph = MemoryGraph()
    await record(graph, [COUNTER, replace(COUNTER, text="f(2) gives 5")])
    found = await insights(graph)
    assert [list(one.contradicts.values()) for one in found] == [["f(2) gives 5"], ["f(2) gives 4"]]


async def test_what_helps_comes_before_what_does_not() -> None:
    graph = MemoryGraph()
    texts = ["never", "always", "untried"]
    kept = await record(graph, [replace(FIX, text=f"tokens {text}") for text in texts])
    await tell_outcomes(graph, [kept[0].key], Outcome(run="r", helped=False, at="1"))
    await tell_outcomes(graph, [kept[1].key], Outcome(run="r", helped=True, at="1"))
    found = await insights(graph, about="token")
    assert [one.text.split()[1] for one in found] == ["always", "untried", "never"]
    assert await insights(graph, limit=0) == ()


async def test_half_of_the_words_is_enough_and_less_is_not() -> None:
    graph = MemoryGraph()
    await record(graph, [FIX])
    assert await insights(graph, about="strip a token from the header please")
    assert not await insights(graph, about="strip paint from wooden kitchen doors")


async def test_what_holds_in_every_language_belongs_to_each() -> None:
    graph = MemoryGraph()
    await record(graph, [FIX, replace(FIX, language="", text="name things well")])
    assert {one.language for one in await insights(graph, language="python")} == {"", "python"}
    assert {one.language for one in await insights(graph, language="go")} == {""}


def test_refs_and_nodes_of_an_insight_agree() -> None:
    one = settled(FIX)
    made = {node.ref for node in nodes_of([one], "t", ["m"])}
    ends = {end for edge in edges_of([one], ["m"]) for end in (edge.source, edge.target)}
    assert ends == made
    assert NodeRef(kind="Task", key="run-1") in ends
