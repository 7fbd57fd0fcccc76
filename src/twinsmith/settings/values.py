"""Every setting with its type, its limits and its default."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Choice = Literal["auto", "on", "off"]
Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


def _listed(value: object) -> object:
    """The environment writes a list as words with commas between them."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Models(_Section):
    """Which models there are."""

    script: str = ""
    server: str = ""
    server_model: str = ""
    ollama: str = "http://127.0.0.1:11434"
    embedded: str = "auto"
    folder: str = ""
    hub: str = ""


class Ensemble(_Section):
    """The models of each role of one ensemble, in order; empty: chosen automatically."""

    slow: Names = ()
    coder: Names = ()
    critic: Names = ()


class GatewayManners(_Section):
    """How models are asked."""

    reply_tokens: Annotated[int, Field(ge=16)] = 2048
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    at_once: Positive = 8
    per_minute: Annotated[int, Field(ge=0)] = 0
    connect_seconds: Annotated[float, Field(gt=0)] = 10.0
    first_token_seconds: Annotated[float, Field(gt=0)] = 300.0
    reply_seconds: Annotated[float, Field(gt=0)] = 600.0
    cache_mb: Annotated[int, Field(ge=0)] = 256
    retention_days: Annotated[int, Field(ge=0)] = 30


class Embedded(_Section):
    """How the embedded model uses the machine; 0: what fits it."""

    threads: Annotated[int, Field(ge=0)] = 0
    slots: Annotated[int, Field(ge=0, le=64)] = 0
    context: Annotated[int, Field(ge=0)] = 0


class Build(_Section):
    """How a task is worked on."""

    candidates: Annotated[int, Field(ge=1, le=40)] = 16
    enough: Share = 0.9
    least: Share = 0.65
    votes: Annotated[int, Field(ge=0, le=20)] = 4
    voting: Choice = "auto"
    variants: Annotated[int, Field(ge=0, le=2000)] = 400
    refinements: Annotated[int, Field(ge=0, le=2)] = 2
    mending: Choice = "auto"
    ensembles: Annotated[int, Field(ge=1, le=2)] = 2
    inputs: Annotated[int, Field(ge=0, le=200)] = 40
    exchange: bool = True
    notes: bool = True
    retrieval: bool = True
    practice: Choice = "auto"
    frame: Choice = "auto"
    answer_seconds: Annotated[float, Field(ge=0)] = 60.0
    questions: Literal["ask", "park"] = "ask"
    seed: Annotated[int, Field(ge=0)] = 0
    budget_seconds: Annotated[float, Field(gt=0)] = 1200.0
    budget_tokens: Positive = 60_000
    budget_usd: Annotated[float, Field(ge=0)] = 0.0


class Quality(_Section):
    """What a program has to be besides right."""

    review: bool = True
    sanitize: bool = True
    allowed: Names = ()
    most_notes: Annotated[int, Field(ge=0)] = 0
    slow: Annotated[float, Field(ge=1)] = 10.0
    too_slow: Annotated[float, Field(ge=0)] = 0.0


class Sandbox(_Section):
    """Where untrusted programs run, and what one execution may use."""

    backend: Literal["bubblewrap", "docker", "podman"] = "bubblewrap"
    engine_host: str = ""
    runtime: str = ""
    folder: str = ""
    probe_seconds: Annotated[float, Field(gt=0, le=600)] = 5.0
    cpu_seconds: Annotated[float, Field(gt=0, le=600)] = 5.0
    memory_mb: Annotated[int, Field(ge=64)] = 512


class Knowledge(_Section):
    """What is known: where it is kept, and what turns words into vectors."""

    store: str = ""
    embedder: str = "minilm-l6-v2"
    dimensions: Annotated[int, Field(ge=0, le=65_536)] = 0
    least_cosine: Share = 0.0


class Graph(_Section):
    """Where what was learned is kept."""

    url: str = ""


class Database(_Section):
    """Where runs are remembered."""

    url: str = ""


class Workers(_Section):
    """How many runs are worked on at once."""

    concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    at_once: Annotated[int, Field(ge=0)] = 0


class Values(_Section):
    """All settings."""

    models: Models = Models()
    ensemble_1: Ensemble = Ensemble()
    ensemble_2: Ensemble = Ensemble()
    gateway: GatewayManners = GatewayManners()
    embedded: Embedded = Embedded()
    build: Build = Build()
    quality: Quality = Quality()
    sandbox: Sandbox = Sandbox()
    knowledge: Knowledge = Knowledge()
    graph: Graph = Graph()
    database: Database = Database()
    workers: Workers = Workers()
