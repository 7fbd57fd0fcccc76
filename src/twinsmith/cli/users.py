"""`twinsmith users` and `twinsmith keys`: who may use the server, told at its own terminal."""

import json
from typing import Annotated

import typer

from twinsmith.cli.options import Json

ADD_EXAMPLE = "Example: twinsmith users add ann --role developer --role approver"
KEY_EXAMPLE = 'Example: twinsmith keys add ann "nightly builds" --scope read --scope build'

Name = Annotated[str, typer.Argument(help="The user.")]
Roles = Annotated[
    list[str], typer.Option("--role", help="viewer, developer, approver, operator or admin.")
]

users = typer.Typer(help="People who may sign in to the server.", no_args_is_help=True)
keys = typer.Typer(help="API keys of programs.", no_args_is_help=True)


@users.command("list")
def list_users(as_json: Json = False) -> None:
    """Every account with its roles."""
    from twinsmith.cli.book import opened_book
    from twinsmith.wiring.identity import accounts_of

    found = accounts_of(opened_book().settings).listed()
    rows = [
        {
            "name": each.name,
            "roles": list(each.roles),
            "state": _state(disabled=each.disabled, invited=bool(each.invitation)),
        }
        for each in found
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    if not rows:
        typer.echo("no users yet; the first start of 'twinsmith serve' prints a link for one")
    for row in rows:
        typer.echo(f"{row['name']!s:<20}  {row['state']!s:<8}  {', '.join(row['roles'])}")


@users.command("add", epilog=ADD_EXAMPLE)
def add(name: Name, role: Roles, as_json: Json = False) -> None:
    """Add a user; the link by which they choose a password is printed once."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import add as added

    book = opened_book()
    _tell_link(name, asyncio.run(added(book, name, role)), as_json=as_json)


@users.command("invite")
def invite(name: Name, as_json: Json = False) -> None:
    """Print a new one-time link for a user, whose password and sessions end with it."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import invite as invited

    _tell_link(name, asyncio.run(invited(opened_book(), name)), as_json=as_json)


@users.command("change")
def change(
    name: Name,
    role: Annotated[list[str] | None, typer.Option("--role", help="The roles from now on.")] = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Whether nobody may sign in so.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Give a user other roles, or shut the account; sessions end."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs.accounts import change as changed

    if not role and disable is None:
        raise ConfigError("nothing is changed; give --role, --disable or --enable")
    done = asyncio.run(changed(opened_book(), name, roles=role or None, disabled=disable))
    row = {"name": name, "roles": list(done.roles), "disabled": done.disabled}
    state = _state(disabled=done.disabled, invited=bool(done.invitation))
    typer.echo(json.dumps(row) if as_json else f"{name}: {', '.join(done.roles)} ({state})")


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """Every key: whose it is, what it may, how long it holds, when it was used last."""
    from twinsmith.cli.book import opened_book
    from twinsmith.wiring.identity import keys_of

    found = keys_of(opened_book().settings).listed()
    if as_json:
        shown = ("id", "owner", "title", "scopes", "made", "expires", "used", "revoked")
        typer.echo(json.dumps([{name: getattr(each, name) for name in shown} for each in found]))
        return
    if not found:
        typer.echo(f"no keys yet; {KEY_EXAMPLE.removeprefix('Example: ')}")
    for each in found:
        state = f"revoked {each.revoked}" if each.revoked else f"until {each.expires[:10]}"
        used = f"used {each.used[:16]}" if each.used else "never used"
        scopes = ", ".join(each.scopes)
        typer.echo(f"{each.id}  {each.owner:<12}  {state}  {used}  {scopes}  {each.title}")


@keys.command("add", epilog=KEY_EXAMPLE)
def add_key(
    owner: Name,
    title: Annotated[str, typer.Argument(help="What uses it.")],
    scope: Annotated[list[str], typer.Option(help="What it may: read, build, deploy, …")],
    days: Annotated[float, typer.Option(help="For how many days it holds.")] = 90.0,
    as_json: Json = False,
) -> None:
    """Make an API key; its secret is printed once and kept as a hash only."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import issue

    key, secret = asyncio.run(issue(opened_book(), owner, title, scope, days))
    if as_json:
        typer.echo(json.dumps({"id": key.id, "secret": secret, "expires": key.expires}))
    else:
        typer.echo(
            f"{secret}\nkept as a hash only: store it now; it holds until {key.expires[:10]}"
        )


@keys.command("revoke")
def revoke(
    key: Annotated[str, typer.Argument(help="The id of the key.")], as_json: Json = False
) -> None:
    """Revoke a key at once."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import revoke as revoked

    done = asyncio.run(revoked(opened_book(), key))
    typer.echo(json.dumps({"id": done.id, "revoked": done.revoked}) if as_json else "revoked")


def _tell_link(name: str, token: str, *, as_json: bool) -> None:
    from twinsmith.settings import load
    from twinsmith.web.addresses import public_address

    link = f"{public_address(load())}/welcome?token={token}"
    typer.echo(json.dumps({"name": name, "link": link}) if as_json else f"{name}, once: {link}")


def _state(*, disabled: bool, invited: bool) -> str:
    return "shut" if disabled else "invited" if invited else "active"
