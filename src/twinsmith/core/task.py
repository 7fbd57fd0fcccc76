"""The task that a person gives, and the job it becomes."""

import ast
import hashlib
import json
from dataclasses import asdict, dataclass, replace

from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ConfigError
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.masking import Masking, places_masked
from twinsmith.core.operating.mend import Mend
from twinsmith.core.program import KINDS, Kind
from twinsmith.core.syntax import parse
from twinsmith.core.trying.arrangement import AS_SET, Arrangement
from twinsmith.core.wording import (
    LANGUAGES,
    foreign_language_in,
    harm_in,
    kind_in,
    kind_is_told,
    language_in,
    says_something,
)

SPELLINGS = {"c++": "cpp", "golang": "go", "py": "python", "python3": "python"}
LONGEST_TASK = 60_000
LONGEST_TESTS = 200_000
SHORT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task in one sentence, with its language, kind and tests."""

    text: str
    language: str
    kind: Kind
    tests: str = ""
    spec: str = ""
    """The OpenAPI document that the service has to keep to, as JSON text; empty: none."""
    kind_open: bool = False
    """Whether nobody said what kind of program is wanted, so that `kind` is only a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """The number of places in a person's task and tests where a secret was masked."""

    task: int = 0
    tests: int = 0

    def __bool__(self) -> bool:
        """Whether any place was masked."""
        return bool(self.task or self.tests)

    def __str__(self) -> str:
        """The masked places in words, for a person."""
        counts = (("the task", self.task), ("the tests", self.tests))
        return " and ".join(
            f"{count} place{'s' * (count != 1)} in {where}" for where, count in counts if count
        )


NOTHING_MASKED = Masked()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A run that is built again, and what of it is not to be had any more."""

    run: str
    different: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task with its budget, effort, seed and all else that fixes how it is worked on."""

    run: str
    task: Task
    budget: Budget
    effort: Effort
    quality: Thresholds
    reply_tokens: int
    seed: int
    out: str
    masked: Masked = NOTHING_MASKED
    mend: Mend | None = None
    """The service that is to be mended; None where one is built from the task alone."""
    arrangement: Arrangement = AS_SET
    """Where it is worked on in another way than the settings say: their values are applied above,
    models and templates are asked for by whoever drives the run."""
    experiments: tuple[tuple[str, str], ...] = ()
    """The experiments that it is part of, each with its arm; what they try is in `arrangement`."""
    repeats: Repeated | None = None
    """The run that is built again; None where it is no repetition."""
    trace: str = ""
    """Where in a trace it was given, as a `traceparent`; empty: its trace begins with it."""

    @property
    def settings(self) -> str:
        """A short hash of what settings fix of the work, to see whether two runs had the same."""
        fixed = [asdict(self.effort), asdict(self.quality), self.reply_tokens]
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:SHORT]


def read_task(*, text: str, language: str, kind: str, tests: str, spec: str = "") -> Task:
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
    wanted = _kind(text, kind or ("service" if spec else ""))
    if spec and wanted != "service":
        raise ConfigError(f"a spec describes a service, not a {wanted}; leave --kind or --spec out")
    return Task(
        text=text,
        language=_language(text, language),
        kind=wanted,
        tests=tests,
        spec=spec,
        kind_open=not (kind or spec or tests or kind_is_told(text)),
    )


def without_secrets(task: Task, masking: Masking) -> tuple[Task, Masked]:
    """The task without secrets, and the number of places that were masked."""
    kept = replace(task, text=masking.text(task.text), tests=masking.code(task.tests))
    return kept, Masked(
        task=places_masked(task.text, kept.text), tests=places_masked(task.tests, kept.tests)
    )


def runs_when_masked(tests: str) -> bool:
    """Whether tests can still run: everything masked in them stood in strings and comments."""
    try:
        tree = parse(tests)
    except SyntaxError:
        return False
    return not any(isinstance(node, ast.Name) and node.id == "masked" for node in ast.walk(tree))


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
