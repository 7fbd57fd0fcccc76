"""What was asked of a library, with the checks that showed it and would not have by chance."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast

from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.planning.hollow import HOLLOW
from twinsmith.core.planning.requirement import Requirement, Requirements
from twinsmith.core.planning.standing import Standing
from twinsmith.core.probe import Call, Command, Probe, Probes
from twinsmith.core.program import Candidate, Program
from twinsmith.flow.build.shown import shown
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox

PUSH = Requirement(number=1, what="push", quote="push things")
POP = Requirement(number=2, what="pop", quote="pop the last one")
BOTH = Requirements(each=(PUSH, POP))
PROGRAM = Program(source="def push(x):\n    return [x]\n", kind="library")
PUSHES = Probe(name="pushes", origin="plan", source="assert push(1) == [1]", about=1)
IDLE = Probe(name="idle", origin="plan", source="push(1)", about=1)
CALLED = Probe(
    name="called", origin="plan", call=Call(function="pop", args=("[1]",), expected="1"), about=2
)


class Runs:
    """Where the empty twin runs: it passes what is named, unless nobody can pay for it."""

    def __init__(self, *passed: str, broke: bool = False) -> None:
        self._passed, self._broke = passed, broke
        self.ran: list[tuple[int, Program, Probes]] = []

    async def execute(
        self, number: int, work: Callable[[Sandbox], Awaitable[Execution]]
    ) -> Execution:
        if self._broke:
            raise BudgetExceeded("no seconds left")
        self._number = number
        return await work(self)

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:  # noqa: ARG002
        self.ran.append((self._number, program, probes))
        results = tuple(
            ProbeResult(name=p.name, outcome="passed" if p.name in self._passed else "failed")
            for p in probes.checks
        )
        return Execution(candidate=0, results=results)


def found(*seen: tuple[ProbeResult, ...], checks: tuple[Probe, ...], given: int = 0) -> Pool:
    """A pool whose first candidate leads; each row is what one candidate did."""
    pool = Pool()
    for place, probe in enumerate(checks):
        pool = pool.with_check(probe, given=place < given, ensemble=1)
    for number, results in enumerate(seen, 1):
        pool = pool.with_candidates([Candidate(number=number, program=PROGRAM)])
        pool = pool.with_execution(Execution(candidate=number, results=results))
    return pool


def result(probe: Probe, *, passed: bool = True, value: str = "") -> ProbeResult:
    return ProbeResult(name=probe.name, outcome="passed" if passed else "failed", value=value)


async def standing(search: Pool, runs: Runs, wanted: Requirements = BOTH) -> list[Standing]:
    asked = await shown(search, 1, wanted, Limits(), cast("Recorder", runs))
    assert asked.requirements == wanted
    return list(asked.standings)


async def test_a_check_that_the_empty_twin_fails_shows_its_requirement() -> None:
    runs = Runs()
    push, pop = await standing(found((result(PUSHES),), checks=(PUSHES,)), runs)
    assert (push.met, push.shown) == (True, ("pushes",))
    assert (pop.met, pop.why) == (False, "no check that could fail has shown it")
    ((number, twin, probes),) = runs.ran
    assert (number, probes.checks) == (HOLLOW, (PUSHES,))
    assert twin.source == "def push(x):\n    pass\n"


async def test_a_check_that_the_empty_twin_passes_shows_nothing() -> None:
    checks = (PUSHES, IDLE)
    search = found((result(PUSHES, passed=False), result(IDLE)), checks=checks)
    push, _ = await standing(search, Runs("idle"))
    assert (push.met, push.why) == (False, "it does not do what was expected: pushes")


async def test_a_call_that_gives_something_needs_no_twin() -> None:
    runs = Runs()
    _, pop = await standing(found((result(CALLED, value="1"),), checks=(CALLED,)), runs)
    assert (pop.met, pop.shown, runs.ran) == (True, ("called",), [])
    nothing = Probe(
        name="none",
        origin="plan",
        call=Call(function="pop", args=("[]",), expected="None"),
        about=2,
    )
    _, pop = await standing(found((result(nothing, value="None"),), checks=(nothing,)), runs)
    # A program that does nothing gives None, too.
    assert not pop.met


async def test_where_nobody_can_pay_for_the_twin_nothing_is_shown() -> None:
    push, _ = await standing(found((result(PUSHES),), checks=(PUSHES,)), Runs(broke=True))
    assert not push.met


async def test_what_most_others_pass_speaks_against_it() -> None:
    failing, passing = (result(PUSHES, passed=False),), (result(PUSHES),)
    search = found(failing, passing, passing, checks=(PUSHES,))
    push, _ = await standing(search, Runs())
    assert push.against == ("pushes",)
    assert push.why == "most others pass a check that this one fails: pushes"


async def test_an_example_of_the_task_is_about_the_one_thing_that_it_asks_for() -> None:
    example = Probe(name="example 1", origin="task", source="assert push(2) == [2]")
    alone = Requirements(each=(PUSH,))
    search = found((result(example),), checks=(example,), given=1)
    (push,) = await standing(search, Runs(), alone)
    assert (push.met, push.shown) == (True, ("example 1",))
    # Of two things nobody knows which one it is about.
    assert not any(each.met for each in await standing(search, Runs()))


async def test_without_a_winner_nothing_is_shown() -> None:
    search = found(checks=(PUSHES,))
    assert [each.met for each in await standing(search, Runs())] == [False, False]


async def test_a_check_that_was_written_for_two_requirements_shows_both() -> None:
    search = found((result(PUSHES),), checks=(PUSHES, replace(PUSHES, about=2)))
    assert [each.met for each in await standing(search, Runs())] == [True, True]


def command(args: str, stdout: str | None, about: int) -> Probe:
    asked = Command(args=(args,), stdout=stdout, exit_code=0 if stdout else 1)
    return Probe(name=args, origin="plan", command=asked, about=about)


def ran(probe: Probe, output: str = "") -> ProbeResult:
    return ProbeResult(
        name=probe.name, outcome="passed", output=output, exit_code=0 if output else 1
    )


async def test_a_refusal_shows_what_only_asks_for_one_if_other_things_are_done() -> None:
    prints, refuses = command("a", "A", 1), command("?", None, 2)
    done = found((ran(prints, "A"), ran(refuses)), checks=(prints, refuses))
    assert [each.met for each in await standing(done, Runs())] == [True, True]
    idle = found((ran(prints), ran(refuses)), checks=(prints, refuses))
    assert [each.met for each in await standing(idle, Runs())] == [False, False]
    # Where something has to be printed, a refusal is not what shows it.
    more = command("b", "B", 2)
    partly = found((ran(prints, "A"), ran(refuses), ran(more, "C")), checks=(prints, refuses, more))
    assert [each.met for each in await standing(partly, Runs())] == [True, False]


async def test_a_requirement_that_names_an_error_is_shown_by_one_that_is_raised() -> None:
    refuse = Requirement(number=1, what="refuses", quote="ValueError if it is empty")
    raises = Probe(
        name="raises",
        origin="plan",
        source="try:\n    push('')\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError",
        about=1,
    )
    wanted = Requirements(each=(refuse,))
    (one,) = await standing(found((result(PUSHES),), checks=(PUSHES,)), Runs(), wanted)
    assert (one.met, one.why) == (False, "no check that could fail has shown it")
    (two,) = await standing(found((result(raises),), checks=(raises,)), Runs(), wanted)
    assert (two.met, two.shown) == (True, ("raises",))
