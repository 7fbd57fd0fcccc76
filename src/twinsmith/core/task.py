"""What a person asked for, and the job it becomes."""

from dataclasses import dataclass

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError
from twinsmith.core.program import KINDS, Kind

BUILT_KINDS = ("function",)
LANGUAGES = ("python",)

LONGEST_TASK = 20_000
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
    candidates: int
    reply_tokens: int
    seed: int
    out: str


def read_task(*, text: str, language: str, kind: str, tests: str) -> Task:
    """Turn what a person typed into a task, or say in one line what is wrong with it."""
    text = text.strip()
    if not text:
        raise ConfigError('the task is empty; say what to build, for example: "a function that …"')
    if len(text) > LONGEST_TASK:
        raise ConfigError(
            f"the task has {len(text)} characters; at most {LONGEST_TASK}: shorten it"
        )
    if "\0" in text:
        raise ConfigError("the task holds a NUL character; remove it")
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise ConfigError(f"language {language!r} cannot be built yet; this version builds {known}")
    if kind not in KINDS:
        raise ConfigError(f"kind {kind!r} is unknown; one of {', '.join(KINDS)}")
    if kind not in BUILT_KINDS:
        known = ", ".join(BUILT_KINDS)
        raise ConfigError(f"kind {kind!r} cannot be built yet; this version builds {known}")
    if len(tests) > LONGEST_TESTS:
        raise ConfigError(f"the tests have {len(tests)} characters; at most {LONGEST_TESTS}")
    return Task(text=text, language=language, kind="function", tests=tests)
