"""`twinsmith users` and `twinsmith keys`: who may use the server, told at a terminal."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import server

if TYPE_CHECKING:
    from twinsmith.client.user_shapes import KeyShown, UserShown
    from twinsmith.core.people.account import Account, ApiKey

    Key = ApiKey | KeyShown

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
    client = server()
    found = client.users.listed() if client is not None else _accounts_here()
    rows = [
        {
            "name": each.name,
            "roles": list(each.roles),
            "state": _state(each),
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
    client = server()
    if client is not None:
        from twinsmith.core.people.role import roles_in

        _tell(name, client.users.add(name, roles_in(role)).link, as_json=as_json)
        return
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import add as added

    _tell(name, _link(asyncio.run(added(opened_book(), name, role))), as_json=as_json)


@users.command("invite")
def invite(name: Name, as_json: Json = False) -> None:
    """Print a new one-time link for a user, whose password and sessions end with it."""
    client = server()
    if client is not None:
        _tell(name, client.users.invite(name).link, as_json=as_json)
        return
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import invite as invited

    _tell(name, _link(asyncio.run(invited(opened_book(), name))), as_json=as_json)


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
    from twinsmith.core.errors import ConfigError

    if not role and disable is None:
        raise ConfigError("nothing is changed; give --role, --disable or --enable")
    done = _changed(name, role, disable)
    row = {"name": name, "roles": list(done.roles), "disabled": done.disabled}
    state = _state(done)
    typer.echo(json.dumps(row) if as_json else f"{name}: {', '.join(done.roles)} ({state})")


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """Every key: whose it is, what it may, how long it holds, when it was used last."""
    client = server()
    found = client.keys.listed() if client is not None else _keys_here()
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
    key, secret = _issued(owner, title, scope, days)
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
    done = _revoked(key)
    typer.echo(json.dumps({"id": done.id, "revoked": done.revoked}) if as_json else "revoked")


def _changed(name: str, role: list[str] | None, disable: bool | None) -> "Account | UserShown":
    """An account after a change."""
    client = server()
    if client is not None:
        from twinsmith.core.people.role import roles_in

        return client.users.change(name, roles=roles_in(role) if role else None, disabled=disable)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import change as changed

    return asyncio.run(changed(opened_book(), name, roles=role or None, disabled=disable))


def _issued(owner: str, title: str, scope: list[str], days: float) -> "tuple[Key, str]":
    """A new key and its secret; a server makes them for whoever asks."""
    client = server()
    if client is not None:
        from twinsmith.core.errors import ConfigError
        from twinsmith.core.people.role import scopes_in

        me = client.me().name
        if owner != me:
            raise ConfigError(f"a server makes keys for whoever asks: OWNER has to be {me}")
        made = client.keys.issue(title, scopes_in(scope), days=days)
        return made.key, made.secret
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import issue

    return asyncio.run(issue(opened_book(), owner, title, scope, days))


def _revoked(key: str) -> "Key":
    """A key that holds no more."""
    client = server()
    if client is not None:
        return client.keys.revoke(key)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.accounts import revoke as revoked

    return asyncio.run(revoked(opened_book(), key))


def _accounts_here() -> "tuple[Account, ...]":
    """Every account of this machine."""
    from twinsmith.cli.book import opened_book
    from twinsmith.wiring.identity import accounts_of

    return accounts_of(opened_book().settings).listed()


def _keys_here() -> "tuple[ApiKey, ...]":
    """Every key of this machine."""
    from twinsmith.cli.book import opened_book
    from twinsmith.wiring.identity import keys_of

    return keys_of(opened_book().settings).listed()


def _link(token: str) -> str:
    """The one-time link with a token, at the address that the settings tell."""
    from twinsmith.settings import load
    from twinsmith.web.addresses import public_address

    return f"{public_address(load())}/welcome?token={token}"


def _tell(name: str, link: str, *, as_json: bool) -> None:
    typer.echo(json.dumps({"name": name, "link": link}) if as_json else f"{name}, once: {link}")


def _state(each: "Account | UserShown") -> str:
    from twinsmith.core.people.account import Account

    invited = bool(each.invitation) if isinstance(each, Account) else each.invited
    return "shut" if each.disabled else "invited" if invited else "active"
