"""Stores of record to test: in a SQLite file, and in a schema of a real PostgreSQL."""

import subprocess
import sys
import textwrap
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from twinsmith.adapters.knowledge.postgres_store import PostgresStore
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.store import Store, Vectors
from twinsmith.core.errors import EngineError
from twinsmith.core.knowing.knowledge import Document, Piece

ROOT = Path(__file__).parents[1]
E = "minilm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a store is, for this process and for others."""

    address: str
    schema: str = ""

    def open(self) -> Store:
        if self.schema:
            return PostgresStore(self.address, self.schema)
        return SqliteStore(Path(self.address))

    def child(self, code: str, *arguments: str) -> "subprocess.Popen[str]":
        """A process that has `place`, `store` and its further arguments in `sys.argv[3:]`."""
        begin = "import sys\nfrom tests.stores import *\n"
        begin += "place = Place(address=sys.argv[1], schema=sys.argv[2])\nstore = place.open()\n"
        command = [sys.executable, "-c", begin + textwrap.dedent(code), self.address, self.schema]
        return subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def new_place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Place:
    """An empty one."""
    if kind == "sqlite":
        return Place(address=str(folder / "k" / f"{uuid.uuid4().hex}.db"))
    server = request.getfixturevalue("postgres")
    return Place(address=f"{server}/postgres", schema=f"K {uuid.uuid4().hex}")


def document(path: str = "a.py", digest: str = "1", source: str = "s") -> Document:
    return Document(
        source=source, path=path, text="", digest=digest, language="python", licence="MIT"
    )


def pieces(*texts: str) -> list[Piece]:
    return [
        Piece(text=text, symbol=f"f{n}", first_line=n, last_line=n + 1)
        for n, text in enumerate(texts)
    ]


def ones(count: int, value: float = 1.0) -> Vectors:
    return np.full((count, 4), value, dtype=np.float32)


def put(store: Store, of: Document, *texts: str, embedder: str = E) -> tuple[int, ...]:
    return store.put(
        of, pieces(*texts), ones(len(texts)), embedder=embedder, who="me", added="2026"
    )


def all_numbers(store: Store, embedder: str = E) -> list[int]:
    return [number for numbers, _ in store.vectors(embedder) for number in numbers.tolist()]


def put_until_it_fails(store: Store, text: str) -> tuple[int, str]:
    """How many documents were put, and what was said when there was no more room."""
    for n in range(10_000):
        try:
            put(store, document(str(n)), text)
        except EngineError as told:
            return n, str(told)
    raise AssertionError("there was always room")
