"""A task in, checks out: written blind to the candidates, read from the task, or made up."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

from twinsmith.core.checks.call_reply import calls_schema, read_calls
from twinsmith.core.checks.command_fuzz import fuzz_commands
from twinsmith.core.checks.foreign import asserts_at_home
from twinsmith.core.checks.fuzz import fuzz_calls
from twinsmith.core.checks.inputs import input_text, observing
from twinsmith.core.checks.parameters import annotations_in
from twinsmith.core.checks.properties import properties
from twinsmith.core.checks.proposed import counted, library_checks
from twinsmith.core.checks.reference import errors_in
from twinsmith.core.command_line import proposal, read_runs, runs_schema
from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.judging.pool import Pool
from twinsmith.core.model import Ask, Question, holding
from twinsmith.core.planning.requirement import Requirement
from twinsmith.core.probe import Call, Command, Input, Probe, Probes, read_tests
from twinsmith.core.profile import Profile
from twinsmith.core.task import Task
from twinsmith.core.wording import channels_in, spoken
from twinsmith.prompts import render

FEW, MANY = 3, 8
"""Checks that a critic is asked for: about one requirement, and about the whole."""
_NUMBERS = {FEW: "three", MANY: "eight"}


def given_probes(task: Task, profile: Profile) -> Probes:
    """The checks that decide: a person's tests, and the examples that the task itself gives."""
    given = read_tests(task.tests, file="tests") if task.tests else Probes()
    examples = [_example(number, each) for number, each in enumerate(profile.examples, 1)]
    more = [
        Probe(name=f"example {number}", origin="task", source=source)
        for number, source in enumerate(profile.example_checks, len(examples) + 1)
    ]
    return Probes(checks=(*given.checks, *examples, *more), setup=given.setup)


def sketched_probes(profile: Profile) -> dict[Probe, int]:
    """The runs of a command that its description sketches, as checks that are mere opinions."""
    return {proposal(command): 1 for command in profile.sketched}


async def propose(
    task: Task,
    profile: Profile,
    *,
    nth: int,
    ensemble: int,
    ask: Ask,
    about: Requirement | None = None,
) -> dict[Probe, int]:
    """The checks that a critic proposes without seeing programs, and how often it wrote each.

    Asked about one requirement, it proposes checks of that one alone.
    """
    found = await _proposed(task, profile, nth, ensemble, ask, about.quote if about else "")
    number = about.number if about else 0
    return {replace(probe, about=number): times for probe, times in found.items()}


async def _proposed(
    task: Task, profile: Profile, nth: int, ensemble: int, ask: Ask, quote: str
) -> dict[Probe, int]:
    def read(text: str) -> dict[Probe, int]:
        return _read(text, task, profile)

    question = Question(
        role="critic",
        nth=nth,
        text=_asked(task, profile, quote),
        ensemble=ensemble,
        temperature=0.8 if nth else 0.2,
        schema=_schema(task, profile, FEW if quote else MANY),
        tokens=600,
        template=_template(task, profile),
        read=holding("check", read),
    )
    try:
        return read((await ask(question)).text)
    except (BadReply, BudgetExceeded):
        return {}


def _read(text: str, task: Task, profile: Profile) -> dict[Probe, int]:
    """The checks in a critic's answer, and how often each; BadReply where it is of no such form."""
    if task.kind == "cli":
        return read_runs(text)
    if task.kind == "library":
        return _checks_of_library(text, task, profile)
    return counted(text if task.language == "python" else asserts_at_home(text), profile.entry)


def _checks_of_library(text: str, task: Task, profile: Profile) -> dict[Probe, int]:
    """The checks of a library in a reply: calls, or code where the model keeps to no schema."""
    if not profile.has_classes:
        with suppress(BadReply):
            return read_calls(text, profile.calls)
    at_home = text if task.language == "python" else asserts_at_home(text)
    return library_checks(at_home, profile.names)


def _schema(task: Task, profile: Profile, most: int) -> str:
    """The JSON schema of a critic's answer; empty where the answer is code."""
    if task.kind == "cli":
        return runs_schema(channels_in(task.text), most)
    if task.kind == "library" and not profile.has_classes:
        return calls_schema(profile.names, most)
    return ""


def property_probes(task: Task, profile: Profile, pool: Pool) -> dict[Probe, int]:
    """The checks that follow from the words of the task alone, on inputs that were seen."""
    known = [each for each in profile.examples if isinstance(each, Call)]
    asked = [call for call in pool.calls() if call not in map(observing, known)]
    names = profile.names or (profile.entry,)
    found = properties(task.text, profile.entry, names, [*known, *asked])
    return {
        Probe(name=line.removeprefix("assert "), origin="task", source=line): 1 for line in found
    }


def made_up(task: Task, profile: Profile, pool: Pool, *, seed: int, most: int) -> tuple[Input, ...]:
    """Invented inputs in the style of those that were seen; of a declared type where none was."""
    asked = [pool.probes[place].asks for place in sorted({check.probe for check in pool.checks})]
    commands = [each for each in asked if isinstance(each, Command)]
    if commands:
        return fuzz_commands(commands, seed=seed, most=most)
    calls = [each for each in asked if isinstance(each, Call)]
    names = profile.names or (profile.entry,)
    share = max(1, most // len(names)) if most else 0
    return tuple(
        call
        for name in names
        for call in fuzz_calls(
            name,
            [each for each in calls if each.function == name],
            annotations=_annotations(task, pool, name),
            seed=seed,
            most=share,
        )
    )


def _annotations(task: Task, pool: Pool, function: str) -> tuple[str, ...]:
    """The types of a function's parameters: as the task declares them, else as most candidates."""
    told = annotations_in(task.text, function, task.language)
    if told:
        return told
    programs = [each.program for each in pool.candidates if each.program]
    found = Counter(annotations_in(each.source, function, task.language) for each in programs)
    return found.most_common(1)[0][0] if found else ()


def _template(task: Task, profile: Profile) -> str:
    """The template that a critic is asked by."""
    if task.kind == "cli":
        return "runs"
    if task.kind == "library":
        return "library_checks" if profile.has_classes else "library_calls"
    # Shown a task in another language, a small model answers with a program in that language.
    return "checks" if task.language == "python" else "checks_elsewhere"


def _asked(task: Task, profile: Profile, quote: str) -> str:
    what = f'this is done: "{quote}"' if quote else "a program does this"
    if task.language == "python" and (errors := errors_in(quote)):
        what += f" (with values for which it has to raise {' or '.join(errors)})"
    told = {
        "task": task.text,
        "entry": profile.entry,
        "language": spoken(task.language),
        "outline": profile.described if task.kind == "cli" else profile.outline,
        "names": ", ".join(profile.names),
        "calls": ", ".join(profile.calls),
        "what": what,
        "many": _NUMBERS[FEW if quote else MANY],
    }
    return render(_template(task, profile), **told)


def _example(number: int, given: Input) -> Probe:
    name = f"example {number}"
    if isinstance(given, Command):
        return Probe(name=name, origin="task", command=given)
    source = f"assert {input_text(given)} == {given.expected}"
    return Probe(name=name, origin="task", source=source, call=given)
