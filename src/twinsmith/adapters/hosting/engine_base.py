"""The base of all images on an engine: the operator's, a pulled one, or a Debian made here.

What programs of a language are built and run with is put on top of it once, in images of their own:
so nothing is installed, and no network is needed, while a program's own image is built.
"""

import asyncio
import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.hosting.engine_args import (
    BASES,
    BUILD_SECONDS,
    RUNS,
    TOOLS,
    build_query,
    question_body,
    repository,
    topped_tag,
)
from twinsmith.adapters.hosting.engine_client import PATH, Api, EngineClient, Missing
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.containerfile import BASE, build_tools, run_tools

RELEASE = "bookworm"
INCLUDED = "python3,python3-venv"
PULL_SECONDS = 120
# What an image has no use for, as in Debian's own slim images; licences stay.
NEEDLESS = (
    *("usr/share/man", "usr/share/locale", "usr/share/info", "var/cache/apt", "var/lib/apt/lists"),
    *("var/log", "usr/share/lintian", "usr/share/bug"),
)
UPGRADE = "apt-get update -qq && apt-get upgrade -y -qq"
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bases:
    """The images that programs of one language are built on."""

    run: str
    tools: str
    base: str
    """The image below both of them, with its digest."""


class EngineBase:
    """The bases on an engine; `folder` keeps what was made here for all engines of the machine."""

    def __init__(
        self,
        client: EngineClient,
        folder: Path,
        *,
        base: str = BASE,
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._client = client
        self._folder = folder
        self._base = base
        self._tell = tell

    async def ready(self, language: str) -> Bases:
        """The bases for a language, made where they are not there: once a machine, in minutes."""
        return await asyncio.to_thread(self._ready, language)

    async def python(self, tools: str) -> str:
        """The version of Python that programs are built with, such as 3.11."""
        return await self._client.ask(lambda api: _said(api, tools))

    def _ready(self, language: str) -> Bases:
        with self._alone():
            reference, digest = self._client.asked(self._found, seconds=PULL_SECONDS)
            lines = {RUNS: run_tools(language), TOOLS: build_tools(language)}
            run, tools = (
                self._topped(name, topped_tag(language, digest, line), reference, line)
                for name, line in lines.items()
            )
            return Bases(run=run, tools=tools, base=f"{reference}@sha256:{digest}")

    def _found(self, api: Api) -> tuple[str, str]:
        """The base under a name of ours, which never moves, and its digest."""
        own = repository(self._client.engine, BASES)
        try:
            return self._named(api, self._base)
        except Missing:
            made = [tag for tag in api.tags(own) if tag.startswith(f"{own}:{RELEASE}-")]
        if made and self._base == BASE:
            return made[0], _digest(api, made[0])
        try:
            api.pull(self._base)
            return self._named(api, self._base)
        except HostError as error:
            if self._base != BASE:
                raise ConfigError(
                    f"the base image {self._base} is not on {self._client.engine} and cannot be "
                    f"pulled; pull it yourself or set hosting.base: {error}"
                ) from error
        archive = self._archive()
        tag = archive.stem.removeprefix("base-")
        with archive.open("rb") as data:
            api.import_image(data, own, tag)
        return f"{own}:{tag}", _digest(api, f"{own}:{tag}")

    def _named(self, api: Api, reference: str) -> tuple[str, str]:
        digest = _digest(api, reference)
        own = repository(self._client.engine, BASES)
        api.tag(reference, own, digest[:12])
        return f"{own}:{digest[:12]}", digest

    def _topped(self, name: str, tag: str, base: str, line: str) -> str:
        """The image with one more layer on the base; the base itself where nothing is needed."""
        if not line:
            return base
        reference = f"{repository(self._client.engine, name)}:{tag}"
        try:
            self._client.asked(lambda api: api.image(reference))
        except Missing:
            self._tell(f"preparing {reference} on {self._client.engine}, once")
            text = f"FROM {base}\n{line}\n"
            self._client.asked(
                lambda api: self._layered(api, reference, text), seconds=BUILD_SECONDS
            )
        return reference

    def _layered(self, api: Api, reference: str, text: str) -> None:
        context = io.BytesIO()
        with tarfile.open(fileobj=context, mode="w") as archive:
            file = tarfile.TarInfo("Containerfile")
            file.size = len(text)
            archive.addfile(file, io.BytesIO(text.encode()))
        context.seek(0)
        asked = build_query(self._client.engine, reference, online=True, arguments={}, labels={})
        for told in api.build(asked, context):
            if "error" in told:
                why = " ".join(str(told["error"]).split())[:200]
                raise HostError(
                    f"{reference} cannot be prepared: {why}; it needs a network once, or set "
                    "hosting.base to an image that has the tools"
                )

    def _archive(self) -> Path:
        """The archive of a small Debian, made once for all engines."""
        made = sorted(self._folder.glob(f"base-{RELEASE}-*.tar"))
        if made:
            return made[-1]
        wanted = f"{self._base} is not here and cannot be pulled"
        if shutil.which("debootstrap", path=PATH) is None:
            raise HostError(f"{wanted}; to make one: apt-get install -y debootstrap")
        if os.geteuid() != 0:
            raise HostError(f"{wanted}, and only root can make one; set hosting.base")
        self._tell("making a base image with debootstrap, once; this takes about a minute")
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".base-") as aside:
            root, archive = Path(aside, "root"), Path(aside, "base.tar")
            _debootstrap(root, self._tell)
            _run("tar", "--numeric-owner", "-C", str(root), "-cf", str(archive), *_left_out(), ".")
            with archive.open("rb") as data:
                digest = hashlib.file_digest(data, "sha256").hexdigest()
            place = self._folder / f"base-{RELEASE}-{digest[:12]}.tar"
            archive.rename(place)
        return place

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ".base.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _digest(api: Api, reference: str) -> str:
    return str(api.image(reference)["Id"]).removeprefix("sha256:")


def _said(api: Api, tools: str) -> str:
    name = f"twinsmith-asked-{os.getpid()}-{time.monotonic_ns()}"
    try:
        api.create(name, question_body(tools, ["python3", "-ISc", VERSION]))
        api.start(name)
        api.wait(name)
        return api.logs(name, 1).decode(errors="replace").strip()
    finally:
        api.remove(name)


def _debootstrap(root: Path, tell: Callable[[str], None]) -> None:
    """Make a small Debian with the updates of its security team, if its mirror has them."""
    # Whatever it mounts is gone with it, even where it is killed.
    alone = ("unshare", "--mount", "--propagation", "private")
    options = ("--variant=minbase", f"--include={INCLUDED}")
    _run(*alone, "debootstrap", *options, RELEASE, str(root))
    sources = root / "etc" / "apt" / "sources.list"
    plain = sources.read_text()
    mirror = plain.split()[1]
    sources.write_text(
        f"{plain.strip()}\ndeb {mirror} {RELEASE}-updates main\n"
        f"deb {mirror}-security {RELEASE}-security main\n"
    )
    try:
        _run("env", "DEBIAN_FRONTEND=noninteractive", "chroot", str(root), "sh", "-c", UPGRADE)
    except HostError as error:
        tell(f"the base image has no security updates: {error}")
        sources.write_text(plain)
    for name in NEEDLESS:
        for path in (root / name).glob("*"):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in (root / "usr/share/doc").rglob("*"):
        if path.name != "copyright" and (path.is_file() or path.is_symlink()):
            path.unlink()


def _left_out() -> list[str]:
    return [f"--exclude=./{name}/*" for name in ("dev", "proc", "sys", "tmp", "run")]


def _run(*words: str) -> None:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"no base image can be made: {error}") from error
    if done.returncode != 0:
        why = (done.stdout + done.stderr).strip().rpartition("\n")[2][:300]
        raise HostError(f"no base image can be made by {words[0]}: {why}; set hosting.base")
