"""`twinsmith monitor`, `health` and `incidents`: apps are watched, and healed where they may be."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twinsmith.core.operating.app import App
    from twinsmith.core.operating.incident import Incident
    from twinsmith.core.operating.reading import Reading

MONITOR_EXAMPLE = "Example: twinsmith monitor (Ctrl-C ends it; apps go on without it)"
HEALTH_EXAMPLE = "Example: twinsmith health shop --watch"
INCIDENTS_EXAMPLE = 'Example: twinsmith incidents, incidents a3f9, incidents a3f9 --close "seen"'
WATCH_SECONDS = 1.0


def monitor() -> None:
    """Watch the apps of this data folder, restart and roll back what fails, and tell people."""
    import asyncio
    import signal

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.live import now_utc
    from twinsmith.runs.monitor import MonitorProcess

    book = opened_book(way="monitor")

    def said(line: str) -> None:
        typer.echo(f"{now_utc()[11:19]}  {line}")

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await MonitorProcess(book, said).serve(stop)
        said("monitor leaves; apps go on")

    asyncio.run(main())


def health(
    name: Annotated[str, typer.Argument(help="One app; else all.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Again and again, until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """How apps do: what they use, how they answer, what is wrong with them."""
    look = _there(name) if server() else _here(name)
    if as_json:
        typer.echo(json.dumps([_as_json(each) for each in look()]))
        return
    if not watch:
        typer.echo(_screen(look()))
        return
    import time

    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False, screen=False) as live:
        while True:
            live.update(Text(_screen(look())), refresh=True)
            time.sleep(WATCH_SECONDS)


def incidents(
    name: Annotated[str, typer.Argument(help="One incident with its timeline.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    close: Annotated[
        str, typer.Option(metavar="NOTE", help="A person has dealt with it: what was done.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Trouble with apps: what was seen, what was done about it, what waits for a person."""
    from dataclasses import asdict

    from twinsmith.core.errors import ConfigError

    if close and not name:
        raise ConfigError("--close closes one incident; name it: twinsmith incidents ID")
    shown = _incidents(name, close, every=every)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in shown], ensure_ascii=False))
        return
    if not shown:
        typer.echo("no incidents" if every else "no open incidents")
    for each in shown:
        typer.echo(_line(each))
        for line in _story(each) if name else ():
            typer.echo(f"  {line}")


def _incidents(name: str, close: str, *, every: bool) -> "tuple[Incident, ...]":
    """One incident, which is closed where a person said so, or all that are to be shown."""
    client = server()
    if client is not None:
        if name:
            return (client.apps.close(name, close) if close else client.apps.incident(name),)
        return client.apps.incidents(every=every)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.health import close_incident, found_incident, listed_incidents

    book = opened_book()
    if close:
        return (asyncio.run(close_incident(book, name, close)),)
    return (found_incident(book, name),) if name else listed_incidents(book, over=every)


def _story(incident: "Incident") -> tuple[str, ...]:
    """An incident as a person reads it; of one of this machine, where the rest of it lies, too."""
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.dossier import story_of, told_of

    return story_of(incident)[1:] if server() else told_of(opened_book(), incident)


def _line(incident: "Incident") -> str:
    last = f": {incident.last}" if incident.last else ""
    return (
        f"{incident.id}  {incident.stage:<12}  {incident.app} release {incident.troubled}  "
        f"{incident.kind}{last}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """How an app does, wherever it is."""

    app: "App"
    words: str
    ago: float | None
    series: "Sequence[tuple[str, Sequence[float | None], str]]"
    reading: "Reading | None"
    incidents: "tuple[Incident, ...]"


def _here(name: str) -> "Callable[[], list[_Seen]]":
    """Looks at the apps of this machine, again and again."""
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.health import healths

    book = opened_book()

    def look() -> list[_Seen]:
        return [
            _Seen(
                app=each.app,
                words=each.words,
                ago=each.ago,
                series=each.series(),
                reading=each.readings[-1] if each.readings else None,
                incidents=each.incidents,
            )
            for each in healths(book, name)
        ]

    return look


def _there(name: str) -> "Callable[[], list[_Seen]]":
    """Looks at the apps of a server, again and again."""
    client = server()
    assert client is not None

    def look() -> list[_Seen]:
        apps = [client.apps.get(name)] if name else client.apps.listed()
        found = [(each.app, client.apps.health(each.app.name)) for each in apps]
        return [
            _Seen(
                app=app,
                words=told.words,
                ago=told.seen_seconds_ago,
                series=[(each, told.series[each], told.units[each]) for each in told.series],
                reading=told.reading,
                incidents=client.apps.incidents(app=app.name),
            )
            for app, told in found
        ]

    return look


def _screen(found: "Sequence[_Seen]") -> str:
    """All apps as text, each with small plots of its last minutes."""
    if not found:
        return "no apps yet; deploy one with: twinsmith deploy RUN"
    lines: list[str] = []
    for each in found:
        lines.append(f"{each.app.name}  {each.words}  release {each.app.serving}  {each.app.url}")
        lines += [f"  {label:<10} {plot:<40}  {value}" for label, plot, value in _plots(each)]
        if each.reading is None:
            lines.append("  never looked at; start: twinsmith monitor")
        lines += [f"  {_line(incident)}" for incident in each.incidents]
    return "\n".join(lines)


def _plots(health: _Seen) -> list[tuple[str, str, str]]:
    """Rows of a label, a plot and the last figure; what was never seen has none."""
    from twinsmith.cli.plots import sparkline

    rows = []
    for label, values, unit in health.series:
        last = next((each for each in reversed(values) if each is not None), None)
        if last is not None:
            rows.append((label, sparkline(values), f"{last:.4g} {unit}"))
    return rows


def _as_json(health: _Seen) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "app": health.app.name,
        "state": health.words,
        "release": health.app.serving,
        "url": health.app.url,
        "seen_seconds_ago": health.ago,
        "reading": asdict(health.reading) if health.reading else None,
        "incidents": [asdict(each) for each in health.incidents],
    }
