import pytest

from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.judging.quality import Thresholds, objections, regarded, undefined_behaviour
from twinsmith.core.verdict import Finding, Severity


def found(what: str, severity: Severity) -> Finding:
    return Finding(what=what, where="line 4", evidence="a shell reads it", severity=severity)


def test_notes_are_no_reason_to_refuse() -> None:
    assert objections([found("ruff B006", "note")] * 60, Thresholds()) == ()
    assert objections([], Thresholds()) == ()


def test_what_blocks_is_named_with_place_and_evidence() -> None:
    findings = [found("ruff B006", "note"), found("bandit B602", "blocking")]
    assert objections(findings, Thresholds()) == ("bandit B602, line 4: a shell reads it",)


def test_a_rule_that_is_allowed_is_a_note() -> None:
    blocking = found("bandit B602", "blocking")
    lenient = Thresholds(allowed=("bandit B602",))
    assert regarded([blocking], lenient) == (found("bandit B602", "note"),)
    assert objections([blocking, found("bandit B506", "blocking")], lenient) == (
        "bandit B506, line 4: a shell reads it",
    )


def test_too_many_notes_are_a_reason_where_that_is_wished() -> None:
    notes = [found("ruff B006", "note")] * 3
    assert objections(notes, Thresholds(most_notes=3)) == ()
    assert objections(notes, Thresholds(most_notes=2)) == ("3 notes; at most 2 are allowed",)


def test_what_is_allowed_counts_as_a_note() -> None:
    strict = Thresholds(allowed=("bandit B602",), most_notes=1)
    findings = [found("bandit B602", "blocking"), found("ruff B006", "note")]
    assert objections(findings, strict) == ("2 notes; at most 1 are allowed",)


def ran(outcome: Outcome, said: str = "", *, name: str = "check 1") -> Execution:
    return Execution(
        candidate=0, results=(ProbeResult(name=name, outcome=outcome, output=said, exit_code=1),)
    )


@pytest.mark.parametrize(
    ("said", "evidence"),
    [
        (
            "solution.c:3:28: runtime error: signed integer overflow: 1 + 2147483647\n",
            "signed integer overflow: 1 + 2147483647, line 3",
        ),
        (
            "==10==ERROR: AddressSanitizer: heap-buffer-overflow\n  #0 0x55 in f solution.c:4\n",
            "heap-buffer-overflow, line 4",
        ),
        (
            "stl_vector.h:1123: operator[]: Assertion '__n < this->size()' failed.\n",
            "Assertion '__n < this->size()' failed",
        ),
    ],
)
def test_what_a_sanitizer_reports_blocks(said: str, evidence: str) -> None:
    (found,) = undefined_behaviour(ran("passed"), ran("killed", said))
    assert found == Finding(
        what="undefined behaviour", where="check 1", evidence=evidence, severity="blocking"
    )


def test_what_failed_without_sanitizers_or_says_nothing_is_not_reported_again() -> None:
    said = "runtime error: division by zero"
    assert undefined_behaviour(ran("failed"), ran("killed", said)) == ()
    assert undefined_behaviour(ran("passed"), ran("killed", "out of breath")) == ()
    assert undefined_behaviour(ran("passed"), ran("passed", said)) == ()
    assert undefined_behaviour(ran("passed"), ran("killed", said, name="another")) == ()


def test_a_report_is_told_once() -> None:
    twice = tuple(
        ProbeResult(name=name, outcome="killed", errors="runtime error: division by zero")
        for name in ("a", "b")
    )
    plain = tuple(ProbeResult(name=name, outcome="passed") for name in ("a", "b"))
    found = undefined_behaviour(
        Execution(candidate=0, results=plain), Execution(candidate=0, results=twice)
    )
    assert [each.evidence for each in found] == ["division by zero"]
