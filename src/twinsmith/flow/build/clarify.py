"""A task in, its profile out: what is asked for, and what was assumed."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from twinsmith.core import command_line, library_outline
from twinsmith.core.checks.command_examples import read_command_examples
from twinsmith.core.checks.examples import read_examples
from twinsmith.core.checks.inputs import input_text
from twinsmith.core.errors import BadReply
from twinsmith.core.library_names import Written, placed, possible_owners, written_in
from twinsmith.core.model import Ask, Question
from twinsmith.core.profile import Profile
from twinsmith.core.replies.reply_json import object_in, object_schema, open_question, words
from twinsmith.core.task import Task
from twinsmith.core.wording import channels_in, entry_in, signature_in, spoken
from twinsmith.flow.build.asking import answered
from twinsmith.prompts import render

T = TypeVar("T")
UNTYPED = ("python", "perl")
"""Languages in which a name and its parameters are a whole signature."""
_SENSITIVE = re.compile(
    r"\b(?:passwords?|passwort|authenticat\w*|authoris\w*|authoriz\w*|log ?ins?|tokens?|sessions?"
    r"|credentials?|encrypt\w*|decrypt\w*|secrets?|payments?|credit cards?|personal data|sql|users?"
    r"|uploads?|admin\w*)\b",
    re.IGNORECASE,
)
_OTHERS = {
    "python": ("largest_gap", "def largest_gap(numbers: list[float]) -> float:"),
    "perl": ("largest_gap", "sub largest_gap { my ($numbers) = @_; ... }"),
    "rust": ("largest_gap", "pub fn largest_gap(numbers: &[f64]) -> f64"),
    "go": ("LargestGap", "func LargestGap(numbers []float64) float64"),
    "c": ("largest_gap", "double largest_gap(const double *numbers, int count)"),
    "cpp": ("largest_gap", "double largest_gap(const std::vector<double> &numbers)"),
}
"""Per language the function of the example reply: small models give placeholders back."""
SCHEMA = json.dumps(
    object_schema(
        {
            "entry": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "signature": {"type": "string"},
            "question": {"type": "string"},
            "assumed": {"type": "string"},
        }
    )
)


async def clarify(task: Task, ask: Ask) -> Profile:
    """Read the task; what it does not say itself, the slow thinker is asked for."""
    match task.kind:
        case "service":
            profile = Profile()
        case "cli":
            profile = await _command(task, ask)
        case "library":
            profile = await _library(task, ask)
        case "function":
            profile = await _function(task, ask)
    return replace(profile, sensitive=bool(_SENSITIVE.search(task.text)))


async def _function(task: Task, ask: Ask) -> Profile:
    """The profile of a function; no model is asked where the task spells out its name."""
    entry = entry_in(task.text)
    if entry:
        profile = Profile(entry=entry, signature=signature_in(task.text, entry))
    else:
        other, signature = _OTHERS[task.language]
        example = {"entry": other, "signature": signature, "question": "", "assumed": ""}
        text = render(
            "clarify",
            task=task.text,
            language=spoken(task.language),
            example=json.dumps(example, ensure_ascii=False),
        )
        profile = await _described("clarify", text, SCHEMA, read_profile, ask)
    return _with_examples(profile, task, (profile.entry,))


async def _command(task: Task, ask: Ask) -> Profile:
    """The profile of a command: how it is run and what it prints, as the slow thinker says."""
    channels = channels_in(task.text)
    other, example = command_line.example_for(channels)
    text = render(
        "command",
        task=task.text,
        language=spoken(task.language),
        given=command_line.given_by(channels),
        other=other,
        example=example,
    )

    def read(reply: str) -> command_line.CommandLine:
        return command_line.read_command_line(reply, channels)

    found = await _described("command", text, command_line.schema(channels), read, ask)
    given = read_command_examples(task.text)
    pairs = [
        f"{input_text(one)} prints {one.stdout!r} and {other.stdout!r}"
        for one, other in given.contradictions
    ]
    return Profile(
        outline=found.text(),
        form="" if given.commands else found.form(),
        examples=given.commands,
        sketched=found.runs,
        contradictions=tuple(pairs),
        question=found.question,
        assumed=found.assumed,
    )


async def _library(task: Task, ask: Ask) -> Profile:
    """The profile of a library: its functions and classes, as the task or a model names them."""
    written = written_in(task.text, task.language)
    scripted = task.language in UNTYPED and any(not each.is_class for each in written)
    found = await (_placed(task, written, ask) if scripted else _outlined(task, written, ask))
    profile = Profile(
        outline=found.text(),
        skeleton=found.skeleton(task.language),
        names=found.names,
        calls=found.calls,
        must=found.must,
        question=found.question,
        assumed=found.assumed,
    )
    return _with_examples(profile, task, found.names)


async def _placed(task: Task, written: Sequence[Written], ask: Ask) -> library_outline.Outline:
    """The outline that a task writes; a model only says which class owns what."""
    owners = possible_owners(task.text, written) if task.language == "python" else ()
    open_ones = [each.name for each in written if not (each.is_class or each.owner)]
    told: Mapping[str, str] = {}
    if owners and open_ones:

        def read(reply: str) -> dict[str, str]:
            return library_outline.read_placing(reply, open_ones, owners)

        try:
            text = render("placing", task=task.text)
            told = await _described("placing", text, "", read, ask)
        except BadReply:
            # A class that the task writes owns what stands beside it, as a rule.
            told = {name: each.name for each in written if each.is_class for name in open_ones}
    return library_outline.as_written(placed(written, told), task.language)


async def _outlined(task: Task, written: Sequence[Written], ask: Ask) -> library_outline.Outline:
    """The outline that the slow thinker makes, held to what the task writes."""
    other, example = library_outline.example_for(task.language)
    text = render(
        "library",
        task=task.text,
        language=spoken(task.language),
        classes=" and classes" if task.language == "python" else "",
        other=other,
        example=example,
    )
    schema, read = library_outline.SCHEMA, library_outline.read_outline
    found = await _described("library", text, schema, read, ask)
    own = placed(written, {})
    return library_outline.kept_to(found, own, task.text, task.language) if own else found


async def _described(
    template: str, text: str, schema: str, read: Callable[[str], T], ask: Ask
) -> T:
    question = Question(
        role="slow",
        nth=0,
        text=text,
        purpose="clarification",
        schema=schema,
        tokens=600,
        template=template,
    )
    return await answered(question, read, ask)


def read_profile(text: str) -> Profile:
    """The profile in a reply; BadReply names what is missing."""
    raw = object_in(text, "the profile")
    entry = words(raw, "entry")
    if not entry.isidentifier():
        raise BadReply(f"the profile's entry {entry!r} is not a name")
    question, assumed = open_question(raw)
    return Profile(
        entry=entry,
        signature=words(raw, "signature"),
        question=question,
        assumed=assumed,
    )


def _with_examples(profile: Profile, task: Task, names: tuple[str, ...]) -> Profile:
    """The profile with the examples that the task itself gives for these functions."""
    found = [read_examples(task.text, function=name, language=task.language) for name in names]
    pairs = [
        f"{input_text(one)} gives {one.expected} and {other.expected}"
        for each in found
        for one, other in each.contradictions
    ]
    return replace(
        profile,
        examples=tuple(call for each in found for call in each.calls),
        example_checks=tuple(dict.fromkeys(check for each in found for check in each.checks)),
        contradictions=tuple(pairs),
    )
