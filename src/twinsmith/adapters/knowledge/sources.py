"""Folders, files and repositories as documents; whatever cannot be read is skipped with a line.

Nothing outside the source is ever opened: no symlink is followed, and folders are opened from
the folder above them, so that one that is swapped for a symlink meanwhile is not followed either.
"""

import errno
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.knowledge import Document, Skipped

MOST_BYTES = 1_000_000
LONGEST_LINE = 20_000
BINARY_BYTES = 8_192
DEEPEST_FOLDER = 60
CLONE_SECONDS = 300.0
SKIPPED_FOLDERS = frozenset({"node_modules", "venv", "target", "vendor", "dist", "build"})
"""Made by tools or written by others; hidden files and folders are left out as well."""
BYTE_CODE = "__pycache__"
"""In every folder of Python, and never worth a word."""
MADE_BY_TOOLS = "a folder of tools or of others by its name; to read it, add it by itself"

LANGUAGES = {
    "python": ".py .pyi",
    "perl": ".pl .pm .t",
    "rust": ".rs",
    "go": ".go",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hh .hpp .hxx .ipp",
    "javascript": ".js .mjs .cjs .jsx",
    "markdown": ".md .markdown",
}
_BY_ENDING = {ending: name for name, endings in LANGUAGES.items() for ending in endings.split()}
_SHEBANG = re.compile(r"#!.*\b(python|perl|node)")
_CPP_HEADER = re.compile(r"^\s*(?:class|namespace|template|using)\b|\bstd::", re.MULTILINE)
_SPDX = re.compile(r"SPDX-License-Identifier:\s*([\w.+()-]+(?: (?:AND|OR|WITH) [\w.+()-]+)*)")
_SPDX_LINES = 20

_PLAIN_LICENCE = re.compile(r"(?:licen[cs]e|copying|unlicense)(?:\.\w+)?", re.IGNORECASE)
_CHOSEN_LICENCE = re.compile(r"licen[cs]e-[\w.-]+", re.IGNORECASE)
_LICENCE_CHARACTERS = 3_000
_LICENCES = (
    # The first whose words all occur, in lower case; the special before the general.
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.0", ("gnu library general public license", "version 2")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("BSL-1.0", ("boost software license",)),
    ("CC0-1.0", ("cc0 1.0",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("Unlicense", ("this is free and unencumbered software",)),
    ("ISC", ("permission to use, copy, modify, and",)),
    ("MIT", ("permission is hereby granted, free of charge",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary", "neither the name")),
    ("BSD-2-Clause", ("redistribution and use in source and binary",)),
)

_KINDS = (
    (stat.S_ISLNK, "a symlink"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_PATH = "/usr/local/bin:/usr/bin:/bin"
_ADDRESS = re.compile(r"(?:https://|ssh://)[\w\[][^\s\0]*|git@\w[\w.-]*:[^\s\0]+")


class _Unusable(Exception):
    """A file that is skipped; its text is the reason."""


def read_source(path: Path, source: str) -> Iterator[Document | Skipped]:
    """Everything in a file or folder, in the order of the names."""
    try:
        root = path.resolve(strict=True)
        if root.is_dir():
            yield from _Folder(root, source).read()
            return
        folder = os.open(root.parent, _OPEN | os.O_DIRECTORY)
    except (OSError, RuntimeError) as error:  # Python 3.11 tells of a loop with RuntimeError
        raise ConfigError(f"knowledge source {path} cannot be read: {_reason(error)}") from None
    try:
        yield _document(folder, root.name, PurePosixPath(root.name), source, "")
    finally:
        os.close(folder)


def how_many(path: Path) -> int:
    """About how many files there are to read; for a progress bar, not for decisions."""
    if not path.is_dir():
        return 1
    count = 0
    for _, folders, names in os.walk(path):
        left_out = SKIPPED_FOLDERS | {BYTE_CODE}
        folders[:] = [f for f in folders if not f.startswith(".") and f not in left_out]
        count += sum(not name.startswith(".") for name in names)
    return count


class _Folder:
    """A folder that is being read."""

    def __init__(self, root: Path, source: str) -> None:
        self._root = root
        self._source = source
        self._licence = ""

    def read(self) -> Iterator[Document | Skipped]:
        folder = os.open(self._root, _OPEN | os.O_DIRECTORY)
        try:
            self._licence = _licence_at(folder)
            yield from self._walk(folder, PurePosixPath())
        finally:
            os.close(folder)

    def _walk(self, folder: int, at: PurePosixPath) -> Iterator[Document | Skipped]:
        for name in _names(folder):
            where = at / name
            if not name.isprintable():  # neither control characters nor broken UTF-8
                yield Skipped(path=ascii(str(where))[1:-1], reason="its name cannot be printed")
                continue
            try:
                mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            except OSError as error:
                yield Skipped(path=str(where), reason=_reason(error))
                continue
            if stat.S_ISLNK(mode):
                yield Skipped(path=str(where), reason=self._link(where))
            elif not stat.S_ISDIR(mode):
                yield _document(folder, name, where, self._source, self._licence)
            elif name == BYTE_CODE:
                continue
            elif name in SKIPPED_FOLDERS:
                yield Skipped(path=str(where), reason=MADE_BY_TOOLS)
            else:
                yield from self._enter(folder, name, where)

    def _enter(self, above: int, name: str, where: PurePosixPath) -> Iterator[Document | Skipped]:
        if len(where.parts) > DEEPEST_FOLDER:
            yield Skipped(path=str(where), reason=f"more than {DEEPEST_FOLDER} folders deep")
            return
        try:
            folder = os.open(name, _OPEN | os.O_DIRECTORY, dir_fd=above)
        except OSError as error:
            yield Skipped(path=str(where), reason=_reason(error))
            return
        try:
            yield from self._walk(folder, where)
        finally:
            os.close(folder)

    def _link(self, where: PurePosixPath) -> str:
        """Why a symlink is not read: no symlink is."""
        try:
            target = (self._root / where).resolve(strict=True)
        except (OSError, RuntimeError) as error:
            return f"a symlink: {_reason(error)}"
        if not target.is_relative_to(self._root):
            return "a symlink that leaves the source"
        return f"a symlink to {target.relative_to(self._root)}, which is read where it lies"


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if not entry.name.startswith("."))


def _document(
    folder: int, name: str, where: PurePosixPath, source: str, licence: str
) -> Document | Skipped:
    try:
        data = _read(folder, name)
        text = _decoded(data)
    except _Unusable as unusable:
        return Skipped(path=str(where), reason=str(unusable))
    return Document(
        source=source,
        path=str(where),
        text=text,
        digest=hashlib.sha256(data).hexdigest(),
        language=_language(name, text),
        licence=_declared_licence(text) or licence,
    )


def _read(folder: int, name: str) -> bytes:
    """The bytes of a regular file that is not too large; nothing else is opened."""
    try:
        _check(os.stat(name, dir_fd=folder, follow_symlinks=False))
        # What it is may have changed since: O_NONBLOCK never waits for a pipe's other end.
        with os.fdopen(os.open(name, _OPEN, dir_fd=folder), "rb") as file:
            _check(os.fstat(file.fileno()))
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _Unusable(_reason(error)) from None
    if len(data) > MOST_BYTES:
        raise _Unusable(f"larger than {MOST_BYTES:,} bytes")
    return data


def _check(status: os.stat_result) -> None:
    for is_kind, kind in _KINDS:
        if is_kind(status.st_mode):
            raise _Unusable(f"{kind}, not a file")
    if status.st_size > MOST_BYTES:
        raise _Unusable(f"{status.st_size:,} bytes, more than {MOST_BYTES:,}")


def _decoded(data: bytes) -> str:
    if b"\0" in data[:BINARY_BYTES]:
        raise _Unusable("binary: it holds a NUL byte")
    try:
        text = data.decode("utf-8").removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as error:
        raise _Unusable(
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise _Unusable(f"line {number} has {len(line):,} characters, over {LONGEST_LINE:,}")
    return text


def _reason(error: OSError | RuntimeError) -> str:
    if isinstance(error, RuntimeError) or error.errno == errno.ELOOP:
        return "symlinks that lead in a circle"
    if isinstance(error, FileNotFoundError):
        return "not there, or no longer"
    return (error.strerror or "not readable").lower()


def _language(name: str, text: str) -> str:
    known = _BY_ENDING.get(PurePosixPath(name).suffix.lower())
    if known == "c" and name.lower().endswith(".h") and _CPP_HEADER.search(text):
        return "cpp"
    if known is None and (found := _SHEBANG.match(text)):
        return "javascript" if found[1] == "node" else found[1]
    return known or "text"


def _declared_licence(text: str) -> str:
    head = "\n".join(text.split("\n", _SPDX_LINES)[:_SPDX_LINES])
    return found[1].rstrip("-") if (found := _SPDX.search(head)) else ""


def _licence_at(folder: int) -> str:
    """The licence of a whole source; several `LICENSE-…` beside one another are a choice."""
    names = _names(folder)
    for name in filter(_PLAIN_LICENCE.fullmatch, names):
        if known := _recognised(folder, name):
            return known
    chosen = {_recognised(folder, name) for name in filter(_CHOSEN_LICENCE.fullmatch, names)}
    return " OR ".join(sorted(chosen - {""}))


def _recognised(folder: int, name: str) -> str:
    with suppress(_Unusable):
        text = _decoded(_read(folder, name))
        words = " ".join(text[:_LICENCE_CHARACTERS].lower().split())
        for licence, marks in _LICENCES:
            if all(mark in words for mark in marks):
                return licence
    return ""


def clone(url_or_folder: str, into: Path) -> None:
    """Bring the newest commit of a repository into a new folder."""
    where = _allowed(url_or_folder)
    git = shutil.which("git", path=_PATH)
    if git is None:
        raise ConfigError(f"git not found in {_PATH}; install it, or add a folder instead")
    new = not into.exists()
    process = subprocess.Popen(
        [git, *clone_args(where, into)],
        env=_GIT_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=CLONE_SECONDS)
        failure = _last_line(said) if process.returncode else ""
    except subprocess.TimeoutExpired:
        failure = f"not done after {CLONE_SECONDS:g} s"
    finally:
        if process.poll() is None:  # the helpers that git started as well
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if failure:
        if new:
            shutil.rmtree(into, ignore_errors=True)
        raise ConfigError(f"cannot clone {_without_secret(url_or_folder)}: {failure}")


_GIT_ENVIRONMENT = {
    "PATH": _PATH,
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
}


def clone_args(where: str, into: Path) -> list[str]:
    """The arguments of git: three protocols, no hooks, no templates, no submodules."""
    settings = (
        "protocol.allow=never",
        "protocol.ext.allow=never",
        "protocol.https.allow=always",
        "protocol.ssh.allow=always",
        "protocol.file.allow=always",
        f"core.hooksPath={os.devnull}",
        "core.fsmonitor=false",
    )
    return [
        *(word for setting in settings for word in ("-c", setting)),
        *("clone", "--quiet", "--depth=1", "--no-tags", "--no-local", "--no-recurse-submodules"),
        *("--template=", "--", where, str(into)),
    ]


def _allowed(url_or_folder: str) -> str:
    if url_or_folder.startswith("-"):
        raise ConfigError(f"a repository cannot begin with '-': {url_or_folder!r}")
    if _ADDRESS.fullmatch(url_or_folder):
        return url_or_folder
    with suppress(OSError, ValueError, RuntimeError):
        folder = Path(url_or_folder).resolve(strict=True)
        if url_or_folder and folder.is_dir():
            return str(folder)
    raise ConfigError(
        f"cannot clone {_without_secret(url_or_folder)!r}: "
        "neither a folder nor an address with https://, ssh:// or git@"
    )


def _without_secret(address: str) -> str:
    return re.sub(r"//[^/@]*@", "//…@", address)


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith("fatal:")]
    words = (fatal or lines or ["git says nothing"])[0].removeprefix("fatal: ")
    return _without_secret("".join(c for c in words if c.isprintable()))[:300]
