"""Addresses of fresh databases, for contracts that SQLite and PostgreSQL keep alike."""

import secrets
from pathlib import Path

import pytest


def fresh_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that nobody has made yet; `request.param` says of which kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'home' / 'runs.db'}"
    return f"{request.getfixturevalue('postgres')}/fresh_{secrets.token_hex(4)}"
