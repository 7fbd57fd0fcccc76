"""A task in, its profile out: what is asked for, and what was assumed."""

import json
import re
from dataclasses import replace

from twinsmith.core.errors import BadReply
from twinsmith.core.examples import read_examples
from twinsmith.core.model import Ask, Question
from twinsmith.core.profile import Profile
from twinsmith.core.task import Task
from twinsmith.core.wording import entry_in, signature_in
from twinsmith.flow.build.asking import answered
from twinsmith.prompts import render

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_SENSITIVE = re.compile(
    r"\b(?:passwords?|passwort|authenticat\w*|authoris\w*|authoriz\w*|log ?ins?|tokens?|sessions?"
    r"|credentials?|encrypt\w*|decrypt\w*|secrets?|payments?|credit cards?|personal data|sql|users?"
    r"|uploads?|admin\w*)\b",
    re.IGNORECASE,
)
_LONGEST_WORDS = 300
SHAPES = {
    "python": "def name(argument: type) -> type:",
    "perl": "sub name { my ($argument) = @_; ... }",
    "rust": "pub fn name(argument: Type) -> Type",
    "go": "func Name(argument type) type",
    "c": "type name(type argument)",
    "cpp": "type name(type argument)",
}
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "entry": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "signature": {"type": "string"},
            "question": {"type": "string"},
            "assumed": {"type": "string"},
        },
        "required": ["entry", "signature", "question", "assumed"],
        "additionalProperties": False,
    }
)


async def clarify(task: Task, ask: Ask) -> Profile:
    """Read the task; where it does not name its function, ask the slow thinker to."""
    profile = Profile(sensitive=bool(_SENSITIVE.search(task.text)))
    if task.kind in ("cli", "service"):
        return profile
    entry = entry_in(task.text)
    if entry:
        signature = signature_in(task.text, entry)
        profile = Profile(entry=entry, signature=signature, sensitive=profile.sensitive)
    else:
        text = render(
            "clarify", task=task.text, language=task.language, shape=SHAPES[task.language]
        )
        question = Question(
            role="slow", nth=0, text=text, purpose="clarification", schema=SCHEMA, tokens=300
        )
        profile = await answered(question, read_profile, ask)
    return _with_examples(profile, task)


def read_profile(text: str) -> Profile:
    """The profile in a reply; BadReply names what is missing."""
    fenced = _FENCED.search(text)
    try:
        raw = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"the profile is not JSON ({error})") from None
    if not isinstance(raw, dict):
        raise BadReply("the profile is not a JSON object")
    entry = _words(raw, "entry")
    if not entry.isidentifier():
        raise BadReply(f"the profile's entry {entry!r} is not a name")
    question, assumed = _words(raw, "question"), _words(raw, "assumed")
    asks = bool(question and assumed)
    return Profile(
        entry=entry,
        signature=_words(raw, "signature"),
        question=question if asks else "",
        assumed=assumed if asks else "",
    )


def _words(raw: dict[str, object], name: str) -> str:
    value = raw.get(name)
    return " ".join(value.split())[:_LONGEST_WORDS] if isinstance(value, str) else ""


def _with_examples(profile: Profile, task: Task) -> Profile:
    found = read_examples(task.text, function=profile.entry)
    pairs = [
        f"{a.function}({', '.join(a.args)}) gives {a.expected} and {b.expected}"
        for a, b in found.contradictions
    ]
    return replace(
        profile,
        examples=found.calls,
        example_checks=found.checks,
        contradictions=tuple(pairs),
        sensitive=bool(_SENSITIVE.search(task.text)),
    )
