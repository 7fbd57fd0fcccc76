"""Inputs in, their right results out, as small reference programs compute them."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twinsmith.core.checks.inputs import input_text, observing
from twinsmith.core.checks.reference import (
    Voice,
    answer_of,
    errors_in,
    is_right,
    says_something,
    settled,
)
from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.library_names import undefined
from twinsmith.core.model import Ask, Question
from twinsmith.core.probe import Call, Input, Probe, Probes
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate
from twinsmith.core.replies.reply_code import Reading, read_reply
from twinsmith.core.task import Task
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox
from twinsmith.prompts import render

FIRST = 800
"""The number of the first reference; candidates never come so far."""
NTH = 180
"""The number of the first question for a reference: after critics' questions, before votes."""
HEATS = (0.0, 0.7)
STYLES = {1: "reference", 2: "reference_careful"}
CARES = {
    1: "Simple and step by step.",
    2: "Turn every clause of the task into a line, one after the other, with a short comment.",
}


class References:
    """Small programs in Python that say what a command or a library should give."""

    def __init__(self, task: Task, profile: Profile, limits: Limits, recorder: Recorder) -> None:
        self._task, self._profile = task, profile
        self._limits = replace(limits, probe_seconds=2.0, cpu_seconds=2.0)
        self._recorder = recorder
        self._exact = task.language == "python"
        # What other languages do instead of raising an error is their own affair.
        self._errors = errors_in(task.text) if self._exact else ()
        self._asked = False
        self._each: dict[Candidate, dict[Input, str]] = {}

    def questions(self, ensembles: Sequence[int]) -> list[Coroutine[Any, Any, Candidate]]:
        """The questions for two references an ensemble; asked once, and not about objects."""
        objects = self._profile.has_classes
        if self._asked or objects or self._task.kind not in ("cli", "library"):
            return []
        self._asked = True
        wanted = [(ensemble, heat) for heat in HEATS for ensemble in ensembles]
        return [
            _written(self._task, self._profile, n, ensemble, heat, self._recorder.ask)
            for n, (ensemble, heat) in enumerate(wanted)
        ]

    async def heard(self, written: Iterable[Candidate], inputs: Sequence[Input]) -> None:
        """Take in new references, run all on new inputs, drop those that break an example."""
        self._each |= {each: {} for each in written if each.program is not None}
        given = self._profile.examples
        await self._compute([*given, *inputs])
        self._each = {
            each: said
            for each, said in self._each.items()
            if is_right(said, given, exact=self._exact)
        }

    def settle(self, proposed: Mapping[Probe, int]) -> dict[Probe, int]:
        """The checks with the results that references compute, else with those of the critic."""
        checks: dict[Probe, int] = {}
        for probe, times in proposed.items():
            check, count = self._settled(probe) or (probe, times)
            checks[check] = max(count, checks.get(check, 0))
        return checks

    async def computed(self, asked: Input) -> Probe | None:
        """The check of an input that references of both ensembles agree on; else None."""
        await self._compute([asked])
        found = self._settled(_open(observing(asked)))
        return found[0] if found else None

    def _settled(self, probe: Probe) -> tuple[Probe, int] | None:
        if probe.asks is None:
            return None
        place = observing(probe.asks)
        voices = [
            Voice(ensemble=each.ensemble, said=said.get(place, ""))
            for each, said in self._each.items()
            if says_something(said)
        ]
        return settled(probe, voices, exact=self._exact)

    async def _compute(self, inputs: Sequence[Input]) -> None:
        """Run every reference on what it has not been asked yet."""
        for reference, known in self._each.items():
            new = list(dict.fromkeys(i for i in map(observing, inputs) if i not in known))
            if not new:
                continue
            try:
                seen = await self._executed(reference, new)
            except BudgetExceeded:
                return
            results = [*seen.results, *[None] * (len(new) - len(seen.results))]
            known |= {
                each: answer_of(each, result, self._errors) if result else ""
                for each, result in zip(new, results, strict=True)
            }

    async def _executed(self, reference: Candidate, inputs: Sequence[Input]) -> Execution:
        program = reference.program
        assert program is not None
        probes = Probes(checks=tuple(map(_open, inputs)))

        async def in_sandbox(sandbox: Sandbox) -> Execution:
            return await sandbox.run(program, probes, self._limits)

        return await self._recorder.execute(reference.number, in_sandbox)


def _open(asked: Input) -> Probe:
    """A probe of an input that expects no result."""
    name = input_text(asked)
    if isinstance(asked, Call):
        return Probe(name=name, origin="plan", call=asked)
    return Probe(name=name, origin="plan", command=asked)


async def _written(
    task: Task, profile: Profile, nth: int, ensemble: int, heat: float, ask: Ask
) -> Candidate:
    """The reference that a critic wrote; without a program where the answer cannot be used."""
    if task.kind == "cli":
        template = STYLES[ensemble]
        text = render(template, task=task.text, outline=profile.described)
    else:
        template, calls = "reference_library", ", ".join(profile.calls)
        text = render(template, task=task.text, calls=calls, how=CARES[ensemble])

    def read(text: str) -> Reading:
        reading = read_reply(text, kind=task.kind)
        if missing := undefined(reading.program, profile.names):
            raise BadReply(f"no {missing[0]}")
        return reading

    question = Question(
        role="critic",
        nth=NTH + nth,
        text=text,
        ensemble=ensemble,
        temperature=heat,
        tokens=700,
        template=template,
        read=lambda text: read(text).repairs,
    )
    made = Candidate(number=FIRST + nth, program=None, ensemble=ensemble)
    try:
        return replace(made, program=read((await ask(question)).text).program)
    except (BadReply, BudgetExceeded) as error:
        return replace(made, problem=str(error))
