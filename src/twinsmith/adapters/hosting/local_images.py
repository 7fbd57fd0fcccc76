"""Programs made ready to run on this machine: a folder each, named by what is in it."""

import asyncio
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.hosting.local_args import Bind, Room
from twinsmith.adapters.hosting.local_room import entered, groups_here
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.language import CACHE, WORK, BadProgram
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.layers import Layers
from twinsmith.adapters.sandbox.runner import LAYER, found
from twinsmith.adapters.sandbox.users import Users
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.containerfile import APP, DATA, PORTER, PORTER_FILE, VENV, started
from twinsmith.core.operating.instance import Image
from twinsmith.core.operating.source import Source
from twinsmith.core.program import MODULE

PORTER_FOLDER = "/run/porter"
PORTER_HERE = f"{PORTER_FOLDER}/{PORTER_FILE}"
META = "image.json"
BUILD_SECONDS = 180.0
BUILD_MB = 2048
LARGEST_PROGRAM = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalImage:
    """A program that is ready to run here."""

    words: tuple[str, ...]
    binds: tuple[Bind, ...]
    layered: bool


class LocalImages:
    """Images in one folder; Python's packages come from the layers of the sandbox."""

    def __init__(self, folder: Path, layers: Layers) -> None:
        self._folder = folder
        self._layers = layers
        self._users = Users()

    async def made(self, source: Source, package: Mapping[str, str]) -> Image:
        """The image of a program, made from the files of its package unless it is there."""
        digest = _digest(package)
        reference = digest[:16]
        place = self._folder / reference
        if place.exists():
            return Image(reference=reference, digest=digest, existed=True)
        layer = await self._layers.layer(source.program)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            aside = Path(tempfile.mkdtemp(prefix=f".{reference}.", dir=self._folder))
        except OSError as error:
            raise HostError(f"no image can be made: {error.strerror}; make room") from error
        try:
            await self._fill(aside, source, package)
            (aside / META).write_text(
                json.dumps({"words": _words(source), "layer": str(layer) if layer else ""})
            )
            aside.chmod(0o755)
            _put(aside, place)
        except OSError as error:
            raise HostError(f"no image can be made: {error.strerror}; make room") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return Image(reference=reference, digest=digest)

    async def remove(self, reference: str) -> None:
        """Remove an image."""
        await asyncio.to_thread(shutil.rmtree, self._folder / reference, ignore_errors=True)

    def read(self, reference: str) -> LocalImage:
        """An image by its reference; HostError where it is gone."""
        place = self._folder / reference
        try:
            told = json.loads((place / META).read_text())
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"image {reference} is not here any more; deploy the program anew"
            ) from error
        layer = str(told["layer"])
        binds = [Bind(source=str(place / "app"), target=APP)]
        if (place / "porter").exists():
            binds.append(Bind(source=str(place / "porter"), target=PORTER_FOLDER))
        if layer:
            binds.append(Bind(source=layer, target=LAYER))
        return LocalImage(
            words=tuple(map(str, told["words"])), binds=tuple(binds), layered=bool(layer)
        )

    async def _fill(self, aside: Path, source: Source, package: Mapping[str, str]) -> None:
        (aside / "app").mkdir()
        compiled = await self._compiled(aside, source)
        for name, text in package.items():
            inside = name.startswith("app/") and not compiled
            if inside or name == PORTER_FILE:
                # Folders are bound, not files.
                path = aside / (name if inside else f"porter/{name}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o644)

    async def _compiled(self, aside: Path, source: Source) -> bool:
        """Whether the program had to be compiled, which was done in a room; ConfigError if not."""
        program = source.program
        language = LANGUAGES[program.language]
        toolchain = await asyncio.to_thread(found, language)
        try:
            recipe = language.recipe(program, toolchain)
        except BadProgram as error:
            raise ConfigError(f"the program cannot be built: {error}; build it anew") from None
        if not recipe.build:
            return False
        prepared = await self._layers.prepared(language, toolchain, program.kind)
        binds = [Bind(source=place, target=place) for place in toolchain.mounts]
        binds += [Bind(source=what, target=where) for where, what in toolchain.placed.items()]
        if prepared is not None:
            binds.append(Bind(source=str(prepared), target=CACHE))
        with tempfile.TemporaryDirectory(prefix="twinsmith-build-") as work:
            for name, text in recipe.files.items():
                path = Path(work, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            user = self._users.next() if os.geteuid() == 0 else 0
            _given(Path(work), user)
            room = Room(
                words=(),
                folder=WORK,
                binds=(*binds, Bind(source=work, target=WORK, writable=True)),
                environment={
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "HOME": "/tmp",  # noqa: S108
                    "LANG": "C.UTF-8",
                    **toolchain.environment,
                    **recipe.environment,
                },
                user=user,
            )
            for words in recipe.build:
                await asyncio.to_thread(_built, room, tuple(words))
            _taken(Path(work, recipe.artefact), aside / "app" / MODULE)
        return True


def environment_of(image: LocalImage, listen: str) -> dict[str, str]:
    """The variables of an instance, secrets aside."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "DATABASE": f"{DATA}/service.db",
        "LISTEN": listen,
        "GUNICORN_CMD_ARGS": f"--bind unix:{listen} --umask 0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **({"PYTHONPATH": LAYER} if image.layered else {}),
    }


def _words(source: Source) -> list[str]:
    here = {f"{VENV}/bin/python": INTERPRETER, PORTER: PORTER_HERE}
    return [here.get(word, word) for word in started(source)]


def _digest(package: Mapping[str, str]) -> str:
    told = json.dumps(sorted(package.items()), ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def _put(aside: Path, place: Path) -> None:
    try:
        aside.rename(place)
    except OSError:
        # Somebody else has just made the same one.
        if not place.exists():
            raise


def _given(folder: Path, user: int) -> None:
    """Give a folder to the user of a room, where root makes it."""
    if user:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user)


def _built(room: Room, words: tuple[str, ...]) -> None:
    from dataclasses import replace

    counted = groups_here()
    inside = replace(room, words=("timeout", f"{BUILD_SECONDS:g}", *words))
    with entered(inside, counted, name=f"{os.getpid()}-build", memory_mb=BUILD_MB) as started_:
        out, _ = started_.process.communicate()
        code = started_.process.returncode
    if code:
        lines = out.decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
        said = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise ConfigError(f"the program cannot be built: {said.strip()[:200]}; build it anew")


def _taken(artefact: Path, target: Path) -> None:
    """Take the program out of a room: a plain file, whatever lies there."""
    try:
        file = os.open(artefact, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"the compiler made no program: {error.strerror}") from None
    with os.fdopen(file, "rb") as opened:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > LARGEST_PROGRAM:
            raise ConfigError("the compiler made no plain program; build it anew")
        target.write_bytes(opened.read())
    target.chmod(0o755)
