"""Snapshots: from any store into any other, whole or not at all, and never believed unseen."""

import hashlib
import json
import os
import signal
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.stores import E, Place, all_numbers, document, new_place, ones, pieces, put
from twinsmith.adapters.knowledge.index import SegmentIndex
from twinsmith.adapters.knowledge.snapshot import read_snapshot, write_snapshot
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.store import Store
from twinsmith.core.errors import ConfigError

pytestmark = pytest.mark.xdist_group("durable")

KINDS = ("sqlite", "postgresql")
Members = dict[str, bytes]


def quietly(_done: int, _total: int) -> None:
    return None


def everything(store: Store) -> dict[str, object]:
    """All that is kept, except for what says which store it is."""
    with store.content() as content:
        return {
            "documents": list(content.documents()),
            "passages": list(content.passages()),
            "vectors": [
                (e, [(n.tolist(), v.tobytes()) for n, v in content.vectors(e.id)])
                for e in content.embedders
            ],
        }


def fill(store: Store, count: int = 6) -> None:
    rng = np.random.default_rng(3)
    for n in range(count):
        vectors = rng.normal(size=(3, 4)).astype(np.float32)
        of = document(f"é{n}", digest=f"d{n}", source=f"s{n % 2}")
        parts = pieces(f"alpha{n} 値 'q' \\ \t", "beta\n\n", "gamma")
        store.put(of, parts, vectors, embedder=E, who="me", added=f"2026-{n}")
    store.add_vectors("other", [2, 5, 9], np.ones((3, 7), dtype=np.float32))
    store.drop("s1", "é1")
    store.put(document("empty"), [], ones(0), embedder=E, who="me", added="2026")


@pytest.fixture
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], tuple[Place, Store]]]:
    stores: list[Store] = []

    def make(kind: str) -> tuple[Place, Store]:
        place = new_place(kind, request, tmp_path)
        stores.append(place.open())
        return place, stores[-1]

    yield make
    for store in stores:
        store.close()


Opened = Callable[[str], tuple[Place, Store]]


@pytest.mark.parametrize("origin", KINDS)
@pytest.mark.parametrize("target", KINDS)
def test_it_is_the_same_in_any_other_store(
    opened: Opened, tmp_path: Path, origin: str, target: str
) -> None:
    (_, one), (_, two) = opened(origin), opened(target)
    fill(one)
    for n in range(30):
        put(two, document(str(n), source="old"), "older words")
    two.drop("old", "3")
    before, changes = two.identity, two.changed_since(0)
    told: list[tuple[int, int]] = []
    write_snapshot(one, tmp_path / "all.zip", lambda done, total: told.append((done, total)))
    read_snapshot(tmp_path / "all.zip", two, lambda done, total: told.append((done, total)))
    assert [told[-1], told.count((38, 38))] == [(38, 38), 2]
    assert everything(two) == everything(one)
    assert two.identity not in (before, one.identity)
    assert two.changed_since(0).generation > changes.generation
    assert two.changed_since(0).deleted == ()
    assert two.embedders() == {E: 15, "other": 2}
    assert two.lexical("older", 5) == []
    assert [n for n, _ in two.lexical("alpha5", 5)] == [n for n, _ in one.lexical("alpha5", 5)]
    assert len(two.without_vector("other", 100)) == 13
    assert put(two, document("next"), "alpha") == (31,), "numbers are never used twice"
    assert two.without_vector(E, 5) == []
    assert put(one, document("next"), "alpha") == (19,)
    assert stat.S_IMODE((tmp_path / "all.zip").stat().st_mode) == 0o600
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_index_notices(opened: Opened, tmp_path: Path, kind: str) -> None:
    _, store = opened(kind)
    east, north = np.eye(4, dtype=np.float32)[:2]
    store.put(document(), pieces("a"), east[None], embedder=E, who="me", added="2026")
    write_snapshot(store, tmp_path / "all.zip", quietly)
    store.put(document(), pieces("b"), north[None], embedder=E, who="me", added="2026")
    index = SegmentIndex(tmp_path / "index", E, 4)
    index.merge(store)
    read_snapshot(tmp_path / "all.zip", store, quietly)
    index.refresh(store)
    assert index.search(east, 5) == [(1, 1.0)]
    assert "built again from the store" in index.messages()[0]
    assert index.merge(store)
    again = SegmentIndex(tmp_path / "index", E, 4)
    again.refresh(store)
    assert (again.search(east, 5), again.messages()) == ([(1, 1.0)], [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_is_open_elsewhere_sees_it(opened: Opened, tmp_path: Path, kind: str) -> None:
    place, store = opened(kind)
    other = place.open()
    fill(store)
    write_snapshot(store, tmp_path / "all.zip", quietly)
    put(other, document("later"), "later")
    assert other.lexical("later", 1)
    read_snapshot(tmp_path / "all.zip", store, quietly)
    assert (other.lexical("later", 1), len(other.lexical("alpha2", 5))) == ([], 1)
    assert other.identity == store.identity
    assert other.lineage(E) == store.lineage(E)
    assert put(other, document("later"), "later")[0] > 19
    other.close()


WRITER = """
    n = 0
    while True:
        put(store, document(str(n % 20), str(n), "w"), "alpha", "beta", "gamma")
        print(n, flush=True)
        n += 1
"""


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_one_moment_while_others_write(opened: Opened, tmp_path: Path, kind: str) -> None:
    place, store = opened(kind)
    _, target = opened("sqlite")
    child = place.child(WRITER)
    assert child.stdout is not None
    for _ in range(30):
        assert child.stdout.readline()
    for n in range(3):
        write_snapshot(store, tmp_path / f"{n}.zip", quietly)
    child.kill()
    child.communicate()
    for n in range(3):
        read_snapshot(tmp_path / f"{n}.zip", target, quietly)
        figures = target.stats()
        assert figures.documents == len(target.known("w")) == 20
        assert figures.passages == len(all_numbers(target)) == 60
        assert max(map(int, target.known("w").values())) < target.changed_since(0).newest / 3


KILLED = """
    import os, signal
    from twinsmith.adapters.knowledge.snapshot import read_snapshot, write_snapshot

    def deadly(done, total):
        if done >= int(sys.argv[5]):
            os.kill(os.getpid(), signal.SIGKILL)

    if sys.argv[3] == "read":
        read_snapshot(Path(sys.argv[4]), store, deadly)
    else:
        write_snapshot(store, Path(sys.argv[4]), deadly)
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when", [1, 3000, 5001])
def test_killed_while_restoring_all_is_as_it_was(
    opened: Opened, tmp_path: Path, kind: str, when: int
) -> None:
    (_, one), (place, two) = opened("sqlite"), opened(kind)
    one.put(document(), pieces(*["x"] * 2500), ones(2500), embedder=E, who="me", added="2026")
    fill(two)
    before, identity = everything(two), two.identity
    write_snapshot(one, tmp_path / "all.zip", quietly)
    child = place.child(KILLED, "read", str(tmp_path / "all.zip"), str(when))
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert (everything(two), two.identity) == (before, identity)
    read_snapshot(tmp_path / "all.zip", two, quietly)
    assert everything(two) == everything(one)


def test_killed_while_writing_the_old_file_stays(opened: Opened, tmp_path: Path) -> None:
    place, store = opened("sqlite")
    put(store, document(), *["x"] * 5000)
    (tmp_path / "all.zip").write_text("the old one")
    child = place.child(KILLED, "write", str(tmp_path / "all.zip"), "3000")
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert (tmp_path / "all.zip").read_text() == "the old one"


def test_a_full_disk_is_one_line_and_leaves_nothing(opened: Opened, tmp_path: Path) -> None:
    place, store = opened("sqlite")
    put(store, document(), *["x" * 1000] * 500)
    (tmp_path / "all.zip").write_text("the old one")
    child = place.child(
        """
        import resource
        from twinsmith.adapters.knowledge.snapshot import write_snapshot
        from twinsmith.core.errors import ConfigError
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            write_snapshot(store, Path(sys.argv[3]), lambda done, total: None)
        except ConfigError as told:
            print(told)
        """,
        str(tmp_path / "all.zip"),
    )
    (told,) = child.communicate(timeout=60)[0].splitlines()
    assert "all.zip cannot be written: File too large; make room" in told
    assert (tmp_path / "all.zip").read_text() == "the old one"
    assert list(tmp_path.glob(".*")) == []


def test_places_that_cannot_be_are_one_line(opened: Opened, tmp_path: Path) -> None:
    _, store = opened("sqlite")
    with pytest.raises(ConfigError, match="cannot be written: No such file or directory"):
        write_snapshot(store, tmp_path / "no" / "all.zip", quietly)
    with pytest.raises(ConfigError, match="cannot be written: Is a directory"):
        write_snapshot(store, tmp_path, quietly)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="is not a file"):
            read_snapshot(path, store, quietly)


def members(file: Path) -> Members:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forge(file: Path, made: Members, *, kind: int = zipfile.ZIP_STORED) -> None:
    """Write a file whose manifest has the right sizes and hashes of what is wrong."""
    manifest = json.loads(made["manifest.json"])
    for name, data in made.items():
        if name in manifest["members"]:
            digest = hashlib.sha256(data).hexdigest()
            manifest["members"][name] = {"size": len(data), "sha256": digest}
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, data in (made | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, data)


def edited(name: str, at: int, **changes: object) -> Callable[[Members], None]:
    """Change fields of a line."""

    def edit(made: Members) -> None:
        lines = made[name].splitlines()
        lines[at] = json.dumps(json.loads(lines[at]) | changes).encode()
        made[name] = b"\n".join(lines) + b"\n"

    return edit


def told(**changes: object) -> Callable[[Members], None]:
    """Change fields of the manifest."""

    def edit(made: Members) -> None:
        made["manifest.json"] = json.dumps(json.loads(made["manifest.json"]) | changes).encode()

    return edit


def embedder(**changes: object) -> Callable[[Members], None]:
    """Change fields of the first embedder."""

    def edit(made: Members) -> None:
        first, *others = json.loads(made["manifest.json"])["embedders"]
        told(embedders=[first | changes, *others])(made)

    return edit


def swap(name: str, data: bytes) -> Callable[[Members], None]:
    return lambda made: made.update({name: data})


HOSTILE: dict[str, tuple[Callable[[Members], object], str]] = {
    "newer": (told(format=9), "has format 9, this version reads 1"),
    "foreign": (told(kind="holiday pictures"), "is not a snapshot of knowledge"),
    "no manifest": (lambda made: made.pop("passages.jsonl"), "has other parts"),
    "more parts": (swap("../../../etc/passwd", b"x"), "has other parts"),
    "huge manifest": (told(x="x" * 2_000_000), "is not a snapshot of knowledge"),
    "no list": (told(embedders="minilm"), "'embedders' is missing or of another kind"),
    "no number": (told(newest="many"), "'newest' is missing or no number that can be"),
    "too high": (told(newest=2**63 - 1), "'newest' is missing or no number that can be"),
    "too few": (told(passages=3), "has 15 rows in 'passages.jsonl' instead of 3"),
    "too many": (told(documents=8), "has 6 rows in 'documents.jsonl' instead of 8"),
    "wide": (embedder(dimensions=10**9), "has vectors of 1000000000 dimensions"),
    "wider": (embedder(dimensions=8), "of another size or kind than it should"),
    "more vectors": (embedder(vectors=10**12), "of another size or kind than it should"),
    "same embedder": (embedder(id="other"), "nothing was changed"),
    "not finite": (swap("vectors-0.values", b"\xff" * 240), "need as many finite vectors"),
    "unsorted": (swap("vectors-0.numbers", bytes(120)), "vectors that are out of order"),
    "vector of nothing": (
        swap("vectors-0.numbers", np.arange(100, 115, dtype="<i8").tobytes()),
        "is damaged",
    ),
    "document twice": (edited("documents.jsonl", 1, path="é0", source="s0"), "is damaged"),
    "document too high": (edited("documents.jsonl", 5, number=10**6), "out of order"),
    "document of no kind": (edited("documents.jsonl", 0, path=["a"]), "'path' is missing"),
    "passage of nothing": (edited("passages.jsonl", 0, document=77), "is damaged"),
    "passage twice": (edited("passages.jsonl", 1, number=1), "out of order"),
    "passage too high": (edited("passages.jsonl", 14, number=99), "out of order"),
    "passage of no kind": (edited("passages.jsonl", 0, number=True), "'number' is missing"),
    "no passage": (swap("passages.jsonl", b"[1, 2]\n"), "'number' is missing"),
    "no JSON": (swap("passages.jsonl", b"{" * 500), "is damaged"),
    "deep JSON": (swap("passages.jsonl", b"[" * 200_000), "is damaged"),
    "no text": (swap("passages.jsonl", b'{"number": "\xff"}\n'), "is damaged"),
    "long number": (swap("passages.jsonl", b'{"number": ' + b"9" * 9000 + b"}"), "is damaged"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_contradicts_itself_changes_nothing(
    opened: Opened, tmp_path: Path, kind: str, name: str
) -> None:
    (_, one), (_, two) = opened("sqlite"), opened(kind)
    fill(one)
    put(two, document(), "kept")
    before, identity = everything(two), two.identity
    write_snapshot(one, tmp_path / "all.zip", quietly)
    made = members(tmp_path / "all.zip")
    edit, message = HOSTILE[name]
    edit(made)
    forge(tmp_path / "bad.zip", made)
    with pytest.raises(ConfigError) as refused:
        read_snapshot(tmp_path / "bad.zip", two, quietly)
    assert message in str(refused.value)
    assert str(refused.value).endswith("nothing was changed")
    assert "\n" not in str(refused.value)
    assert (everything(two), two.identity) == (before, identity)
    read_snapshot(tmp_path / "all.zip", two, quietly)
    assert everything(two) == everything(one)


def test_damage_anywhere_is_found_before_anything_changes(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store = opened("sqlite")
    fill(store)
    write_snapshot(store, tmp_path / "all.zip", quietly)
    monkeypatch.setattr(SqliteStore, "replace", lambda *_: pytest.fail("it was believed"))
    whole = (tmp_path / "all.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        headers = [info.header_offset for info in archive.infolist()]
    # Behind a header come a name and more, whose lengths are in its last four bytes.
    starts = [at + 30 + sum(struct.unpack("<HH", whole[at + 26 : at + 30])) for at in headers]
    flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in starts]
    cut = [whole[: len(whole) * n // 7] for n in range(7)]
    for data in (*flipped, *cut, whole[100:], b"PK\5\6" + bytes(18), os.urandom(1000)):
        (tmp_path / "bad.zip").write_bytes(data)
        with pytest.raises(ConfigError, match="nothing was changed") as refused:
            read_snapshot(tmp_path / "bad.zip", store, quietly)
        assert "\n" not in str(refused.value)


def test_what_is_packed_is_not_unpacked(opened: Opened, tmp_path: Path) -> None:
    _, store = opened("sqlite")
    fill(store)
    write_snapshot(store, tmp_path / "all.zip", quietly)
    made = members(tmp_path / "all.zip") | {"passages.jsonl": b" " * 50_000_000}
    forge(tmp_path / "bomb.zip", made, kind=zipfile.ZIP_DEFLATED)
    assert (tmp_path / "bomb.zip").stat().st_size < 100_000
    with pytest.raises(ConfigError, match="of another size or kind than it should"):
        read_snapshot(tmp_path / "bomb.zip", store, quietly)


def test_what_no_database_takes_is_replaced(opened: Opened, tmp_path: Path) -> None:
    (_, one), (_, two) = opened("sqlite"), opened("postgresql")
    put(one, document(), "plain")
    write_snapshot(one, tmp_path / "all.zip", quietly)
    made = members(tmp_path / "all.zip")
    edited("passages.jsonl", 0, text="a\0b\ud800c")(made)
    forge(tmp_path / "odd.zip", made)
    read_snapshot(tmp_path / "odd.zip", two, quietly)
    assert [passage.text for passage in two.passages([1])] == ["a\ufffdb\ufffdc"]
