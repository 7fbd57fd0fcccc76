"""`twinsmith deploy`, `apps`, `releases`, `logs`, and what is done with an app by its name."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import App, Detach, Json, Name, at_least
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.client import Client
    from twinsmith.client.apps import DeedKind
    from twinsmith.client.shapes import DeedBegun, NewApp, ReleaseShown
    from twinsmith.runs.apps import AppView
    from twinsmith.settings import Settings

DEPLOY_EXAMPLE = "Example: twinsmith deploy a3f9 --name shop"
APPS_EXAMPLE = "Example: twinsmith apps --json"
RELEASES_EXAMPLE = "Example: twinsmith releases shop"
ROLLBACK_EXAMPLE = "Example: twinsmith rollback shop (to the last known good one), or --to 3"
LOGS_EXAMPLE = "Example: twinsmith logs shop --follow"
STOP_EXAMPLE = "Example: twinsmith stop shop (its data stays; twinsmith start shop)"
START_EXAMPLE = "Example: twinsmith start shop"
RESTART_EXAMPLE = "Example: twinsmith restart shop"
REMOVE_EXAMPLE = "Example: twinsmith remove shop --data (with --data its data, too)"
FOLLOW_SECONDS = 0.5


def deploy(
    what: Annotated[str, typer.Argument(help="A run, how its name ends, or a result's folder.")],
    name: Name = "",
    host: Annotated[str, typer.Option(help="local, docker or podman; else hosting.host.")] = "",
    port: Annotated[
        int | None, typer.Option(parser=at_least(1), metavar="N", help="Its port on the loopback.")
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A variable of this environment that it is given."),
    ] = None,
    secrets: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Secrets, one NAME=value a line.")
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Stop the old version first: both cannot share data."),
    ] = False,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Release a service behind gates: tried, attacked, compared, switched, watched."""
    from twinsmith.cli.secrets import secrets_given
    from twinsmith.settings import load

    client = server()
    if client is not None:
        given = secrets_given(load(), secret or [], secrets)
        wanted = _release(what, name, host, port, given, replace=replace)
        _see_through(client, client.apps.deploy(wanted), detach=detach, as_json=as_json)
        return
    from twinsmith.cli.act import act
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.deploy import deploying
    from twinsmith.runs.resources import refuse_full

    book = opened_book()
    _tell_lacks(book.settings)
    given = secrets_given(book.settings, secret or [], secrets)
    action = deploying(
        book, what, name=name, host=host, port=port or 0, replace=replace, secrets=given
    )
    refuse_full(book, action.app)
    act(book, action, detach=detach, as_json=as_json)


def _release(
    what: str, name: str, host: str, port: int | None, secrets: dict[str, str], *, replace: bool
) -> "NewApp":
    """A release as a server is asked for it: of one of its runs."""
    from twinsmith.client.shapes import NewApp
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.operating.instance import host_name

    if Path(what).expanduser().is_dir():
        raise ConfigError(f"{what} is a folder here; a server deploys what its own runs have built")
    return NewApp.of(
        run=what,
        name=name,
        host=host_name(host) if host else "",
        port=port or 0,
        replace=replace,
        secrets=secrets,
    )


def _see_through(client: "Client", begun: "DeedBegun", *, detach: bool, as_json: bool) -> None:
    from twinsmith.cli.remote_runs import see_through

    see_through(client, begun.run, detach=detach, as_json=as_json)


def _tell_lacks(settings: "Settings") -> None:
    """Tell what the proxy before apps lacks, where it is the small one."""
    from twinsmith.wiring.delivering import proxy_of

    lacks = proxy_of(settings).lacks
    if lacks:
        told = f"the small proxy serves: {', '.join(lacks)}"
        typer.echo(f"{told}; Caddy does better: apt-get install -y caddy", err=True)


def apps(as_json: Json = False) -> None:
    """Every app: its address, what serves, what is known to be good, what holds it."""
    found = _views()
    if as_json:
        typer.echo(json.dumps([told(each) for each in found], ensure_ascii=False))
        return
    if not found:
        typer.echo(f"no apps yet; deploy one with: {command()} deploy RUN")
        return
    typer.echo(f"{'app':<20}  {'state':<11}  {'serves':>6}  {'good':>4}  {'host':<6}  address")
    for each in found:
        app = each.app
        serves = str(app.serving or "-")
        good = str(app.good or "-")
        line = (
            f"{app.name:<20}  {_state(each):<11}  {serves:>6}  {good:>4}  {app.host:<6}  {app.url}"
        )
        typer.echo(line)
        for note in _notes(each):
            typer.echo(f"  {note}")


def _views() -> "tuple[AppView, ...]":
    """Every app as it stands now."""
    from twinsmith.runs.apps import AppView, views

    client = server()
    if client is not None:
        return tuple(
            AppView(
                app=each.app,
                status=each.status,
                override=each.held,
                under_way=each.under_way,
                problem=each.problem,
            )
            for each in client.apps.listed()
        )
    import asyncio

    from twinsmith.cli.book import opened_book

    return asyncio.run(views(opened_book()))


def releases(name: App, as_json: Json = False) -> None:
    """The releases of an app, oldest first, and what became of each."""
    from dataclasses import asdict

    client = server()
    found = client.apps.releases(name) if client is not None else _releases(name)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        return
    for each in found:
        digest = each.source[:12]
        reason = f": {each.reason}" if each.reason else ""
        typer.echo(f"{each.number:>3}  {each.state:<11}  {each.at[:16]}  {digest}{reason}")


def _releases(name: str) -> "tuple[ReleaseShown, ...]":
    """The releases of an app of this machine."""
    from twinsmith.cli.book import opened_book
    from twinsmith.client.shapes import release_shown
    from twinsmith.runs.apps import releases as releases_of

    return tuple(map(release_shown, releases_of(opened_book(), name)))


def rollback(
    name: App,
    to: Annotated[
        int | None, typer.Option(parser=at_least(1), metavar="N", help="The release to go to.")
    ] = None,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Let an earlier release serve again: no model is asked, it takes seconds."""
    _acted("rollback", name, to=to or 0, detach=detach, as_json=as_json)


def stop(name: App, detach: Detach = False, as_json: Json = False) -> None:
    """Stop an app; what is in flight is finished, and its data stays."""
    _acted("stop", name, detach=detach, as_json=as_json)


def start(name: App, detach: Detach = False, as_json: Json = False) -> None:
    """Start an app again, also after a crash of this machine: one release serves afterwards."""
    _acted("start", name, detach=detach, as_json=as_json)


def restart(name: App, detach: Detach = False, as_json: Json = False) -> None:
    """Start the serving release of an app anew; it is down for about a second."""
    _acted("restart", name, detach=detach, as_json=as_json)


def remove(
    name: App,
    data: Annotated[bool, typer.Option("--data", help="Its data and secrets, too.")] = False,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Remove an app and its releases."""
    _acted("remove", name, data=data, detach=detach, as_json=as_json)


def logs(
    name: App,
    lines: Annotated[
        int, typer.Option("-n", parser=at_least(1), metavar="N", help="So many lines.")
    ] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on, until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """What the serving release of an app wrote, without its secrets."""
    text = _log(name, lines)
    if as_json:
        typer.echo(json.dumps({"app": name, "lines": text.splitlines()}, ensure_ascii=False))
        return
    typer.echo(text, nl=False)
    if follow:
        _followed(name, text)


def _log(name: str, lines: int) -> str:
    """The last lines of an app's log."""
    client = server()
    if client is not None:
        return client.apps.logs(name, lines=lines)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.apps import logs as logs_of

    return asyncio.run(logs_of(opened_book(), name, lines))


def _followed(name: str, shown: str) -> None:
    """Print what comes after what was shown; a log that was begun anew is shown from there."""
    import time

    seen = shown.splitlines()
    while True:
        time.sleep(FOLLOW_SECONDS)
        now = _log(name, 5000).splitlines()
        fresh = after(seen, now)
        for line in fresh:
            typer.echo(line)
        seen = now


def after(seen: list[str], now: list[str]) -> list[str]:
    """The lines of a log that come after those that were seen, wherever its beginning is now."""
    if not seen:
        return now
    for end in range(len(now), 0, -1):
        size = min(end, len(seen))
        if now[end - size : end] == seen[-size:]:
            return now[end:]
    return now


def _acted(
    kind: "DeedKind",
    name: str,
    *,
    detach: bool,
    as_json: bool,
    to: int = 0,
    data: bool = False,
) -> None:
    client = server()
    if client is not None:
        begun = client.apps.do(kind, name, to=to, data=data)
        _see_through(client, begun, detach=detach, as_json=as_json)
        return
    from twinsmith.cli.act import act
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.deploy import acting

    book = opened_book()
    act(book, acting(book, kind, name, to=to, data=data), detach=detach, as_json=as_json)


def _state(view: "AppView") -> str:
    if view.problem:
        return "unknown"
    if view.app.wanted == "stopped":
        return "stopped"
    if view.status is None:
        return "never served"
    return {"absent": "down", "exited": "down"}.get(view.status.state, view.status.state)


def _notes(view: "AppView") -> list[str]:
    from twinsmith.core.people.override import words

    notes = [view.problem] if view.problem else []
    if _state(view) == "down":
        reason = view.status.reason if view.status else ""
        notes.append(f"{reason or 'it does not run'}; {command()} start {view.app.name}")
    if view.override is not None:
        notes.append(words(view.override))
    return [*notes, *(f"under way: {command()} watch {run}" for run in view.under_way)]


def told(view: "AppView") -> dict[str, object]:
    """An app as JSON."""
    from dataclasses import asdict

    return {
        **asdict(view.app),
        "url": view.app.url,
        "state": _state(view),
        "status": asdict(view.status) if view.status else None,
        "override": asdict(view.override) if view.override else None,
        "under_way": list(view.under_way),
        "problem": view.problem,
    }
