"""Renewing the program's folder before every probe."""

from __future__ import annotations

import posix as os
import stat

LARGEST_ARTEFACT = 128 << 20
SEAL_EVERYTHING = 0xF
ADD_SEALS = 1033


def renew(scratch: list[str], work: str, files: dict[str, str]) -> None:
    """Empty the scratch folders, and put the program's files into its own folder."""
    for place in scratch:
        _empty(place)
    os.mkdir(work, 0o700)
    for inner in {name.rpartition("/")[0] for name in files} - {""}:
        os.mkdir(f"{work}/{inner}", 0o700)
    for name, text in files.items():
        fd = os.open(f"{work}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))


def _empty(place: str) -> None:
    """Empty a folder without recursion: the contents of deep folders are moved up first."""
    number, mark = 0, os.urandom(8).hex()
    junk = [f"{place}/{name}" for name in os.listdir(place)]
    while junk:
        path = junk.pop()
        try:
            os.unlink(path)
        except IsADirectoryError:
            os.chmod(path, 0o700)
            for name in os.listdir(path):
                number += 1
                above = f"{place}/{mark}{number}"
                if stat.S_ISDIR(os.lstat(f"{path}/{name}").st_mode):
                    # A folder that is moved has to be writable itself.
                    os.chmod(f"{path}/{name}", 0o700)
                os.rename(f"{path}/{name}", above)
                junk.append(above)
            os.rmdir(path)


def sealed_copy(path: str) -> int:
    """An open copy of an executable that nothing can change; no link is followed to it."""
    import fcntl

    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, "rb") as file:
        if os.fstat(fd).st_size > LARGEST_ARTEFACT:
            raise OSError(f"the program is larger than {LARGEST_ARTEFACT >> 20} MB")
        copy = os.memfd_create("solution", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        while part := file.read(1 << 20):
            os.write(copy, part)
    fcntl.fcntl(copy, ADD_SEALS, SEAL_EVERYTHING)
    return copy
