"""Archives of volumes, which hostile programs fill: what is taken out of them, and what is not."""

import io
import tarfile

import pytest

from twinsmith.adapters.hosting import engine_volumes
from twinsmith.adapters.hosting.engine_volumes import empty_image, owned, plain_files
from twinsmith.core.errors import HostError


def member(name: str, kind: bytes = tarfile.REGTYPE, **more: object) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type = kind
    for field, value in more.items():
        setattr(found, field, value)
    return found


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> io.BytesIO:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as opened:
        for info, data in members:
            info.size = len(data)
            opened.addfile(info, io.BytesIO(data))
    written.seek(0)
    return written


def hostile() -> io.BytesIO:
    return archive(
        (member("./", tarfile.DIRTYPE, mode=0o700), b""),
        (member("./service.db", mode=0o600, uid=0), b"data"),
        (member("./sub", tarfile.DIRTYPE, mode=0o755), b""),
        (member("./sub/more", uid=1234), b"x"),
        (member("./passwd", tarfile.SYMTYPE, linkname="/etc/passwd"), b""),
        (member("./twin", tarfile.LNKTYPE, linkname="./service.db"), b""),
        (member("./null", tarfile.CHRTYPE, devmajor=1, devminor=3), b""),
        (member("./pipe", tarfile.FIFOTYPE), b""),
    )


def test_plain_files_are_taken_and_nothing_else() -> None:
    assert plain_files(hostile(), "shop") == {"service.db": b"data", "sub/more": b"x"}


def test_what_is_too_large_or_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_volumes, "LARGEST_FILE", 3)
    assert plain_files(hostile(), "shop") == {"sub/more": b"x"}
    many = archive(*((member(f"{n}"), b"abc") for n in range(5)))
    monkeypatch.setattr(engine_volumes, "MOST_FILES", 4)
    with pytest.raises(HostError, match="volume shop has more than 4 files"):
        plain_files(many, "shop")
    many.seek(0)
    monkeypatch.setattr(engine_volumes, "MOST_FILES", 5)
    monkeypatch.setattr(engine_volumes, "MOST_BYTES", 14)
    with pytest.raises(HostError, match="volume shop has more than"):
        plain_files(many, "shop")


def test_what_is_no_archive_is_one_line() -> None:
    with pytest.raises(HostError, match="volume shop cannot be read: "):
        plain_files(io.BytesIO(b"no archive" * 100), "shop")


def test_a_copy_belongs_to_programs_and_has_files_and_folders_alone() -> None:
    with owned(hostile()) as given, tarfile.open(fileobj=given) as opened:
        found = opened.getmembers()
    names = [each.name.removeprefix("./") for each in found]
    assert names == [".", "service.db", "sub", "sub/more"]
    assert {(each.uid, each.gid) for each in found} == {(10001, 10001)}
    assert [each.mode for each in found][:2] == [0o700, 0o600]


def test_an_empty_image_has_the_folder_of_data_for_programs() -> None:
    with tarfile.open(fileobj=empty_image()) as opened:
        (folder,) = opened.getmembers()
    assert (folder.name, folder.uid, folder.mode) == ("data", 10001, 0o700)
