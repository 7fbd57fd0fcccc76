"""What coders are told of an earlier version: why it was refused, what it failed, what it said."""

from dataclasses import replace

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.planning.mending import (
    LONGEST_TOLD,
    MOST_TOLD,
    complaints,
    told_about,
    told_about_all,
)
from twinsmith.core.planning.requirement import Requirement
from twinsmith.core.planning.standing import Standing
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate, Program
from twinsmith.core.verdict import Finding

SOURCE = """def add_item(user, product):
    return 201, {}


def see_total(user):
    return 200, db.execute(f"SELECT {user}")
"""
NAMES = frozenset({"add_item", "see_total"})
DIALOGUE = Probe(
    name="see_total('ann') == 3",
    origin="plan",
    source="first = add_item('ann', 'pear')\nassert first\nassert see_total('ann') == 3",
    about=2,
    fresh=True,
)
SQL = Probe(
    name="create is not upset by SQL in any value",
    origin="plan",
    source="calm(create('ten', token))",
    functions=("add_item",),
)
SAID = [
    ["POST", "/register", 201, "application/json", "{}"],
    ["POST", "/login", 200, "application/json", '{"token": "x"}'],
    ["POST", "/cart/items", 201, "application/json", '{"id": 1}'],
    ["GET", "/cart/total", 200, "application/json", '{"total": 1.5}'],
]
UNMET = Standing(requirement=Requirement(number=2, what="t", quote="see the total"), why="no")
MET = Standing(requirement=Requirement(number=2, what="t", quote="see the total"))
INJECTION = Finding(
    what="SQL is put together from text; use ? for every value",
    where="line 6",
    evidence='db.execute(f"SELECT {user}")',
    severity="blocking",
)


def pool(*probes: Probe, detail: str = "", given: bool = False, said: object = None) -> Pool:
    """One candidate that fails all of these."""
    made = Pool().with_candidates([Candidate(number=1, program=Program(source=SOURCE))])
    for probe in probes:
        made = made.with_check(probe, given=given, ensemble=1)
    results = tuple(
        ProbeResult(name=p.name, outcome="failed", detail=detail, value=repr(said) if said else "")
        for p in probes
    )
    return made.with_execution(Execution(candidate=1, results=results))


def test_who_answered_without_a_value_is_blamed_not_who_was_asked_with_it() -> None:
    source = "first = add_item('ann', 'pear')\nsecond = see_total(first['id'])\nassert second == 3"
    probe = replace(DIALOGUE, source=source)
    detail = "second = see_total(first['id']) (the answer holds no 'id'): POST /cart/items gave 201"
    (found,) = complaints(pool(probe, detail=detail, said=SAID), 1, NAMES, [UNMET])
    assert found.functions == {"add_item"}


def test_a_dialogue_is_told_with_what_was_answered_to_the_function_of_the_failing_line() -> None:
    detail = "assert see_total('ann') == 3: GET /cart/total gave 200"
    found = complaints(pool(DIALOGUE, detail=detail, said=SAID), 1, NAMES, [UNMET])
    assert told_about("see_total", found) == (
        "An earlier version failed this test:\n"
        f"{DIALOGUE.source}\n"
        'POST /cart/items answered 201 {"id": 1}\n'
        'GET /cart/total answered 200 {"total": 1.5}'
    )
    assert told_about("add_item", found) == ""


def test_where_no_line_is_named_all_that_are_called_are_told() -> None:
    found = complaints(pool(DIALOGUE, detail="no answer in 5 s"), 1, NAMES, [UNMET])
    assert told_about("add_item", found).endswith("\nno answer in 5 s")
    assert told_about("see_total", found) == told_about("add_item", found)


def test_a_critics_opinion_about_what_was_shown_is_not_told() -> None:
    assert complaints(pool(DIALOGUE, detail="x"), 1, NAMES, [MET]) == ()
    # What decides is told, whatever was shown.
    assert complaints(pool(DIALOGUE, detail="x", given=True), 1, NAMES, [MET])


def test_a_check_in_words_names_what_was_sent() -> None:
    detail = "calm(create('ten', token)) (want less than 500; sent {'product': \"' OR '1'='1\"})"
    found = complaints(pool(SQL, detail=detail), 1, NAMES, [])
    told = f"An earlier version failed: {SQL.name}: {detail}"
    assert (told_about("add_item", found), told_about("see_total", found)) == (told, "")


def test_what_refuses_a_program_comes_first_and_is_told_to_whose_line_it_is() -> None:
    barred = pool(SQL, detail="x").with_findings(1, (INJECTION,), barred=True)
    found = complaints(barred, 1, NAMES, [])
    told = (
        "An earlier version was refused: SQL is put together from text; use ? for every value, "
        'as in: db.execute(f"SELECT {user}")'
    )
    assert told_about("see_total", found) == told
    assert told_about_all(found).splitlines()[0] == told
    note = Finding(what="w", where="line 6", evidence="e", severity="note")
    assert complaints(pool().with_findings(1, (note,), barred=False), 1, NAMES, []) == ()


def test_a_program_that_does_not_start_says_why_to_who_wrote_all_of_it() -> None:
    broken = Pool().with_candidates([Candidate(number=1, program=Program(source="import x\n"))])
    broken = broken.with_execution(Execution(candidate=1, results=(), problem="no module x"))
    found = complaints(broken, 1, NAMES, [])
    assert told_about_all(found) == "An earlier version does not start: no module x"
    assert told_about("add_item", found) == ""


def test_what_is_told_is_bounded() -> None:
    many = [
        Probe(name=f"check {n}", origin="plan", source=f"f({n})", functions=("add_item",))
        for n in range(9)
    ]
    found = complaints(pool(*many, detail="x" * 5000), 1, NAMES, [])
    assert len(found) == 9
    assert len(told_about("add_item", found)) <= MOST_TOLD * (LONGEST_TOLD + 1)
