"""Settings: documented defaults, one file, the environment; each value knows where it came from.

The file is `$TWINSMITH_CONFIG`, else `twinsmith.toml` in the data folder. A file in the working
folder is not read: a cloned repository must not be able to redirect models or databases.
"""

import difflib
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ValidationError

from twinsmith.adapters.secret_rules import SecretRules
from twinsmith.core.costs.allowance import allowance_in, team_in, unknown_teams
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.core.masking import Masking
from twinsmith.settings.values import Alerts, Values

PREFIX = "TWINSMITH_"
FILE_NAME = "twinsmith.toml"
ALERT_PREFIX = "TWINSMITH_ALERT_"
"""Before the name of a channel: the variable with its address, which holds its secrets."""
HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
_RESERVED = ("TWINSMITH_HOME", "TWINSMITH_CONFIG", "TWINSMITH_SERVER_KEY", "TWINSMITH_KEY")

# The variables that the providers' own tools read.
_KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "server": ("TWINSMITH_SERVER_KEY",),
    # Of another twinsmith, which --server names.
    "twinsmith": ("TWINSMITH_KEY",),
    "graph": ("NEO4J_PASSWORD",),
}
_USER_VARIABLES = {"graph": ("NEO4J_USERNAME",)}
_URL_VARIABLES = {
    "openai": ("OPENAI_BASE_URL",),
    "google": ("GOOGLE_GEMINI_BASE_URL",),
    "anthropic": ("ANTHROPIC_BASE_URL",),
}

# Settings that may name a server and could hold a password, and where that comes from instead.
_ADDRESSES = {
    "database.url": "PGPASSWORD",
    "knowledge.store": "PGPASSWORD",
    "graph.url": "NEO4J_PASSWORD",
}
_GRAPHS = ("bolt://", "bolt+s://", "neo4j://", "neo4j+s://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values in force, where each came from, and the data folder."""

    values: Values
    sources: Mapping[str, str]
    home: Path
    home_source: str
    masking: Masking
    keys: Mapping[str, str]
    urls: Mapping[str, str]
    users: Mapping[str, str]
    alert_addresses: Mapping[str, str] = field(repr=False)
    """The addresses of alert channels by their names; each of them is a secret."""
    telemetry_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What a collector of telemetry is sent with every message; a secret, mostly."""

    @property
    def models_folder(self) -> Path:
        """Where model files lie: the configured folder, else one in the data folder."""
        given = self.values.models.folder
        return Path(given).expanduser().absolute() if given else self.home / "models"

    @property
    def sandbox_folder(self) -> Path:
        """Where layers of packages and what compilers need are kept."""
        given = self.values.sandbox.folder
        return Path(given).expanduser() if given else self.home / "sandbox"

    @property
    def database_url(self) -> str:
        """The engine's database: the configured one, else SQLite in the data folder."""
        return self.values.database.url or f"sqlite:///{self.home / 'state.db'}"


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Read all settings; ConfigError names the first key that is wrong."""
    env = os.environ if environment is None else environment
    home, home_source = _home(env)
    path, explicit = _file(env, home)
    tree: dict[str, dict[str, object]] = {}
    sources = dict.fromkeys(known_keys(), "default")
    for key, value in _from_file(path, explicit=explicit).items():
        _put(tree, key, value)
        sources[key] = str(path)
    for key, (name, text) in _from_environment(env).items():
        _put(tree, key, text)
        sources[key] = name
    addresses = _alert_addresses(env)
    headers = _headers(env)
    return Settings(
        values=_validated(tree, sources),
        sources=sources,
        home=home,
        home_source=home_source,
        masking=Masking(
            secrets=_parts([*addresses.values(), *headers.values()]),
            variables=tuple(env.items()),
            rules=SecretRules((_cache(env), home / "cache")),
        ),
        keys=_first_set(env, _KEY_VARIABLES),
        urls=_first_set(env, _URL_VARIABLES),
        users=_first_set(env, _USER_VARIABLES),
        alert_addresses=addresses,
        telemetry_headers=headers,
    )


def overlaid(settings: Settings, texts: Mapping[str, str], source: str) -> Settings:
    """Settings with other values for some keys, from another source; ConfigError as on loading."""
    if not texts:
        return settings
    tree: dict[str, dict[str, object]] = settings.values.model_dump()
    sources = {**settings.sources, **dict.fromkeys(texts, source)}
    for key, text in texts.items():
        _put(tree, key, text)
    return replace(settings, values=_validated(tree, sources), sources=sources)


def known_keys() -> list[str]:
    """Every key as `section.name`."""
    return [
        f"{section}.{name}"
        for section, field in Values.model_fields.items()
        for name in _fields(field.annotation)
    ]


def values_by_key(values: Values) -> dict[str, Json]:
    """Every key with its value."""
    return {
        f"{section}.{name}": value
        for section, fields in values.model_dump(mode="json").items()
        for name, value in fields.items()
    }


def documented_defaults() -> str:
    """The annotated settings file with every default, as shipped."""
    return files("twinsmith").joinpath(FILE_NAME).read_text(encoding="utf-8")


def _first_set(env: Mapping[str, str], variables: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    found = {
        who: next((env[n] for n in names if env.get(n)), "") for who, names in variables.items()
    }
    return {who: value for who, value in found.items() if value}


def _headers(env: Mapping[str, str]) -> dict[str, str]:
    """The headers for a collector, as OpenTelemetry's own variable names them."""
    pairs = (each.partition("=") for each in env.get(HEADERS, "").split(","))
    return {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs if value}


def _alert_addresses(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(ALERT_PREFIX).lower(): value
        for name, value in env.items()
        if _is_alert_address(name) and value
    }


def _is_alert_address(name: str) -> bool:
    """Whether a variable is a channel's address, and no setting of alerts that lacks its S."""
    rest = name.removeprefix(ALERT_PREFIX).lower()
    return name.startswith(ALERT_PREFIX) and rest not in Alerts.model_fields


def _parts(addresses: Collection[str]) -> tuple[str, ...]:
    """Everything in addresses that is a secret."""
    if not addresses:
        return ()
    # What secrets look like takes a while to import: who has no channel does not pay for it.
    from twinsmith.core.sensitive.addresses import parts_of_address

    return tuple(part for each in addresses for part in parts_of_address(each))


def _home(env: Mapping[str, str]) -> tuple[Path, str]:
    if env.get("TWINSMITH_HOME"):
        return Path(env["TWINSMITH_HOME"]).expanduser().absolute(), "TWINSMITH_HOME"
    if env.get("XDG_DATA_HOME"):
        return Path(env["XDG_DATA_HOME"]).absolute() / "twinsmith", "XDG_DATA_HOME"
    return Path.home() / ".local" / "share" / "twinsmith", "default"


def _cache(env: Mapping[str, str]) -> Path:
    """Where what can be made again is kept for all data folders of a person."""
    given = env.get("XDG_CACHE_HOME")
    return (Path(given).absolute() if given else Path.home() / ".cache") / "twinsmith"


def _file(env: Mapping[str, str], home: Path) -> tuple[Path, bool]:
    named = env.get("TWINSMITH_CONFIG")
    return (Path(named).expanduser().absolute(), True) if named else (home / FILE_NAME, False)


def _from_file(path: Path, *, explicit: bool) -> dict[str, object]:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if explicit:
            raise ConfigError(
                f"TWINSMITH_CONFIG {path} does not exist; name a file or unset it"
            ) from None
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; mend its rights") from None
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}; mend it") from None
    flat: dict[str, object] = {}
    for section, given in raw.items():
        if section not in Values.model_fields or not isinstance(given, dict):
            raise ConfigError(_unknown(section, list(Values.model_fields), path))
        for name, value in given.items():
            key = f"{section}.{name}"
            if key not in known_keys():
                raise ConfigError(_unknown(key, known_keys(), path))
            flat[key] = value
    _refuse_passwords(flat, path)
    return flat


def _refuse_passwords(flat: Mapping[str, object], path: Path) -> None:
    for key, variable in _ADDRESSES.items():
        if urlsplit(str(flat.get(key, ""))).password:
            name = f"{PREFIX}{key.replace('.', '_').upper()}"
            raise ConfigError(
                f"{key} in {path} holds a password; secrets come from the environment only: "
                f"set {name} or {variable}"
            )


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    names = {f"{PREFIX}{key.replace('.', '_').upper()}": key for key in known_keys()}
    found: dict[str, tuple[str, str]] = {}
    for name, value in env.items():
        if not name.startswith(PREFIX) or name in _RESERVED or _is_alert_address(name):
            continue
        if name not in names:
            raise ConfigError(_unknown(name, [*names, *_RESERVED], "the environment"))
        found[names[name]] = (name, value)
    return found


def _unknown(key: str, known: list[str], where: object) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0)
    return f"{key!r} in {where} is not a setting; did you mean {near[0]!r}?"


def _put(tree: dict[str, dict[str, object]], key: str, value: object) -> None:
    section, name = key.split(".", 1)
    tree.setdefault(section, {})[name] = value


def _validated(tree: Mapping[str, object], sources: Mapping[str, str]) -> Values:
    try:
        values = Values.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{key} = {first['input']!r} from {sources.get(key, '?')}: {first['msg'].lower()}"
        ) from None
    _check_address("database.url", values.database.url, ("postgresql://", "sqlite:///"), sources)
    _check_address("knowledge.store", values.knowledge.store, ("postgresql://",), sources)
    _check_address("graph.url", values.graph.url, _GRAPHS, sources)
    teams = [team_in(text)[0] for text in values.budgets.teams]
    for name in unknown_teams([allowance_in(text) for text in values.budgets.limits], teams):
        raise ConfigError(
            f"budgets.limits from {sources['budgets.limits']} names team {name!r}, and "
            "budgets.teams has none of that name; add it: blue ann bob"
        )
    ensembles = (values.ensemble_1, values.ensemble_2)
    named = [name for e in ensembles for names in (e.slow, e.coder, e.critic) for name in names]
    asked_for = values.models.server_model or any(name.startswith("server:") for name in named)
    if values.models.server and not asked_for:
        raise ConfigError(
            f"models.server from {sources['models.server']} is set, models.server_model is not; "
            "name the model to ask for"
        )
    return values


def _check_address(key: str, url: str, known: tuple[str, ...], sources: Mapping[str, str]) -> None:
    if url and not url.startswith(known):
        raise ConfigError(
            f"{key} from {sources[key]} starts with {url.split(':', 1)[0]!r}; "
            f"it must start with {' or '.join(known)}"
        )


def _fields(annotation: object) -> list[str]:
    assert isinstance(annotation, type)
    assert issubclass(annotation, BaseModel)
    return list(annotation.model_fields)
