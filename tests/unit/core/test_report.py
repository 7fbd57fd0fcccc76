import json
from dataclasses import replace

from tests.proposals import proposals
from tests.worlds import job_of, passage
from twinsmith.core.budget import Spent
from twinsmith.core.checks.result_tests import tests_of as checks_of
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.probe import Call, read_tests
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate, Program
from twinsmith.core.report import copied, markdown, report_json
from twinsmith.core.verdict import Finding, Verdict

SOURCE = "def double(n):\n    return n * 2\n"
PROGRAM = Program(source=SOURCE, entry="double")
JOB = job_of("double\n a number")
CHOSEN = Candidate(number=2, program=PROGRAM, ensemble=2, way="planned", repairs=("a quote",))
POOL = Pool().with_candidates([Candidate(number=1, program=None, problem="a poem"), CHOSEN])
WORK = Work(
    profile=Profile(entry="double", question="Of text, too?", assumed="no", answer="yes"),
    pieces=(Hit(passage=passage(f"# notes\n{SOURCE}"), score=0.8, channel="dense"),),
    pool=POOL,
    selection=Selection(winner=2, confidence=0.91, clusters=((2,), (1,))),
    plans={2: "Add it to itself."},
)
NOTE = Finding(what="failed", where="double(2) == 5", evidence="double(2)\ngave 4", severity="note")
END = RunOutcome(
    run="r1",
    solved=True,
    reason="candidate 2 passes 3 of 4 checks",
    out="/out",
    verdicts=(
        Verdict(candidate=1, accepted=False, passed=0, total=4),
        Verdict(candidate=2, accepted=True, passed=3, total=4, findings=(NOTE,)),
    ),
    winner=2,
    confidence=0.91234,
    spent=Spent(tokens=1234, seconds=5.67, usd=0.0123, unpriced=1),
    models=("m:one",),
)


def test_a_script_finds_everything() -> None:
    told = json.loads(report_json(JOB, WORK, END))
    assert (told["solved"], told["winner"], told["confidence"]) == (True, 2, 0.912)
    assert (told["task"], told["language"], told["kind"]) == (JOB.task.text, "python", "function")
    assert (told["assumed"], told["plans"]) == ("yes", {"2": "Add it to itself."})
    assert told["candidates"][0]["problem"] == "a poem"
    assert (told["candidates"][1]["way"], told["candidates"][1]["repairs"]) == (
        "planned",
        ["a quote"],
    )
    assert told["verdicts"][1]["findings"][0]["severity"] == "note"
    assert told["ways"] == [[2], [1]]
    (piece,) = told["pieces"]
    assert (piece["source"], piece["licence"], piece["version"]) == ("notes", "MIT", "v1")
    assert told["copied"] == 1.0
    assert (told["tokens"], told["seconds"], told["usd"], told["unpriced"]) == (
        *(1234, 5.7, 0.0123),
        1,
    )
    assert (told["models"], told["seed"]) == (["m:one"], 7)


def test_a_person_reads_the_same() -> None:
    text = markdown(JOB, WORK, END)
    assert text.startswith("# Solved\n\n> double a number\n\ncandidate 2 passes 3 of 4 checks.\n")
    assert "Run `r1`, seed 7: 1234 tokens, 6 s, 0.0123 USD.\nModels: m:one.\n" in text
    assert "## Assumed\n\nOf text, too? yes\n" in text
    assert "## Plan of ensemble 2\n\nAdd it to itself.\n" in text
    assert "- 1 (ensemble 1, direct): 0 of 4 checks\n" in text
    assert "- 2 (ensemble 2, planned): **chosen**, 3 of 4 checks\n  - mended: a quote\n" in text
    assert "  - double(2) == 5 failed: double(2) gave 4\n" in text
    assert "100 % of the program stands in them word for word.\n- notes: p.py\n" in text


def test_where_there_is_nothing_to_tell_nothing_is_told() -> None:
    end = replace(END, solved=False, verdicts=(), winner=None, models=())
    text = markdown(JOB, Work(problem="why"), end)
    assert text.startswith("# Not solved\n")
    assert "Models: none." in text
    assert not any(word in text for word in ("Assumed", "Plan", "Pieces", "chosen"))
    assert json.loads(report_json(JOB, Work(), end))["copied"] == 0.0


def test_only_what_is_no_accident_counts_as_copied() -> None:
    whole = f"# notes\n{SOURCE}"
    assert copied(CHOSEN, ["def double(n): return n + n"]) == 0.0
    assert copied(CHOSEN, [whole, whole, ""]) == 1.0
    half = replace(CHOSEN, program=replace(PROGRAM, source=SOURCE + "#" * len(SOURCE)))
    assert copied(half, [whole]) == 0.5
    assert copied(None, [whole]) == 0.0


def ran(pool: Pool, *values: str, winner: int = 2) -> Pool:
    results = tuple(ProbeResult(name="p", outcome="passed", value=value) for value in values)
    return pool.with_execution(Execution(candidate=winner, results=results))


def test_tests_hold_what_the_program_passes_and_only_that() -> None:
    given = read_tests(
        "from solution import double\nassert double(4) == 8\n\ndef test_big():\n"
        "    assert double(100) == 200\n",
        file="t",
    )
    pool = POOL.with_given(given).with_proposed(
        proposals(
            {"assert double(1) == 2": 1, "assert double(3) == 9": 1, "assert double(2) > 3": 1}
        ),
        1,
    )
    name, text = checks_of(PROGRAM, ran(pool, "8", "", "2", "6", ""), 2, ())
    assert name == "test_solution.py"
    assert "assert double(4) == 8" in text
    assert "def test_big():\n    assert double(100) == 200\n" in text
    assert "assert double(1) == 2" in text
    assert "assert double(2) > 3" in text
    # What a critic proposed and the program does not do is no test of it.
    assert "double(3)" not in text
    space: dict[str, object] = {}
    exec(text.replace("from solution import double\n", SOURCE), space)
    tests = [value for key, value in space.items() if key.startswith("test_")]
    assert len(tests) == 4
    for test in tests:
        assert callable(test)
        test()


def test_in_another_language_there_is_a_table_of_calls_and_results() -> None:
    program = replace(PROGRAM, language="go", entry="Double")
    pool = replace(POOL, exact=False).with_proposed(proposals({"assert Double(4) == 8": 1}), 1)
    name, text = checks_of(program, ran(pool, "8"), 2, ())
    assert name == "checks.json"
    assert json.loads(text) == [{"call": "Double(4)", "result": "8"}]


def test_few_checks_are_filled_up_with_what_candidates_agree_on() -> None:
    pool = POOL.with_given(read_tests("assert double(4) == 8\n", file="t.py"))
    calls = [Call(function="double", args=(str(n),)) for n in range(100, 80, -1)]
    pool = pool.with_inputs(calls).with_candidates([replace(CHOSEN, number=3)])
    values = ["8", *(str(2 * n) for n in range(100, 80, -1))]
    pool = ran(pool, *values)
    alone = checks_of(PROGRAM, pool, 2, ())[1]
    assert alone.count("assert") == 1
    pool = pool.with_execution(Execution(candidate=3, results=pool.seen[2]))
    text = checks_of(PROGRAM, pool, 2, ())[1]
    assert text.count("assert") == 10
    assert "assert double(81) == 162" not in text
    assert "assert double(99) == 198" in text
    assert "assert double(100)" not in text
