"""What goes over the wire between a server and its clients, where it is no value of the core."""

from dataclasses import dataclass
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from twinsmith.core.driving import Priority
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Broken
from twinsmith.core.operating.action import ActionKind, ActionOutcome
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.instance import HostName, InstanceStatus
from twinsmith.core.operating.reading import Reading
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.people.override import Command, Override
from twinsmith.core.people.role import Permission

T = TypeVar("T")
Name = Annotated[str, Field(max_length=200)]
Words = Annotated[str, Field(max_length=2_000)]


class Asked(BaseModel):
    """What is asked for; a word that is not known is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, **given: object) -> Self:
        """What is asked for; ConfigError says in one line what of it cannot be."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ConfigError(f"{place}: {first['msg'].lower()}") from None


class NewRun(Asked):
    """A task for both ensembles."""

    task: Annotated[str, Field(min_length=1, max_length=60_000)]
    language: Name = ""
    kind: Name = ""
    tests: Annotated[str, Field(max_length=200_000)] = ""
    spec: Annotated[str, Field(max_length=500_000)] = ""
    """An OpenAPI document, as JSON or YAML."""
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    budget_seconds: Annotated[float, Field(gt=0, le=1e6)] | None = None
    budget_tokens: Annotated[int, Field(gt=0, le=10**9)] | None = None
    budget_usd: Annotated[float, Field(gt=0, le=1e6)] | None = None
    priority: Priority = "normal"
    arrangement: Annotated[tuple[Words, ...], Field(max_length=50)] = ()
    """In what other way than the settings say: `build.votes=2`, `coder=openai:gpt-4o-mini`."""


class NewApp(Asked):
    """A release of what a run has built."""

    run: Name
    name: Name = ""
    host: Literal["", "local", "docker", "podman"] = ""
    port: Annotated[int, Field(ge=0, le=65_535)] = 0
    replace: bool = False
    secrets: dict[Name, Annotated[str, Field(max_length=10_000)]] = Field(default_factory=dict)


class Deed(Asked):
    """Something to do with an app; `to` is the release that a rollback goes to, 0 the good one."""

    to: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    data: bool = False
    """Whether a removal takes the app's data as well."""
    reason: Words = ""
    """Why; it is kept with the deed."""


class Said(Asked):
    """An answer, a note, or a reason."""

    text: Words = ""


class Modified(Asked):
    """Other files of the source, or other terms, of an action that waits for a person's word."""

    note: Words = ""
    files: dict[Name, Annotated[str, Field(max_length=1_000_000)]] = Field(default_factory=dict)
    terms: dict[Name, float] = Field(default_factory=dict)


class NewExperiment(Asked):
    """Two ways of working that are to be compared; arms are told in words, `build.votes=2`."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    a: list[Words] = Field(default_factory=list)
    """How arm a works; nothing: as it is now."""
    b: list[Words] = Field(default_factory=list)
    share: float = 0.2
    """The part of the tasks that b gets."""
    metric: Name = "solved"
    guards: list[Name] = Field(default_factory=list)
    """What ends b: `tokens<=1.3`, `solved>=-0.05`."""
    least: float | None = None
    """The least effect worth having."""
    replay: bool = False
    """Whether recorded tasks are built in both arms, instead of those that people give."""
    tasks: Annotated[str, Field(max_length=2_000_000)] = ""
    """The tasks of a replay, one a line; nothing: those of past runs."""
    most: Annotated[int, Field(ge=1, le=1000)] = 100
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] = 0


class NewOverride(Asked):
    """A command over the head of everything automatic; `scope` is an app, or `all`."""

    command: Command
    scope: Name
    reason: Annotated[str, Field(min_length=1, max_length=2_000)]


class NewPassage(Asked):
    """Something that is to be known from now on."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=500_000)]
    language: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """Some of what there is, and where to go on; an empty `next`: that was all."""

    items: tuple[T, ...]
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run that was begun, or waits for a worker."""

    run: str
    state: str
    workers: int
    """How many take runs just now; 0: it waits until one comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended: a build, or something that was done with an app."""

    outcome: RunOutcome | ActionOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class AppShown:
    """An app as it stands."""

    app: App
    state: str
    problem: str = ""
    override: str = ""
    """The override that holds it, in words."""
    under_way: tuple[str, ...] = ()
    status: InstanceStatus | None = None
    """How its serving release stands, as its host sees it."""
    held: Override | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseShown:
    """A release without its source, which has an address of its own."""

    app: str
    number: int
    state: str
    reason: str
    parent: int
    run: str
    by: str
    at: str
    source: str
    """The SHA-256 of its source."""
    built_by: str
    """The run that built it."""
    image: str
    base: str = ""
    """The base image with its digest."""
    config: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthShown:
    """How an app does: figures over time, oldest first, and what troubles it."""

    app: str
    words: str
    release: int
    seen_seconds_ago: float | None
    at: tuple[float, ...]
    series: dict[str, tuple[float | None, ...]]
    units: dict[str, str]
    reading: Reading | None = None
    """The latest one, with everything that it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeedBegun:
    """A deed that waits in the execution queue."""

    run: str
    app: str
    kind: ActionKind
    host: HostName


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was done, in lines."""

    done: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """How a model was used in a role."""

    model: str
    """Empty: no model answered."""
    role: str
    ensemble: int
    calls: int
    failed: int
    """Calls that no model answered; they are not among `calls`."""
    tokens_in: int
    tokens_out: int
    seconds: float
    first_token_seconds: float | None
    """On average, where it was measured."""
    usd: float
    unpriced: int
    cached: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The models that a role asks, in their order."""

    ensemble: int
    role: str
    models: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage that answers a question, and how near it is."""

    score: float
    source: str
    path: str
    language: str
    licence: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """How many passages a text became."""

    passages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryShown:
    """A line of the journal."""

    run: str
    seq: int
    at: str
    kind: str
    who: str
    data: JsonValue
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainChecked:
    """A chain of the journal that was followed from its beginning to its end."""

    run: str
    lines: int
    broken: Broken | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Whether every hash of the journal holds."""

    ok: bool
    lines: int
    chains: tuple[ChainChecked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who asks, and what they may do."""

    name: str
    permissions: tuple[Permission, ...]
    by: Literal["key", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """A server that answers."""

    status: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Whether everything that a run needs is there."""

    ready: bool
    workers: int
    queued: int
    monitor: bool
    problems: tuple[str, ...]


def release_shown(release: Release) -> ReleaseShown:
    """A release as it goes over the wire, without its source."""
    source, image = release.deliverable.source, release.image
    return ReleaseShown(
        app=release.app,
        number=release.number,
        state=release.state,
        reason=release.reason,
        parent=release.parent,
        run=release.run,
        by=release.by,
        at=release.at,
        source=source.digest,
        built_by=source.run,
        image=image.digest if image else "",
        base=image.base if image else "",
        config=release.config,
    )
