"""The registry and what is in force: one contract for dictionaries, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.trying.memory import MemoryForces, MemoryRegistry
from twinsmith.adapters.trying.versions import ForcesTable, RegistryTable
from twinsmith.core.trying.versions import InForce, Version
from twinsmith.ports import Forces, Registry

ALL = ("memory", "sqlite", "postgresql")
DAY, NEXT = "2026-11-19T10:00:00+00:00", "2026-11-20T10:00:00+00:00"
CODE = Version(kind="prompt", name="code", version="abc", text="Write $task.")
MINI = Version(kind="model", name="openai:gpt-4o-mini", version="2026-01-01")


@pytest.fixture(params=ALL)
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Registry]:
    """Opens the same registry, each time as another process would."""
    if request.param == "memory":
        only = MemoryRegistry()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: RegistryTable(url)


@pytest.fixture(params=ALL)
def forces(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Forces]:
    """Opens the same table of what is in force, each time as another process would."""
    if request.param == "memory":
        only = MemoryForces()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: ForcesTable(url)


def entry(key: str, value: str = "openai:a") -> InForce:
    return InForce(key=key, value=value, verb="pinned", by="user:ann", at=DAY)


def test_what_took_part_is_kept_with_its_first_and_last_moment(
    registry: Callable[[], Registry],
) -> None:
    registry().note([CODE, MINI], DAY)
    registry().note([CODE], NEXT)
    known = registry().get("prompt", "code", "abc")
    assert known is not None
    assert (known.version, known.first, known.last, known.retired_by) == (CODE, DAY, NEXT, "")
    assert registry().get("prompt", "code", "other") is None
    assert registry().get("model", "code", "abc") is None


def test_a_text_stays_what_it_was(registry: Callable[[], Registry]) -> None:
    registry().note([CODE], DAY)
    registry().note([replace(CODE, text="another")], NEXT)
    known = registry().get("prompt", "code", "abc")
    assert known is not None
    assert known.version.text == "Write $task."


def test_versions_are_listed_by_kind_name_and_first_use(
    registry: Callable[[], Registry],
) -> None:
    later = replace(MINI, version="2026-06-01")
    registry().note([CODE, later], NEXT)
    registry().note([MINI], DAY)
    assert [each.version for each in registry().listed()] == [MINI, later, CODE]
    assert [each.version for each in registry().listed("prompt")] == [CODE]
    assert registry().listed("pipeline") == ()


def test_retired_once_and_usable_again(registry: Callable[[], Registry]) -> None:
    registry().note([MINI], DAY)
    assert registry().retire(MINI, "user:ann", NEXT)
    assert not registry().retire(MINI, "user:bob", NEXT)
    (known,) = registry().listed()
    assert (known.retired_by, known.retired_at, known.first) == ("user:ann", NEXT, DAY)
    registry().note([MINI], NEXT)
    assert registry().listed()[0].retired_by == "user:ann"
    assert registry().retire(MINI, "", NEXT)
    assert not registry().retire(MINI, "", NEXT)
    assert registry().listed()[0].retired_at == ""


def test_what_nobody_saw_can_be_retired_and_not_restored(
    registry: Callable[[], Registry],
) -> None:
    assert not registry().retire(MINI, "", DAY)
    assert registry().listed() == ()
    assert registry().retire(MINI, "user:ann", DAY)
    assert registry().listed()[0].retired_by == "user:ann"


def test_many_processes_note_the_same_at_once(registry: Callable[[], Registry]) -> None:
    versions = [replace(CODE, name=f"t{number}") for number in range(10)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: registry().note(versions, DAY), range(16)))
    assert len(registry().listed()) == 10


def test_what_is_in_force_is_kept_by_its_key(forces: Callable[[], Forces]) -> None:
    assert forces().entries() == ()
    forces().put([entry("slow"), entry("build.votes", "2")])
    forces().put([entry("slow", "openai:b")])
    assert [(each.key, each.value) for each in forces().entries()] == [
        ("build.votes", "2"),
        ("slow", "openai:b"),
    ]
    assert forces().entries()[1] == entry("slow", "openai:b")


def test_what_is_put_takes_the_place_of_others(forces: Callable[[], Forces]) -> None:
    forces().put([entry("1.coder"), entry("2.coder"), entry("slow")])
    forces().put([entry("coder")], instead_of=["1.coder", "2.coder"])
    assert [each.key for each in forces().entries()] == ["coder", "slow"]


def test_what_is_dropped_is_told(forces: Callable[[], Forces]) -> None:
    forces().put([entry("coder"), entry("slow")])
    assert forces().drop(["slow", "critic"]) == (entry("slow"),)
    assert forces().drop(["slow"]) == ()
    assert forces().entries() == (entry("coder"),)
