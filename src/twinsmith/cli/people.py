"""`twinsmith approvals`, `approve`, `reject`, `modify`, `queue` and `override`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.client import Client
    from twinsmith.core.operating.action import Queued
    from twinsmith.core.people.approval import ApprovalRequest, Said
    from twinsmith.core.people.override import Command

APPROVALS_EXAMPLE = (
    "Example: twinsmith approvals (those that are open), twinsmith approvals a3f9.a1"
)
APPROVE_EXAMPLE = 'Example: twinsmith approve a3f9.a1 --note "seen with Ann"'
REJECT_EXAMPLE = 'Example: twinsmith reject a3f9.a1 --reason "not before Monday"'
MODIFY_EXAMPLE = "Example: twinsmith modify a3f9.a1 --source ./edited --set canary_share=0"
QUEUE_EXAMPLE = "Example: twinsmith queue --all"
OVERRIDE_EXAMPLE = 'Example: twinsmith override pause all --reason "maintenance"'

Request = Annotated[str, typer.Argument(help="The request, or how its name ends.")]


def approvals(
    request: Annotated[str, typer.Argument(help="One request with all it holds.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Decided ones, too.")] = False,
    as_json: Json = False,
) -> None:
    """Actions that wait for a person's word."""
    from dataclasses import asdict

    from twinsmith.core.errors import ConfigError

    found = _requests(decided=every or bool(request))
    if request:
        found = tuple(each for each in found if each.id.endswith(request))
        if not found:
            raise ConfigError(f"request {request!r} is not known; twinsmith approvals lists them")
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        return
    if not found:
        typer.echo("nothing waits for anybody's word")
    for each in found:
        _shown(each, whole=bool(request))


def approve(
    request: Request,
    note: Annotated[str, typer.Option(help="What is to be remembered about it.")] = "",
    as_json: Json = False,
) -> None:
    """Let an action be done."""
    _decided(request, "approve", note=note, as_json=as_json)


def reject(
    request: Request,
    reason: Annotated[str, typer.Option(help="Why not.")],
    as_json: Json = False,
) -> None:
    """Refuse an action; everything stays as it is."""
    _decided(request, "reject", note=reason, as_json=as_json)


def modify(
    request: Request,
    source: Annotated[
        Path | None, typer.Option(help="A folder with the edited source of the service.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=N", help="Another term.")
    ] = None,
    note: Annotated[str, typer.Option(help="What is to be remembered about it.")] = "",
    as_json: Json = False,
) -> None:
    """Change the source or the terms of an action; it goes through all gates again."""
    from twinsmith.core.errors import ConfigError

    if source is None and not setting:
        raise ConfigError("nothing is modified; give --source DIR or --set NAME=N")
    _decided(request, "modify", note=note, source=source, terms=setting or [], as_json=as_json)


def queue(
    every: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    as_json: Json = False,
) -> None:
    """The execution queue: actions in their order, one at a time for an app."""
    from dataclasses import asdict

    found = _queued(over=every)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found]))
        return
    if not found:
        typer.echo("the queue is empty")
    for each in found:
        place = str(each.place or "-")
        by = each.by.removeprefix("user:")
        typer.echo(f"{place:>4}  {each.state:<9}  {each.kind:<8}  {each.app:<20}  {each.run}  {by}")
    if found and not every:
        typer.echo(f"one is taken out with: {command()} cancel RUN")


def override(
    order: Annotated[
        str,
        typer.Argument(metavar="COMMAND", help="pause, resume, cancel, rollback or release."),
    ],
    scope: Annotated[str, typer.Argument(metavar="APP|all", help="An app, or all of them.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept.")],
    as_json: Json = False,
) -> None:
    """Beat every automatic action at once; it holds until `release` lifts it."""
    from twinsmith.core.people.override import command_of

    lines = _overridden(command_of(order), scope, reason)
    if as_json:
        typer.echo(json.dumps({"command": order, "scope": scope, "done": list(lines)}))
        return
    for line in lines:
        typer.echo(line)


def _requests(*, decided: bool) -> "tuple[ApprovalRequest, ...]":
    """Requests that are open; with `decided`, all there ever were."""
    client = server()
    if client is not None:
        return client.people.approvals(every=decided)
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.approvals import requests

    return requests(opened_book(), decided=decided)


def _queued(*, over: bool) -> "tuple[Queued, ...]":
    """The execution queue; with `over`, also what is done."""
    client = server()
    if client is not None:
        return client.people.queue(every=over)
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.apps import queued

    return queued(opened_book(), over=over)


def _overridden(order: "Command", scope: str, reason: str) -> tuple[str, ...]:
    """What an override has done, in lines."""
    client = server()
    if client is not None:
        return client.people.override(order, scope, reason)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.override import override as overridden

    return asyncio.run(overridden(opened_book(), order, scope, reason))


def _decided(
    name: str,
    said: "Said",
    *,
    note: str,
    as_json: bool,
    source: Path | None = None,
    terms: list[str] | None = None,
) -> None:
    """Say something to a request, and go on with its action where no worker would."""
    import asyncio

    client = server()
    if client is not None:
        _decided_there(client, name, said, note, source, terms or [], as_json=as_json)
        return
    from twinsmith.cli.act import go_on
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.approvals import decide
    from twinsmith.runs.promotion import is_experiment

    book = opened_book()
    decided = decide(book, name, said, note=note, source=source, terms=terms or ())
    request = asyncio.run(decided)
    if not as_json:
        typer.echo(f"{request.id}: {said}")
    if not is_experiment(request):
        go_on(book, request.run, as_json=as_json)


def _decided_there(
    client: "Client",
    name: str,
    said: "Said",
    note: str,
    source: Path | None,
    terms: list[str],
    *,
    as_json: bool,
) -> None:
    """Say something to a request of a server, whose workers go on with its action."""
    from twinsmith.cli.remote_runs import see_through
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs.approvals import terms_in
    from twinsmith.runs.package import files_of

    if said == "modify":
        if source is not None and not source.is_dir():
            raise ConfigError(f"--source {source} is no folder on this machine; name one")
        files = files_of(source) if source is not None else {}
        request = client.people.modify(name, files=files, terms=terms_in(terms), note=note)
    elif said == "approve":
        request = client.people.approve(name, note)
    else:
        request = client.people.reject(name, note)
    if not as_json:
        typer.echo(f"{request.id}: {said}")
    if "promotion" in request.dossier.occasions:
        return
    see_through(client, request.run, detach=False, as_json=as_json)


def _shown(request: "ApprovalRequest", *, whole: bool) -> None:
    dossier = request.dossier
    by = request.by.removeprefix("user:")
    typer.echo(f"{request.id}  {dossier.what}, asked by {by}, until {request.until[:16]}")
    typer.echo(f"  because of: {', '.join(dossier.occasions)}; risk {dossier.risk}")
    if request.decision is not None:
        who = request.decision.by.removeprefix("user:")
        typer.echo(f"  {request.decision.said} by {who}: {request.decision.note}")
    if not whole:
        typer.echo(f"  all of it: {command()} approvals {request.id}")
        return
    typer.echo(f"  cost: {dossier.cost}")
    for title, lines in (("found", dossier.findings), ("shown", dossier.evidence)):
        for line in lines:
            typer.echo(f"  {title}: {line}")
    typer.echo(dossier.diff)
