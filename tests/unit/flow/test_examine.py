from tests.proposals import proposals
from twinsmith.core.checks.proposed import MOST_CHECKS, counted
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.judging.pool import Pool
from twinsmith.core.model import Question, Reply
from twinsmith.core.probe import Call
from twinsmith.core.profile import Profile
from twinsmith.core.task import Task
from twinsmith.flow.build.examine import given_probes, property_probes, propose


def read_asserts(text: str, function: str) -> dict[str, int]:
    return {probe.source: times for probe, times in counted(text, function).items()}


TASK = Task(text="doubles a number", language="python", kind="function")
EXAMPLE = Call(function="double", args=("4",), expected="8")
PROFILE = Profile(
    entry="double", examples=(EXAMPLE,), example_checks=("assert round(double(0.1), 1) == 0.2",)
)


def test_what_decides_is_what_a_person_and_the_task_say() -> None:
    tests = "import math\n\ndef test_pi():\n    assert double(math.pi) > 6\n"
    task = Task(text="t", language="python", kind="function", tests=tests)
    probes = given_probes(task, PROFILE)
    assert probes.setup == "import math"
    assert [(p.name, p.origin, p.call) for p in probes.checks] == [
        ("tests:3 test_pi", "person", None),
        ("example 1", "task", EXAMPLE),
        ("example 2", "task", None),
    ]
    assert probes.checks[1].source == "assert double(4) == 8"
    assert given_probes(TASK, Profile(entry="double")).checks == ()


def test_asserts_are_read_from_a_fence_or_without_one_in_one_spelling() -> None:
    text = (
        "Here they are:\n```python\nassert double(2)==4\nassert double( 2 ) == 4  # again\n"
        "    assert double(0) == 0, 'zero'\nassert other(1) == 2\nassert double(\nx = 1\n```"
    )
    assert read_asserts(text, "double") == {
        "assert double(2) == 4": 2,
        "assert double(0) == 0": 1,
    }
    assert read_asserts("assert double(2) == 4", "double") == {"assert double(2) == 4": 1}


def test_nonsense_has_no_asserts() -> None:
    for text in ("", "I would rather not.", "assert", "```", "\0", "assert double" * 10_000):
        assert read_asserts(text, "double") == {}


def test_checks_are_bounded_and_the_most_frequent_stay() -> None:
    lines = [f"assert double({n}) == {2 * n}" for n in range(100)]
    found = read_asserts("\n".join([*lines, lines[99]]), "double")
    assert len(found) == MOST_CHECKS
    assert found[lines[99]] == 2


async def test_a_critic_is_asked_blind_to_programs_and_warmer_the_second_time() -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(text="assert double(2) == 4", model="m", tokens_in=1, tokens_out=1)

    for nth, ensemble in ((0, 1), (1, 2)):
        found = await propose(TASK, PROFILE, nth=nth, ensemble=ensemble, ask=ask)
        assert found == proposals({"assert double(2) == 4": 1})
    assert [(q.role, q.nth, q.ensemble) for q in asked] == [("critic", 0, 1), ("critic", 1, 2)]
    assert asked[0].temperature < asked[1].temperature
    assert "doubles a number" in asked[0].text
    assert "`double`" in asked[0].text


async def test_checks_of_a_program_in_another_language_are_asked_for_in_python() -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(text="assert!(double(2) == 4);", model="m", tokens_in=1, tokens_out=1)

    task = Task(text="doubles a number", language="rust", kind="function")
    # A model that does not listen is understood all the same.
    assert await propose(task, PROFILE, nth=0, ensemble=1, ask=ask) == proposals(
        {"assert double(2) == 4": 1}
    )
    assert "in Python and not in Rust" in asked[0].text


async def test_no_checks_where_the_budget_has_none() -> None:
    async def ask(question: Question) -> Reply:
        raise BudgetExceeded(f"no tokens for {question.role}")

    assert await propose(TASK, PROFILE, nth=0, ensemble=1, ask=ask) == {}


def test_what_the_words_of_a_task_say_is_a_check_on_inputs_that_were_seen() -> None:
    text = "Write a function order(items) that sorts a list of numbers in ascending order."
    task = Task(text=text, language="python", kind="function")
    pool = Pool().with_proposed(proposals({"assert order([3, 1, 2]) == [9]": 1}), 1)
    found = property_probes(task, Profile(entry="order"), pool)
    assert {(probe.origin, times) for probe, times in found.items()} == {("task", 1)}
    # The result that a critic thought of proves nothing.
    assert "sorted(order([3, 1, 2])) == sorted([3, 1, 2])" in {probe.name for probe in found}
    told = Call(function="order", args=("[3, 1, 2]",), expected="[3, 2, 1]")
    against = property_probes(task, Profile(entry="order", examples=(told,)), pool)
    assert "list(order([3, 1, 2])) == sorted(order([3, 1, 2]))" not in {p.name for p in against}
    assert property_probes(TASK, PROFILE, Pool()) == {}
