"""Packages that programs may use, and what compilers need beside them: made once, read-only.

A layer is a folder named by the hash of what it is made from. It is made outside the sandbox, from
locked packages with the ordinary package client, aside, and put in place in one step.
"""

import ast
import asyncio
import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import Language, Toolchain
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.core.errors import SandboxError
from twinsmith.core.program import MODULE, Kind, Program
from twinsmith.core.syntax import parse

HERE = Path(__file__).parent
LOCK = HERE / "python-layer.lock"
# Distributions by the name they are imported by; what they need themselves comes along. The layer
# has one more, a server that no program imports: it starts services where they are deployed.
ALLOWED = {
    "argon2": "argon2-cffi",
    "cryptography": "cryptography",
    "fastapi": "fastapi",
    "flask": "flask",
    "httpx": "httpx",
    "jwt": "pyjwt",
    "numpy": "numpy",
    "pydantic": "pydantic",
    "pytest": "pytest",
    "sqlalchemy": "sqlalchemy",
    "uvicorn": "uvicorn",
}
BESIDES = ("anyio", "click", "itsdangerous", "jinja2", "markupsafe", "starlette", "werkzeug")
# Importing these does something that nobody wants done for nothing.
NOT_WARMED = frozenset({"antigravity", "this", "idlelib", "test", "turtledemo", "lib2to3"})


class Layers:
    """The layers in one data folder; making one takes long, so it is announced first."""

    def __init__(self, folder: Path, tell: Callable[[str], None] = lambda _line: None) -> None:
        self._folder = folder
        self._tell = tell

    async def layer(self, program: Program) -> Path | None:
        """The folder with the packages that a program uses; None when it uses none."""
        if program.language != "python" or not (wanted(program) or program.requires):
            return None
        version = await asyncio.to_thread(_python_version)
        text = LOCK.read_text()
        return await self._made("python", f"{version}\n{text}", lambda to: _install(to, version))

    async def prepared(self, language: Language, toolchain: Toolchain, kind: Kind) -> Path | None:
        """The folder that a language prepared for its compiler; None when it needs nothing."""
        prepare = language.prepare
        if prepare is None or kind not in language.prepared_kinds:
            return None
        sources = [
            *sorted((HERE / "drivers").iterdir()),
            HERE / "languages" / f"{language.name}.py",
        ]
        made_from = [toolchain.version, *(path.read_text() for path in sources)]
        text = "\n".join([*made_from, *toolchain.commands.values()])
        return await self._made(language.name, text, lambda to: prepare(toolchain, to))

    async def _made(self, name: str, made_from: str, make: Callable[[Path], None]) -> Path:
        digest = hashlib.sha256(made_from.encode()).hexdigest()[:16]
        place = self._folder / f"{name}-{digest}"
        if not place.exists():
            self._tell(f"preparing {name} for the sandbox, once; this may take half a minute")
            await asyncio.to_thread(_once, place, make)
        return place


def refused(program: Program) -> str:
    """The line that names packages which a program asks for and may not use; empty: none."""
    asked = set(program.requires) - set(ALLOWED.values())
    if program.language == "python":
        known = {*sys.stdlib_module_names, *ALLOWED, *BESIDES, MODULE}
        asked |= _imported(program) - known
    elif program.requires:
        asked = set(program.requires)
    if not asked:
        return ""
    allowed = ", ".join(sorted(ALLOWED.values())) if program.language == "python" else "none"
    return f"asks for packages that are not allowed: {', '.join(sorted(asked))}; allowed: {allowed}"


def wanted(program: Program) -> frozenset[str]:
    """The modules that a Python program imports from a layer."""
    return _imported(program, optional=True) & {*ALLOWED, *BESIDES}


def warmed(program: Program) -> list[str]:
    """The modules that may be imported before the program runs: they are not its own."""
    names = _imported(program, optional=True)
    known = {*sys.stdlib_module_names, *ALLOWED, *BESIDES}
    return sorted((names & known) - NOT_WARMED)


def _imported(program: Program, *, optional: bool = False) -> frozenset[str]:
    """The modules that the files of a program import, without those files themselves."""
    own = {file.name.partition("/")[0].removesuffix(".py") for file in program.files}
    sources = (program.source, *(file.text for file in program.files))
    return frozenset().union(*(imports(each, optional=optional) for each in sources)) - own


@lru_cache(maxsize=64)
def imports(source: str, *, optional: bool = False) -> frozenset[str]:
    """The top-level modules that a source imports; those in a `try` only with `optional`."""
    try:
        nodes: list[ast.AST] = [parse(source)]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return frozenset()
    found: set[str] = set()
    while nodes:
        node = nodes.pop()
        match node:
            case ast.Import():
                found |= {alias.name.partition(".")[0] for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
            case ast.Try() if not optional:
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                # Never run; what stands behind its `else` is.
                nodes.extend(node.orelse)
                continue
        nodes.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def _once(place: Path, make: Callable[[Path], None]) -> None:
    """Make a folder aside and rename it, one process at a time."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / f".{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists():
            return
        for left in place.parent.glob(f".{place.name}.*.part"):
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
        try:
            make(aside)
            # Whoever the sandbox runs as may read it.
            aside.chmod(0o755)
            aside.rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _python_version() -> str:
    line = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([INTERPRETER, "-ISc", line], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _install(folder: Path, version: str) -> None:
    """Install the locked packages into a folder, as files only: nothing of theirs is run."""
    commands = (
        [
            *[sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
            *["--target", str(folder), "--no-deps", "--require-hashes", "--no-compile"],
            *["--only-binary", ":all:", "--python-version", version, "--requirement", str(LOCK)],
        ],
        [INTERPRETER, "-IS", "-m", "compileall", "-q", "-s", str(folder), str(folder)],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip().rpartition("\n")[2][:300]
            raise SandboxError(
                f"the packages for Python programs cannot be installed: {reason}; "
                "check the connection to the package registry and try again"
            )
    shutil.rmtree(folder / "bin", ignore_errors=True)
