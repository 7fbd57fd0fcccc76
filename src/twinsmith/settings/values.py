"""Every setting with its type, its limits and its default."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from twinsmith.core.costs.allowance import allowance_in, team_in
from twinsmith.core.costs.price import price_in
from twinsmith.core.operating.alert import channel_in, quiet_in
from twinsmith.core.operating.expiry import place_in
from twinsmith.core.operating.inspected import RISKS
from twinsmith.core.operating.windows import window_in
from twinsmith.core.people.approval import OCCASIONS

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


class Hosting(_Section):
    """Where apps run, and what stands before them."""

    host: Literal["local", "docker", "podman"] = "local"
    first_port: Annotated[int, Field(ge=1024, le=60_000)] = 8100
    proxy: Literal["auto", "caddy", "small"] = "auto"
    base: str = ""
    docker: str = ""
    podman: str = ""


class Deploy(_Section):
    """How a new version of an app is brought in."""

    memory_mb: Annotated[int, Field(ge=64)] = 512
    processes: Annotated[int, Field(ge=8, le=4096)] = 128
    ready_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    battery: bool = True
    shared: Names = ()
    canary_share: Annotated[int, Field(ge=0, le=50)] = 10
    canary_seconds: Annotated[float, Field(ge=0)] = 5.0
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = 20.0
    soak_seconds: Annotated[float, Field(ge=0)] = 30.0


Level = Literal["low", "medium", "high", "critical", "never"]


class Scan(_Section):
    """What a scan before a release blocks."""

    code: Level = "high"
    dependency: Level = "high"
    secret: Level = "high"  # noqa: S105
    licence: Level = "high"
    licences: Names = ()
    advisories: bool = True
    advisories_url: str = ""


def _known_occasions(names: tuple[str, ...]) -> tuple[str, ...]:
    # A risk is named with its level: without one it would never be an occasion. Whether a promotion
    # is asked about says experiments.promote.
    plain = (each for each in OCCASIONS if each not in ("risk", "promotion"))
    known = (*plain, *(f"risk_{level}" for level in RISKS))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no occasion; one of {', '.join(known)}")
    return names


class Approvals(_Section):
    """Which actions need a person's word, and whose."""

    needed: Annotated[Names, AfterValidator(_known_occasions)] = (
        "schema_change",
        "data_touched",
        "risk_high",
        "heal",
    )
    by: Names = ()
    own: bool = True
    wait_seconds: Annotated[float, Field(ge=0)] = 86_400.0
    unanswered: Literal["reject", "approve"] = "reject"


def _readable_windows(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        window_in(text)
    return texts


def _readable_places(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        place_in(text)
    return texts


class Monitor(_Section):
    """How apps are watched, and what is done about trouble without asking."""

    seconds: Annotated[float, Field(ge=0.2, le=60)] = 1.0
    probe_seconds: Annotated[float, Field(ge=0.2, le=600)] = 2.0
    steady_seconds: Annotated[float, Field(ge=1)] = 30.0
    heal: bool = True
    fix: bool = True
    fix_seconds: Annotated[float, Field(ge=10)] = 900.0
    fix_tokens: Annotated[int, Field(ge=1000)] = 60_000
    windows: Annotated[Names, AfterValidator(_readable_windows)] = ()
    certificates: Annotated[Names, AfterValidator(_readable_places)] = ()
    dates_seconds: Annotated[float, Field(ge=60)] = 86_400.0


def _known_channels(texts: tuple[str, ...]) -> tuple[str, ...]:
    names = [channel_in(text).name for text in texts]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"channel {twice[0]!r} is named twice")
    return texts


def _span(text: str) -> str:
    quiet_in(text)
    return text


class Alerts(_Section):
    """Where people are told about apps, and when they are left in peace."""

    channels: Annotated[Names, AfterValidator(_known_channels)] = ()
    quiet: Annotated[str, AfterValidator(_span)] = ""
    repeat_seconds: Annotated[float, Field(ge=0)] = 900.0


def _readable_prices(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        price_in(text)
    return texts


class Costs(_Section):
    """What models cost where no list of prices says it."""

    prices: Annotated[Names, AfterValidator(_readable_prices)] = ()
    watts: Annotated[float, Field(ge=0, le=100_000)] = 65.0
    kwh_usd: Annotated[float, Field(ge=0, le=1000)] = 0.0


def _readable_limits(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        allowance_in(text)
    return texts


def _readable_teams(texts: tuple[str, ...]) -> tuple[str, ...]:
    names = [team_in(text)[0] for text in texts]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"team {twice[0]!r} is named twice")
    return texts


class Budgets(_Section):
    """What may be spent, besides the budget of each run."""

    limits: Annotated[Names, AfterValidator(_readable_limits)] = ()
    teams: Annotated[Names, AfterValidator(_readable_teams)] = ()
    wait_seconds: Annotated[float, Field(ge=0)] = 86_400.0


class Resources(_Section):
    """What may be used of a machine, and how long what can be made again stays on it."""

    memory_mb: Annotated[int, Field(ge=0)] = 0
    processors: Annotated[float, Field(ge=0, le=4096)] = 0.0
    models_memory_mb: Annotated[int, Field(ge=0)] = 0
    apps: Annotated[int, Field(ge=0)] = 0
    free_memory_mb: Annotated[int, Field(ge=0)] = 256
    free_disk_mb: Annotated[int, Field(ge=0)] = 512
    keep_days: Annotated[float, Field(ge=0)] = 90.0
    keep_mb: Annotated[int, Field(ge=0)] = 0


def _reachable(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise ValueError("it must start with http:// or https://")
    if "@" in text:
        raise ValueError("it holds a user; give OTEL_EXPORTER_OTLP_HEADERS in the environment")
    return text


class Telemetry(_Section):
    """Where traces and figures go, and what of them is kept here."""

    keep_hours: Annotated[float, Field(ge=0, le=720)] = 24.0
    endpoint: Annotated[str, AfterValidator(_reachable)] = ""
    protocol: Literal["http", "grpc"] = "http"
    sample: Share = 1.0
    prompts: bool = False


class Experiments(_Section):
    """What becomes of an arm that wins an experiment."""

    promote: Literal["ask", "auto", "never"] = "ask"


class Server(_Section):
    """Where the API and the console are reached, and what protects them."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8400
    certificate: str = ""
    certificate_key: str = ""
    public: str = ""
    plain: bool = False
    proxies: Names = ()
    idle_seconds: Annotated[float, Field(ge=60)] = 28_800.0
    session_seconds: Annotated[float, Field(ge=60)] = 604_800.0
    per_second: Positive = 50
    burst: Positive = 200
    body_mb: Annotated[float, Field(gt=0, le=64)] = 2.0


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
    hosting: Hosting = Hosting()
    deploy: Deploy = Deploy()
    scan: Scan = Scan()
    approvals: Approvals = Approvals()
    monitor: Monitor = Monitor()
    alerts: Alerts = Alerts()
    costs: Costs = Costs()
    budgets: Budgets = Budgets()
    resources: Resources = Resources()
    experiments: Experiments = Experiments()
    telemetry: Telemetry = Telemetry()
    server: Server = Server()
