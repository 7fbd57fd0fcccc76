"""What a person asked for, and the job it becomes."""

from dataclasses import dataclass

from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ConfigError
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.program import KINDS, Kind
from twinsmith.core.wording import (
    LANGUAGES,
    foreign_language_in,
    harm_in,
    kind_in,
    language_in,
    says_something,
)

SPELLINGS = {"c++": "cpp", "golang": "go", "py": "python", "python3": "python"}
LONGEST_TASK = 60_000
LONGEST_TESTS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One sentence and what is known about it."""

    text: str
    language: str
    kind: Kind
    tests: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task together with everything that fixes how it is worked on."""

    run: str
    task: Task
    budget: Budget
    effort: Effort
    quality: Thresholds
    reply_tokens: int
    seed: int
    out: str


def read_task(*, text: str, language: str, kind: str, tests: str) -> Task:
    """Turn what a person typed into a task, or say in one line what is wrong with it.

    An empty language or kind is read off the text.
    """
    text = text.strip()
    if not text:
        raise ConfigError('the task is empty; say what to build, for example: "a function that …"')
    if len(text) > LONGEST_TASK:
        raise ConfigError(
            f"the task has {len(text)} characters; at most {LONGEST_TASK}: shorten it"
        )
    if "\0" in text:
        raise ConfigError("the task holds a NUL character; remove it")
    if not says_something(text):
        raise ConfigError(f"the task {text!r} says too little; say in a sentence what to build")
    harm = harm_in(text)
    if harm:
        raise ConfigError(f"the task asks for {harm!r}; twinsmith builds nothing that does harm")
    if len(tests) > LONGEST_TESTS:
        raise ConfigError(f"the tests have {len(tests)} characters; at most {LONGEST_TESTS}")
    return Task(text=text, language=_language(text, language), kind=_kind(text, kind), tests=tests)


def _language(text: str, given: str) -> str:
    given = given.strip().lower()
    named = language_in(text)
    foreign = "" if named or given else foreign_language_in(text)
    wanted = SPELLINGS.get(given, given) or foreign or named or "python"
    if wanted not in LANGUAGES:
        raise ConfigError(
            f"language {wanted!r} cannot be built; one of {', '.join(LANGUAGES)}, by --language"
        )
    return wanted


def _kind(text: str, given: str) -> Kind:
    if not given:
        return kind_in(text)
    for known in KINDS:
        if given == known:
            return known
    raise ConfigError(f"kind {given!r} is unknown; one of {', '.join(KINDS)}")
