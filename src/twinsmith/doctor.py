"""What this machine has, what is in force, and what to do about what is missing."""

import platform
import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from twinsmith.core.errors import EngineError, TwinsmithError
from twinsmith.settings import FILE_NAME, Settings, values_by_key

Health = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One part of the machine or of the settings."""

    name: str
    health: Health
    value: str
    source: str
    advice: str = ""


async def examine(settings: Settings) -> list[Component]:
    """Look at every part; `missing` means that the main job could not run."""
    return [
        _python(),
        _home(settings),
        _stray_settings(settings),
        await _sandbox(settings),
        *_languages(),
        _review_tools(),
        *_models(settings),
        _embedder(settings),
        await _graph(settings),
        _database(settings),
        *await _hosts(settings),
        _proxy(settings),
        *_channels(settings),
        *_settings(settings),
    ]


def ready(components: list[Component]) -> bool:
    """Whether the main job can run."""
    return all(component.health != "missing" for component in components)


def _python() -> Component:
    value = f"{platform.python_version()} at {sys.executable}"
    return Component(name="python", health="ok", value=value, source="this process")


def _home(settings: Settings) -> Component:
    home, source = settings.home, settings.home_source
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = home / ".doctor"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        return Component(
            name="data folder",
            health="missing",
            value=f"{home} ({error.strerror})",
            source=source,
            advice="set TWINSMITH_HOME to a folder you can write to",
        )
    return Component(name="data folder", health="ok", value=str(home), source=source)


def _stray_settings(settings: Settings) -> Component:
    stray = Path.cwd() / FILE_NAME
    in_force = sorted({s for s in settings.sources.values() if s.endswith(".toml")})
    if stray.exists() and str(stray) not in in_force:
        return Component(
            name="settings file",
            health="warning",
            value=f"{stray} is not read",
            source="working folder",
            advice=f"to use it: export TWINSMITH_CONFIG={stray}",
        )
    value = in_force[0] if in_force else "none, defaults are in force"
    return Component(name="settings file", health="ok", value=value, source="search order")


async def _sandbox(settings: Settings) -> Component:
    from twinsmith.adapters.sandbox.controls import ADVICE
    from twinsmith.wiring.sandbox import sandbox_of

    try:
        isolation = await sandbox_of(settings).isolation()
    except TwinsmithError as error:
        what, _, advice = str(error).rpartition("; ")
        return Component(
            name="sandbox", health="missing", value=what, source="tried it", advice=advice
        )
    return Component(
        name="sandbox",
        health="warning" if isolation.missing else "ok",
        value=f"{isolation} version={isolation.version}",
        source="tried it",
        advice="; ".join(f"{name}: {ADVICE.get(name, '?')}" for name in isolation.missing),
    )


async def _hosts(settings: Settings) -> list[Component]:
    """The hosts that apps can run on; only the one that the settings choose is asked."""
    from twinsmith.core.operating.instance import HOSTS

    chosen = settings.values.hosting.host
    others = [name for name in HOSTS if name != chosen]
    return [await _host(settings), *map(_other_host, others)]


async def _host(settings: Settings) -> Component:
    from twinsmith.wiring.delivering import hosting_of

    name = settings.values.hosting.host
    try:
        await hosting_of(settings, name).host.status("nobody-1")
    except TwinsmithError as error:
        what, _, advice = str(error).rpartition("; ")
        return Component(
            name=f"host {name}", health="missing", value=what, source="asked it", advice=advice
        )
    return Component(name=f"host {name}", health="ok", value="apps run here", source="asked it")


def _other_host(name: str) -> Component:
    here = name == "local" or shutil.which(name) is not None
    value = f"{'installed' if here else 'not installed'}; apps run there with --host {name}"
    return Component(name=f"host {name}", health="ok", value=value, source="looked for it")


def _proxy(settings: Settings) -> Component:
    from twinsmith.adapters.proxy.caddy import why_not_caddy
    from twinsmith.wiring.delivering import proxy_of

    lacks = proxy_of(settings).lacks
    return Component(
        name="proxy",
        health="ok",
        value=f"the small one: {', '.join(lacks)}" if lacks else "Caddy",
        source=settings.sources["hosting.proxy"],
        advice=why_not_caddy() if lacks and settings.values.hosting.proxy == "auto" else "",
    )


def _channels(settings: Settings) -> list[Component]:
    from twinsmith.runs.alerts import channel_views, in_words

    return [
        Component(
            name=f"alert channel {each.name}" if each.name else "alerts",
            health="ok" if each.state in ("ready", "none") else "warning",
            value=in_words(each),
            source=settings.sources["alerts.channels"],
        )
        for each in channel_views(settings)
    ]


def _languages() -> list[Component]:
    from twinsmith.adapters.sandbox.languages import LANGUAGES

    components = []
    for language in LANGUAGES.values():
        found = language.locate()
        components.append(
            Component(
                name=f"language {language.name}",
                health="ok" if found else "warning",
                value=f"{found.version} at {next(iter(found.commands.values()))}"
                if found
                else "not installed",
                source="looked for it",
                advice="" if found else language.install,
            )
        )
    return components


def _review_tools() -> Component:
    from twinsmith.adapters.sandbox.review import tools

    listed = tools()
    missing = {each.tool: each.install for each in listed if not each.found}
    return Component(
        name="review tools",
        health="warning" if missing else "ok",
        value=", ".join(dict.fromkeys(each.tool for each in listed if each.found)) or "none",
        source="looked for them",
        advice="; ".join(f"{tool}: {install}" for tool, install in missing.items()),
    )


def _embedder(settings: Settings) -> Component:
    from twinsmith.wiring.knowledge import embedder_of, missing_files

    name, source = (
        settings.values.knowledge.embedder,
        settings.sources["knowledge.embedder"],
    )
    missing = missing_files(settings)
    if missing:
        size = sum(model.bytes for model in missing) // 10**6
        return Component(
            name="embedder",
            health="warning",
            value=f"{name} is not installed ({size} MB)",
            source=source,
            advice="the first build or `knowledge` command installs it",
        )
    try:
        value = embedder_of(settings).id
    except TwinsmithError as error:
        what, _, advice = str(error).rpartition("; ")
        return Component(
            name="embedder", health="warning", value=what, source=source, advice=advice
        )
    return Component(name="embedder", health="ok", value=value, source=source)


async def _graph(settings: Settings) -> Component:
    from twinsmith.wiring.graph import opened_graph

    url, source = settings.values.graph.url, settings.sources["graph.url"]
    try:
        async with opened_graph(settings) as graph:
            await graph.find("Insight", (), {}, 1)
    except TwinsmithError as error:
        what, _, advice = str(error).rpartition("; ")
        return Component(name="graph", health="warning", value=what, source=source, advice=advice)
    value = settings.masking.text(url) or f"Ladybug in {settings.home / 'graph'}"
    return Component(name="graph", health="ok", value=value, source=source)


def _models(settings: Settings) -> list[Component]:
    script = settings.values.models.script
    try:
        if script:
            return [_scripted(settings, script)]
        from twinsmith.wiring.models import offer

        chosen = offer(settings)
        embedded = [_embedded(settings, name) for name in sorted(chosen.embedded())]
    except TwinsmithError as error:
        what, _, advice = str(error).rpartition("; ")
        return [
            Component(name="model", health="missing", value=what, source="settings", advice=advice)
        ]
    return [*embedded, *_routes(settings), _cache(settings)]


def _routes(settings: Settings) -> list[Component]:
    """The models of each role, and where that comes from."""
    from twinsmith.runs.routes import routes

    return [
        Component(
            name=f"ensemble {each.ensemble} {each.role}",
            health="warning" if each.models and each.lacks else "missing" if each.lacks else "ok",
            value=" then ".join(each.models) or "nobody",
            source=each.why,
            advice=each.lacks,
        )
        for each in routes(settings)
    ]


def _scripted(settings: Settings, script: str) -> Component:
    from twinsmith.adapters.models.scripted import read_script

    read_script(Path(script).expanduser())
    return Component(
        name="model",
        health="warning",
        value=f"scripted stand-in, {script}",
        source=settings.sources["models.script"],
        advice="answers come from a script; unset models.script to use a language model",
    )


def _embedded(settings: Settings, name: str) -> Component:
    from twinsmith.adapters.models import catalogue
    from twinsmith.wiring.models import store_of

    model = catalogue.find(name)
    path = store_of(settings).path(model)
    broken = _broken_runtime()
    if broken:
        return Component(
            name="embedded model",
            health="missing",
            value=f"its runtime does not load: {broken}",
            source="tried it",
            advice="apt-get install -y libgomp1",
        )
    if path:
        return Component(
            name="embedded model",
            health="ok",
            value=f"{name} at {path}",
            source=settings.sources["models.embedded"],
        )
    return Component(
        name="embedded model",
        health="warning",
        value=f"{name} is not installed ({model.bytes // 10**6} MB, {model.licence})",
        source=settings.sources["models.embedded"],
        advice=f"the first build installs it, or: twinsmith models install {name}",
    )


def _broken_runtime() -> str:
    """Why the runtime of the embedded model cannot be loaded, or nothing; tried in a child."""
    done = subprocess.run(
        [sys.executable, "-c", "import xllamacpp"], capture_output=True, text=True, check=False
    )
    return done.stderr.strip().rpartition("\n")[2][:200] if done.returncode else ""


def _cache(settings: Settings) -> Component:
    from twinsmith.adapters.models.reply_cache import ReplyCache

    most = settings.values.gateway.cache_mb
    cache = ReplyCache(settings.home / "cache" / "replies.db", most << 20)
    figures = cache.figures()
    cache.close()
    return Component(
        name="reply cache",
        health="ok",
        value=(
            f"{figures.entries} answers, {figures.bytes >> 20} of {most} MB, "
            f"hit rate {figures.hit_rate:.0%}"
        ),
        source=settings.sources["gateway.cache_mb"],
    )


def _database(settings: Settings) -> Component:
    url = settings.database_url
    source = settings.sources["database.url"]
    try:
        value = _postgres(url) if url.startswith("postgresql:") else _sqlite(url)
    except EngineError as error:
        return Component(
            name="database",
            health="missing",
            value=settings.masking.text(f"{url}: {error}"),
            source=source,
            advice="start the server, or unset database.url to use SQLite",
        )
    shown = settings.masking.text(value)
    return Component(name="database", health="ok", value=shown, source=source)


def _sqlite(url: str) -> str:
    import sqlite3

    path = Path(url.removeprefix("sqlite:///"))
    if not path.exists():
        return f"SQLite {sqlite3.sqlite_version}, {path} (made on first use)"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    except sqlite3.Error as error:
        raise EngineError(str(error)) from error
    return f"SQLite {sqlite3.sqlite_version}, {path}, {mode} mode"


def _postgres(url: str) -> str:
    import psycopg

    try:
        # The engine makes its database on first use: the server is what has to be there.
        with closing(psycopg.connect(url, dbname="postgres", connect_timeout=5)) as connection:
            row = connection.execute("SHOW server_version").fetchone()
    except psycopg.Error as error:
        raise EngineError(" ".join(str(error).split())[:200]) from error
    return f"PostgreSQL {row[0] if row else '?'}, {url}"


def _settings(settings: Settings) -> list[Component]:
    return [
        Component(
            name=key,
            health="ok",
            value=settings.masking.text(str(value)) or "(empty)",
            source=settings.sources[key],
        )
        for key, value in values_by_key(settings.values).items()
    ]
