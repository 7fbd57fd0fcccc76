"""What only a PostgreSQL store can get wrong: the server, the way to it, other sessions."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import until
from tests.stores import (
    E,
    Place,
    all_numbers,
    document,
    new_place,
    ones,
    pieces,
    put,
    put_until_it_fails,
)
from tests.strictness import elsewhere
from twinsmith.adapters.knowledge.postgres_store import PostgresStore
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowing.knowledge import Piece

pytestmark = pytest.mark.xdist_group("durable")


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place("postgresql", request, tmp_path)


@pytest.fixture
def store(place: Place) -> Iterator[PostgresStore]:
    opened = PostgresStore(place.address, place.schema)
    yield opened
    opened.close()


def ask(place: Place, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(place.address, autocommit=True) as connection:
        return connection.execute(sql.encode()).fetchall()


def end_sessions(place: Place) -> None:
    ask(
        place,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE application_name = 'twinsmith'",
    )


def test_a_server_out_of_reach_is_one_line_without_its_password() -> None:
    with pytest.raises(EngineError, match=r"127\.0\.0\.1:1/x cannot be reached: .*") as told:
        PostgresStore("postgresql://me:hunter2@127.0.0.1:1/x")
    assert "hunter2" not in str(told.value)
    assert "\n" not in str(told.value)
    assert str(told.value).endswith("start the server, or mend knowledge.store")


@pytest.mark.parametrize(
    "address",
    [
        *("postgresql://me:hunter2@[::1/x", "hunter2", "a=b hunter2=c"),
        *("postgresql://me:a@hunter2@h/x", "postgresql://me:a/hunter2@h/x"),
    ],
)
def test_what_is_no_address_is_told_without_repeating_it(address: str) -> None:
    with pytest.raises(ConfigError, match="not an address that PostgreSQL understands") as told:
        PostgresStore(address)
    assert "hunter2" not in str(told.value)


def test_a_missing_database_is_one_line(place: Place) -> None:
    with pytest.raises(EngineError, match='database "nowhere" does not exist') as told:
        PostgresStore(place.address.replace("/postgres", "/nowhere"))
    assert "\n" not in str(told.value)


def test_another_format_is_refused(place: Place, store: PostgresStore) -> None:
    ask(place, f'UPDATE "{place.schema}".state SET format = 99 RETURNING 1')
    with pytest.raises(EngineError, match="has format 99, this version reads 2"):
        place.open()
    ask(place, f'UPDATE "{place.schema}".state SET format = 2 RETURNING 1')
    assert store.stats().documents == 0


def test_sessions_that_end_are_not_noticed(place: Place, store: PostgresStore) -> None:
    first = put(store, document(), "alpha")
    end_sessions(place)
    assert store.known("s") == {"a.py": "1"}
    end_sessions(place)
    assert put(store, document("b.py"), "beta") == (first[0] + 1,)


def test_a_connection_that_breaks_in_the_middle_leaves_the_old_version(
    place: Place, store: PostgresStore, capfd: pytest.CaptureFixture[str]
) -> None:
    class Breaking(list[Piece]):
        def __iter__(self) -> Iterator[Piece]:
            yield self[0]
            end_sessions(place)
            yield self[1]

    old = put(store, document(), "alpha")
    with pytest.raises(EngineError, match="cannot be reached") as told:
        store.put(
            document(digest="2"),
            Breaking(pieces("beta", "gamma")),
            ones(2),
            embedder=E,
            who="me",
            added="2026",
        )
    assert "\n" not in str(told.value)
    assert (store.known("s"), all_numbers(store)) == ({"a.py": "1"}, list(old))
    assert put(store, document(digest="2"), "beta") == (2,)
    assert capfd.readouterr().err == ""


def test_what_was_put_survives_a_crash_of_the_server(store: PostgresStore) -> None:
    numbers = [put(store, document(str(n)), "alpha", "beta")[1] for n in range(20)]
    ((process,),) = store._connection.rows("SELECT pg_backend_pid()")
    # The server then ends all of its processes and recovers from its log.
    os.kill(process, signal.SIGKILL)

    answered = []

    def back() -> bool:
        # Once more after a while: it may answer before it has noticed what happened to it.
        try:
            answered.append(bool(store.known("s")))
        except EngineError:
            answered.clear()
        time.sleep(0.2)
        return len(answered) > 5

    until(back)
    assert len(store.known("s")) == 20
    assert all_numbers(store)[-1] == numbers[-1]
    assert put(store, document("after"), "alpha") == (numbers[-1] + 1,)
    assert len(store.lexical("alpha", 100)) == 21


def test_what_was_put_is_on_the_disk_whatever_the_server_does_for_others(place: Place) -> None:
    for setting, kept in (("off", "on"), ("remote_apply", "remote_apply")):
        address = f"{place.address}?options=-c%20synchronous_commit%3D{setting}"
        store = PostgresStore(address, place.schema)
        assert store._connection.rows("SHOW synchronous_commit") == [(kept,)]
        store.close()


@pytest.fixture
def small_disk(place: Place) -> Iterator[Place]:
    """A database on a disk of 16 megabytes, half of which are PostgreSQL's own tables."""
    ((data,),) = ask(place, "SHOW data_directory")
    folder = Path(str(data)).parent / "small"
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]
    if os.geteuid() == 0:
        folder.mkdir(exist_ok=True)
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        elsewhere("a small disk cannot be mounted here; run as root")
    shutil.chown(folder, "postgres", "postgres")
    with psycopg.connect(place.address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'".encode())
        connection.execute("CREATE DATABASE small TABLESPACE small")
        yield Place(address=place.address.replace("/postgres", "/small"), schema="k")
        connection.execute("DROP DATABASE small WITH (FORCE)")
        connection.execute("DROP TABLESPACE small")
    # The server may look at it a moment longer: it is gone for everybody else at once.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing(small_disk: Place) -> None:
    store = small_disk.open()
    said, told = put_until_it_fails(store, os.urandom(10_000).hex())
    assert "No space left on device" in told
    assert "\n" not in told
    assert said == len(store.known("s")) == len(all_numbers(store)) > 3
    store.close()
