from tests.proposals import proposals
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.model import Question
from twinsmith.core.probe import Probe, Probes, read_check
from twinsmith.core.program import Candidate, Program
from twinsmith.core.task import Task
from twinsmith.flow.build.refine import LONGEST_EVIDENCE, refinement

TASK = Task(text="doubles a number", language="python", kind="function")
SOURCE = "def double(n):\n    return n * n\n"
OF = Candidate(number=2, program=Program(source=SOURCE, entry="double"), ensemble=2)


def given(*sources: str) -> Pool:
    probes = tuple(
        read_check(source, number=n) or Probe(name=f"test {n}", origin="person", source=source)
        for n, source in enumerate(sources, 1)
    )
    return Pool().with_given(Probes(checks=probes)).with_candidates([OF])


def asked(pool: Pool, *results: ProbeResult) -> Question | None:
    pool = pool.with_execution(Execution(candidate=2, results=results))
    return refinement(TASK, pool, OF, 5)


def gave(value: str) -> ProbeResult:
    return ProbeResult(name="p", outcome="passed", value=value)


def test_the_coder_sees_the_program_and_the_smallest_thing_that_fails() -> None:
    pool = given("assert double(100) == 200", "assert double(3) == 6", "assert double(2) == 4")
    question = asked(pool, gave("10000"), gave("9"), gave("4"))
    assert question is not None
    assert (question.role, question.nth, question.ensemble) == ("coder", 4, 2)
    assert f"```python\n{SOURCE}```" in question.text
    assert "It fails this:\ndouble(3) has to give 6, and gives 9\n" in question.text
    assert "double(100)" not in question.text
    assert TASK.text in question.text


def test_an_error_is_told_as_it_was_seen() -> None:
    raised = ProbeResult(name="p", outcome="raised", detail="ValueError('no')")
    question = asked(given("assert double(3) == 6"), raised)
    assert question is not None
    assert "double(3) has to give 6, and raised: ValueError('no')" in question.text


def test_a_test_that_judges_by_itself_is_shown_whole() -> None:
    source = "def test_big():\n    assert double(9) > 80\ntest_big()"
    failed = ProbeResult(name="p", outcome="failed", detail="18 is small", errors="Traceback")
    question = asked(given(source), failed)
    assert question is not None
    assert f"{source}\n18 is small\nTraceback" in question.text


def test_what_does_not_run_is_mended_by_what_was_said() -> None:
    pool = given("assert double(3) == 6")
    problem = Execution(candidate=2, results=(), problem="line 2: expected ';'" + "!" * 9999)
    question = refinement(TASK, pool.with_execution(problem), OF, 5)
    assert question is not None
    assert "line 2: expected ';'" in question.text
    assert question.text.count("!") < LONGEST_EVIDENCE


def test_nothing_is_mended_where_nothing_is_known_to_be_wrong() -> None:
    assert asked(given("assert double(2) == 4"), gave("4")) is None
    proposed = (
        Pool().with_candidates([OF]).with_proposed(proposals({"assert double(3) == 6": 1}), 1)
    )
    assert asked(proposed, gave("9")) is None
    nothing = Candidate(number=2, program=None, problem="a poem")
    assert refinement(TASK, given("assert double(2) == 4"), nothing, 5) is None
