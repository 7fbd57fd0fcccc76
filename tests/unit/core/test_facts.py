"""What the journal is told of a search: bounded, and in the order that a person looks for it."""

import json

from twinsmith.core.board_items import Share
from twinsmith.core.events import Json
from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.facts import (
    LONGEST_SOURCE,
    LONGEST_TEXT,
    MOST_CHECKS,
    MOST_FINDINGS,
    MOST_LINES,
    cut,
    facts_of_candidate,
    facts_of_check,
    facts_of_crossing,
    facts_of_findings,
    facts_of_plan,
    facts_of_selection,
    facts_of_wrong,
    shown_checks,
)
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import BY_THE_WORDS, Selection
from twinsmith.core.masking import Masking
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Candidate, Program, SourceFile
from twinsmith.core.verdict import Finding


def candidate(number: int, source: str, *files: SourceFile) -> Candidate:
    return Candidate(number=number, program=Program(source=source, files=files))


def double(argument: str, expected: str) -> Probe:
    call = Call(function="double", args=(argument,), expected=expected)
    return Probe(name=f"double({argument})", origin="plan", call=call)


def test_a_source_is_told_in_full_or_marked_as_cut() -> None:
    side = SourceFile(name="words.py", text="w" * 30)
    made = candidate(1, "m" * LONGEST_SOURCE, side)
    files = facts_of_candidate(made, (), (), 10**6)["files"]
    assert files == [
        {"name": "solution.py", "text": "m" * LONGEST_SOURCE, "cut": False},
        {"name": "words.py", "text": "", "cut": True},
    ]
    little = facts_of_candidate(made, (), (), 5)["files"]
    assert isinstance(little, list)
    assert little[0] == {"name": "solution.py", "text": "mmmmm", "cut": True}
    none = facts_of_candidate(made, (), (), -7)["files"]
    assert isinstance(none, list)
    assert none[0] == {"name": "solution.py", "text": "", "cut": True}


def test_a_file_that_is_there_already_is_told_by_who_has_it() -> None:
    kit = SourceFile(name="kit.py", text="k")
    first, second = candidate(1, "a", kit), candidate(2, "b", kit)
    share = Share(name="add", ensemble=2, nth=4)
    facts = facts_of_candidate(second, (share,), (first,), 100)
    assert facts["files"] == [
        {"name": "solution.py", "text": "b", "cut": False},
        {"name": "kit.py", "as": 1},
    ]
    assert facts["shares"] == [{"name": "add", "ensemble": 2, "nth": 4}]


def test_who_wrote_no_program_has_no_files_but_a_problem() -> None:
    made = Candidate(number=3, program=None, problem="p" * 999, ensemble=2, way="refined", of=(1,))
    facts = facts_of_candidate(made, (), (), 100)
    assert (facts["files"], facts["language"], facts["of"]) == ([], "", [1])
    assert facts["problem"] == "p" * LONGEST_TEXT


def test_half_a_character_does_not_stop_the_journal() -> None:
    facts = facts_of_candidate(candidate(1, "x = '\ud83d'"), (), (), 100)
    json.dumps(facts, ensure_ascii=False).encode()
    assert cut("\ud83dabc", 3) == "?ab"


def test_checks_are_shown_those_given_first_and_not_too_many() -> None:
    pool = Pool().with_check(double("1", "2"), ensemble=1)
    pool = pool.with_check(double("1", "2"), ensemble=2, times=2)
    pool = pool.with_check(double("1", "3"), ensemble=2)
    pool = pool.with_proposed({Probe(name="w", origin="task", source="assert w"): 1}, BY_THE_WORDS)
    pool = pool.with_given(Probes(checks=(double("7", "14"),)))
    groups = shown_checks(pool)
    told = [facts_of_check(same, pool, number) for number, same in enumerate(groups, 1)]
    assert [(e["text"], e["expected"], e["given"], e["by"]) for e in told] == [
        ("double(7)", "14", True, "person"),
        ("double(1)", "2", False, "critic"),
        ("double(1)", "3", False, "critic"),
        ("assert w", "", False, "words"),
    ]
    assert [(e["ensembles"], e["times"]) for e in told[1:3]] == [([1, 2], 3), ([2], 1)]
    for nth in range(2 * MOST_CHECKS):
        pool = pool.with_check(double(f"{nth}", "0"), ensemble=1)
    assert len(shown_checks(pool)) == MOST_CHECKS


def test_a_check_tells_whose_it_is_and_what_it_is_about() -> None:
    asked = Probe(name="n" * 999, origin="plan", source="s" * 999, about=2)
    pool = Pool().with_check(asked, given=True)
    (same,) = shown_checks(pool)
    facts = facts_of_check(same, pool, 1)
    assert (facts["by"], facts["requirements"]) == ("contract", [2])
    assert facts["text"] == "s" * LONGEST_TEXT
    named = Pool().with_check(Probe(name="e", origin="task", source="assert e"), given=True)
    assert facts_of_check(shown_checks(named)[0], named, 1)["by"] == "task"
    usual = Pool().with_check(Probe(name="u", origin="plan", source="assert u"), ensemble=-2)
    assert facts_of_check(shown_checks(usual)[0], usual, 1)["by"] == "contract"


def test_a_cell_says_what_became_of_a_check() -> None:
    outcomes: tuple[Outcome, ...] = ("passed", "passed", "raised", "timed out", "killed")
    pool = Pool()
    for nth in range(len(outcomes) + 1):
        pool = pool.with_check(double(f"{nth}", "1"), ensemble=1)
    pool = pool.with_candidates([candidate(1, "a"), candidate(2, "b")])
    # The second one ran to its end and gave something else, the last one was not run.
    values = ("1", "9", "", "", "")
    results = tuple(
        ProbeResult(name="", outcome=outcome, value=value)
        for outcome, value in zip(outcomes, values, strict=True)
    )
    pool = pool.with_execution(Execution(candidate=1, results=results))
    chosen = Selection(winner=1, confidence=0.98765)
    facts = facts_of_selection(pool, chosen, (), [1, 2, 3, 4, 5, 6])
    assert facts["cells"] == {"1": "pfrtk."}
    assert (facts["winner"], facts["confidence"], facts["separating"]) == (1, 0.988, None)


def test_what_blocks_comes_first_and_the_rest_has_bounds() -> None:
    note = Finding(what="w", where="x" * 999, evidence="e" * 999, severity="note")
    bad = Finding(what="eval", where="line 1", evidence="eval(x)", severity="blocking")
    told = facts_of_findings([*[note] * 9, bad])
    assert len(told) == MOST_FINDINGS
    assert isinstance(told[0], dict)
    assert told[0]["what"] == "eval"
    assert len(json.dumps(told)) < MOST_FINDINGS * 700
    lines = facts_of_crossing(1, 2, "complaints", ["l" * 999] * 99)["lines"]
    assert lines == ["l" * LONGEST_TEXT] * MOST_LINES
    text = facts_of_plan(1, "p" * 9999)["text"]
    assert isinstance(text, str)
    assert len(text) == 2000


def test_a_complaint_about_a_function_called_like_a_secret_is_not_masked() -> None:
    complaint = "An earlier version failed: 9aF3kQ8zL2 expected 204"
    facts: Json = facts_of_wrong({"reset_password": complaint})
    assert Masking().json(facts) == facts
