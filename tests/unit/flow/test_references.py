"""What critics propose is computed: who is asked, what counts, and what is left open."""

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

import pytest

from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.model import Question, Reply
from twinsmith.core.probe import Call, Command, Input, Probe, Probes
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate, Program
from twinsmith.core.task import Task
from twinsmith.flow.build.references import References
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox

COMMAND = Task(text="a command that counts words", language="perl", kind="cli")
LIBRARY = Task(text="Perl: double($n) and half($n)", language="perl", kind="library")
DOUBLES = Profile(names=("double",), calls=("double(n)",), outline="Define these:\n- double")
COUNT = "```python\nimport sys\nprint(len(sys.stdin.read().split()))\n```"
TWO, TEN = Command(stdin="a b", stdout="9"), Command(stdin="ten", stdout="9")


class Runs:
    """Answers questions in turn; programs give what a table says of their number and input."""

    def __init__(self, *texts: str, values: Mapping[int, Mapping[str, str]] | None = None) -> None:
        self._texts, self._values = texts, values or {}
        self.asked: list[Question] = []
        self.ran: list[tuple[int, Program, Probes]] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        text = self._texts[(len(self.asked) - 1) % len(self._texts)]
        if not text:
            raise BudgetExceeded("no tokens left")
        return Reply(text=text, model="m", tokens_in=1, tokens_out=1)

    async def execute(
        self, number: int, work: Callable[[Sandbox], Awaitable[Execution]]
    ) -> Execution:
        self._number = number
        return await work(self)

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:  # noqa: ARG002
        self.ran.append((self._number, program, probes))
        said = self._values.get(self._number, {})
        results = [_result(probe, said) for probe in probes.checks]
        return Execution(candidate=self._number, results=tuple(results))


def _result(probe: Probe, said: Mapping[str, str]) -> ProbeResult:
    """What a table says of the text on standard input, or of the arguments of a call."""
    if probe.call is not None:
        value = said.get(", ".join(probe.call.args), "")
        return ProbeResult(name=probe.name, outcome="passed", value=value)
    assert probe.command is not None
    text = said.get(probe.command.stdin)
    if text is None:
        return ProbeResult(name=probe.name, outcome="timed out")
    return ProbeResult(name=probe.name, outcome="passed", output=text, exit_code=0)


def proposed(*asked: Input) -> dict[Probe, int]:
    return {
        Probe(
            name="",
            origin="plan",
            call=each if isinstance(each, Call) else None,
            command=each if isinstance(each, Command) else None,
            about=2,
        ): 1
        for each in asked
    }


async def asked_of(
    runs: Runs, task: Task, profile: Profile, *inputs: Input
) -> tuple[References, list[Candidate]]:
    references = References(task, profile, Limits(), cast("Recorder", runs))
    written = [await each for each in references.questions((1, 2))]
    assert references.questions((1, 2)) == []
    await references.heard(written, inputs)
    return references, written


async def test_both_ensembles_write_two_in_words_of_their_own() -> None:
    runs = Runs(COUNT)
    _, written = await asked_of(runs, COMMAND, Profile(outline="It reads standard input."))
    assert [each.ensemble for each in written] == [1, 2, 1, 2]
    assert [each.role for each in runs.asked] == ["critic"] * 4
    assert len({each.nth for each in runs.asked}) == 4
    assert len({each.text for each in runs.asked}) == 2
    assert all("It reads standard input." in each.text for each in runs.asked)


async def test_what_is_agreed_on_becomes_the_check_and_the_rest_stays_an_opinion() -> None:
    table = {800: {"a b": "2", "ten": "1"}, 801: {"a b": "2", "ten": "7"}}
    references, _ = await asked_of(Runs(COUNT, values=table), COMMAND, Profile(), TWO, TEN)
    checks = references.settle(proposed(TWO, TEN))
    told = [(c.command.stdout, c.about, times) for c, times in checks.items() if c.command]
    assert told == [("2", 2, 2), ("9", 2, 1)]


async def test_a_reference_that_breaks_an_example_of_the_task_is_none() -> None:
    example = Command(stdin="x", stdout="1")
    table = {800: {"a b": "2", "x": "5"}, 801: {"a b": "2", "x": "1"}}
    profile = Profile(examples=(example,))
    references, _ = await asked_of(Runs(COUNT, values=table), COMMAND, profile, TWO)
    assert references.settle(proposed(TWO)) == proposed(TWO)


@pytest.mark.parametrize("text", ["no idea", "", "```python\nprint(\n```"])
async def test_without_a_reference_critics_are_believed(text: str) -> None:
    references, written = await asked_of(Runs(text), COMMAND, Profile(), TWO)
    assert all(each.program is None and each.problem for each in written)
    assert references.settle(proposed(TWO)) == proposed(TWO)


async def test_functions_of_other_languages_are_computed_in_python() -> None:
    code = "```python\ndef double(n):\n    return 2 * n\n```"
    call = Call(function="double", args=("4",), expected="9")
    table = {800: {"4": "8"}, 803: {"4": "8"}}
    runs = Runs(code, values=table)
    references, _ = await asked_of(runs, LIBRARY, DOUBLES, call)
    checks = references.settle(proposed(call))
    assert [probe.source for probe in checks] == ["assert double(4) == 8"]
    assert all("double(n)" in each.text for each in runs.asked)
    judged = Probe(name="", origin="plan", source="assert double(1)")
    assert references.settle({judged: 3}) == {judged: 3}


async def test_nothing_is_asked_twice_and_objects_are_not_computed() -> None:
    runs = Runs(COUNT)
    references, _ = await asked_of(runs, COMMAND, Profile(), TWO)
    await references.heard([], [TWO, TEN])
    assert [len(probes.checks) for _, _, probes in runs.ran] == [1] * 8
    objects = Profile(outline="Define these:\n- class Bag")
    assert References(LIBRARY, objects, Limits(), cast("Recorder", runs)).questions((1,)) == []
    function = Task(text="double", language="python", kind="function")
    assert References(function, DOUBLES, Limits(), cast("Recorder", runs)).questions((1,)) == []


async def test_where_leaders_differ_references_of_both_ensembles_may_tell() -> None:
    table = {800: {"a b": "2", "ten": "1"}, 801: {"a b": "2", "ten": "7"}}
    references, _ = await asked_of(Runs(COUNT, values=table), COMMAND, Profile())
    known = await references.computed(TWO)
    assert known is not None
    assert known.command is not None
    assert known.command.stdout == "2"
    assert await references.computed(TEN) is None
    nobody, _ = await asked_of(Runs("no idea"), COMMAND, Profile())
    assert await nobody.computed(TWO) is None
