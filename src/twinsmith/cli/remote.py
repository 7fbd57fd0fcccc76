"""The server that was named with `--server`: commands work on it instead of on this machine."""

import shlex
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Collection

    from twinsmith.client import Client

HELP = "Work on a server, with the key in TWINSMITH_KEY, instead of on this machine."
WORKING = frozenset(
    {
        "build",
        "status",
        "watch",
        "resume",
        "cancel",
        "fetch",
        "questions",
        "answer",
        "log",
        "deploy",
        "apps",
        "releases",
        "rollback",
        "logs",
        "stop",
        "start",
        "restart",
        "remove",
        "approvals",
        "approve",
        "reject",
        "modify",
        "queue",
        "override",
        "health",
        "incidents",
        "users",
        "keys",
        "insights",
        "models",
        "costs",
        "analyse",
        "trace",
        "experiment",
    }
)
"""The commands that work on a server."""


@dataclass(slots=True)
class _Named:
    url: str
    client: "Client | None" = None

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


_NAMED: ContextVar[_Named | None] = ContextVar("server", default=None)


def name_server(context: typer.Context, url: str) -> None:
    """Let the command work on a server; ConfigError where it cannot."""
    from twinsmith.core.errors import ConfigError

    command = context.invoked_subcommand or ""
    if command not in WORKING:
        raise ConfigError(f"'twinsmith {command}' works on this machine only; without --server")
    named = _Named(url)
    _NAMED.set(named)
    context.call_on_close(named.close)


def refuse_server(context: typer.Context, here: "Collection[str]") -> None:
    """ConfigError where a server was named for one of these commands of a group."""
    from twinsmith.core.errors import ConfigError

    asked = context.invoked_subcommand or ""
    if _NAMED.get() is not None and asked in here:
        told = f"{context.info_name} {asked}"
        raise ConfigError(f"'twinsmith {told}' works on this machine only; without --server")


def server() -> "Client | None":
    """A client of the server that was named; None: the command works on this machine."""
    named = _NAMED.get()
    if named is not None and named.client is None:
        named.client = _client(named.url)
    return named.client if named is not None else None


def command() -> str:
    """How the command is called here, as a hint to the next one names it."""
    named = _NAMED.get()
    return f"twinsmith --server {shlex.quote(named.url)}" if named is not None else "twinsmith"


def _client(url: str) -> "Client":
    from twinsmith.client import Client
    from twinsmith.core.errors import ConfigError
    from twinsmith.settings import load

    key = load().keys.get("twinsmith", "")
    if not key:
        raise ConfigError(
            "TWINSMITH_KEY is not set; it holds the key that 'twinsmith keys add USER TITLE "
            "--scope read' prints on the server"
        )
    return Client(url, key)
