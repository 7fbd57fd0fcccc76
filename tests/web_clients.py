"""The whole web application in this process, and people of every role who use it."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fastapi import FastAPI
from fastapi.routing import APIRoute
from httpx2 import Response
from starlette.testclient import TestClient

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.people.account import Account
from twinsmith.core.people.actor import Actor
from twinsmith.core.people.role import PERMISSIONS, Permission, Role
from twinsmith.runs import accounts
from twinsmith.runs.book import Book
from twinsmith.settings import Settings, load
from twinsmith.web.app import application
from twinsmith.wiring.identity import accounts_of

PASSWORD = "correct horse battery 9"
BASE = "http://127.0.0.1:8400"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A server with a data folder of its own."""

    settings: Settings
    book: Book
    app: FastAPI
    client: TestClient

    def person(self, name: str, *roles: Role) -> str:
        """Make an account, without a password."""
        now = SystemClock().now()
        accounts_of(self.settings).save(Account(name=name, roles=roles, made=now, by="user:test"))
        return name

    def key(self, name: str, *roles: Role, scopes: Sequence[Permission] = ()) -> dict[str, str]:
        """The header of a new key of somebody, for everything that their roles permit."""
        from twinsmith.core.people.role import permitted

        self.person(name, *roles)
        wanted = scopes or [each for each in PERMISSIONS if each in permitted(roles)]
        _, secret = asyncio.run(accounts.issue(self.book, name, "test", list(wanted), 1))
        return {"authorization": f"Bearer {secret}"}

    def signed_in(self, name: str, *roles: Role) -> TestClient:
        """A browser in which somebody is signed in."""
        self.person(name, *roles)
        token = asyncio.run(accounts.invite(self.book, name))
        browser = TestClient(self.client.app, base_url=BASE, raise_server_exceptions=False)
        joined = browser.post(
            "/welcome",
            data={"token": token, "password": PASSWORD, "again": PASSWORD},
            follow_redirects=False,
        )
        assert joined.status_code == 303, joined.text
        return browser

    def routes(self) -> Iterator[tuple[str, APIRoute]]:
        """Every route with each of its methods."""
        for route in self.app.routes:
            if isinstance(route, APIRoute):
                for method in sorted(route.methods or ()):
                    yield method, route


def site(tmp_path: Path, *, models: str = "", **server: object) -> Site:
    """A server on an empty data folder; `server` are settings of its section."""
    given_models = {"TWINSMITH_MODELS_FOLDER": models} if models else {}
    home = {"TWINSMITH_HOME": str(tmp_path / "home"), "TWINSMITH_MODELS_OLLAMA": ""}
    settings = load(home | given_models)
    wanted = {"per_second": 10_000, "burst": 10_000, **server}
    given = settings.values.server.model_copy(update=wanted)
    settings = replace(settings, values=settings.values.model_copy(update={"server": given}))
    sealed, app, _ = application(settings)
    client = TestClient(sealed, base_url=BASE, raise_server_exceptions=False)
    book = Book(settings, Actor(name="test"))
    return Site(settings=settings, book=book, app=app, client=client)


def csrf_in(page: Response) -> str:
    """The token that the forms of a page carry."""
    with contextlib.suppress(IndexError):
        return page.text.split('name="csrf" value="')[1].split('"')[0]
    raise AssertionError(f"{page.url} has no form with a token")
