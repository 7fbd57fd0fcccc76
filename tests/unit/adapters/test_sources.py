"""Sources are read whole; what cannot be read is skipped with a line; nothing outside is opened."""

import hashlib
import os
import socket
import subprocess
from pathlib import Path

import pytest

from twinsmith.adapters.knowledge import sources
from twinsmith.adapters.knowledge.sources import MADE_BY_TOOLS, clone, clone_args, read_source
from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.knowledge import Document, Skipped

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person"
APACHE = "                      Apache License\n                Version 2.0, January 2004\n"
BSD = "Redistribution and use in source and binary forms\n"


def read(path: Path) -> tuple[dict[str, Document], dict[str, str]]:
    """The documents by path, and the reasons of what was skipped."""
    found = list(read_source(path, "here"))
    documents = {item.path: item for item in found if isinstance(item, Document)}
    skipped = {item.path: item.reason for item in found if isinstance(item, Skipped)}
    assert len(documents) + len(skipped) == len(found)
    assert all("\n" not in line for pair in skipped.items() for line in pair)
    return documents, skipped


def reason(folder: Path, name: str) -> str:
    """Why one file is skipped; the good one beside it is read all the same."""
    (folder / "good.txt").write_text("fine\n")
    documents, skipped = read(folder)
    assert set(documents) == {"good.txt"}
    assert set(skipped) == {name}
    return skipped[name]


def test_a_folder_is_read_in_order_with_its_languages(tmp_path: Path) -> None:
    names = {
        "a.py": "python",
        "b.pm": "perl",
        "c.rs": "rust",
        "d.go": "go",
        "e.c": "c",
        "f.HPP": "cpp",
        "g.mjs": "javascript",
        "h.md": "markdown",
        "i.ts": "text",
        "sub/deep/j.txt": "text",
        "z": "text",
    }
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    found = list(read_source(tmp_path, "here"))
    assert [(f.path, f.language) for f in found if isinstance(f, Document)] == list(names.items())


def test_a_document_has_its_lineage(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfprint('\xc3\xa9')\r\n"
    (tmp_path / "a.py").write_bytes(data)
    assert list(read_source(tmp_path / "a.py", "mine")) == [
        Document(
            source="mine",
            path="a.py",
            text="print('é')\r\n",
            digest=hashlib.sha256(data).hexdigest(),
            language="python",
        )
    ]


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/usr/bin/perl -w\n", "perl"),
        ("run", "#!/usr/bin/env node\n", "javascript"),
        ("run", "#!/bin/sh\n", "text"),
        ("a.h", "struct a { int x; };\n", "c"),
        ("a.h", "namespace a {\n}\n", "cpp"),
    ],
)
def test_a_language_is_seen_in_the_text(
    tmp_path: Path, name: str, text: str, language: str
) -> None:
    (tmp_path / name).write_text(text)
    assert read(tmp_path)[0][name].language == language


def test_what_tools_make_and_what_is_hidden_is_left_out(tmp_path: Path) -> None:
    for name in (".git", "node_modules", ".venv", "__pycache__", "target", "vendor", "dist"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x\n")
    (tmp_path / ".env").write_text("SECRET=1\n")
    documents, skipped = read(tmp_path)
    assert documents == {}
    # A folder of sources may be called so, too: what is left out by its name is told.
    assert set(skipped) == {"node_modules", "target", "vendor", "dist"}
    assert set(skipped.values()) == {MADE_BY_TOOLS}
    # What a person names is read, whatever its name.
    assert set(read(tmp_path / "vendor")[0]) == {"a.py"}


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        ({"LICENSE": MIT}, "MIT"),
        ({"LICENSE.txt": APACHE}, "Apache-2.0"),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007"}, "GPL-3.0"),
        ({"licence.md": "Mozilla Public License Version 2.0\n"}, "MPL-2.0"),
        ({"LICENSE": BSD + "Neither the name of"}, "BSD-3-Clause"),
        ({"LICENSE": BSD}, "BSD-2-Clause"),
        ({"LICENSE-MIT": MIT, "LICENSE-APACHE": APACHE}, "Apache-2.0 OR MIT"),
        ({"LICENSE": "All rights reserved."}, ""),
        ({"LICENSE": "\0"}, ""),
        ({"sub/LICENSE": MIT}, ""),
        ({}, ""),
    ],
)
def test_the_licence_of_a_source(tmp_path: Path, files: dict[str, str], licence: str) -> None:
    (tmp_path / "sub").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "sub/a.py").write_text("x = 1\n")
    assert read(tmp_path)[0]["sub/a.py"].licence == licence


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("# SPDX-License-Identifier: BSD-3-Clause\n", "BSD-3-Clause"),
        ("/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */\n", None),
        ("<!-- SPDX-License-Identifier: (MIT OR Apache-2.0)-->\n", "(MIT OR Apache-2.0)"),
        ("\n" * 20 + "# SPDX-License-Identifier: ISC\n", "MIT"),
        ("\n" * 19 + "# SPDX-License-Identifier: ISC\n", "ISC"),
    ],
)
def test_a_file_can_say_its_own_licence(tmp_path: Path, text: str, licence: str | None) -> None:
    (tmp_path / "LICENSE").write_text(MIT)
    (tmp_path / "a.c").write_text(text)
    found = read(tmp_path)[0]["a.c"].licence
    assert found == (licence or "GPL-2.0-only WITH Linux-syscall-note")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"ok\ncaf\xe9\n", "not UTF-8: byte 0xe9 at offset 6"),
        (b"ok\n" + b"x" * 20_001, "line 2 has 20,001 characters, over 20,000"),
        (b"x\n" * 500_001, "1,000,002 bytes, more than 1,000,000"),
    ],
    ids=["NUL", "latin-1", "giant line", "giant file"],
)
def test_bad_text_is_skipped(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "bad.py").write_bytes(data)
    assert said in reason(tmp_path, "bad.py")


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert reason(tmp_path, "pipe.py") == "a named pipe, not a file"
    assert read(tmp_path / "pipe.py") == ({}, {"pipe.py": "a named pipe, not a file"})


def test_a_socket_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.py")
        assert reason(tmp_path, "s.py") == "a socket, not a file"


def test_a_device_is_never_opened() -> None:
    assert read(Path("/dev/zero")) == ({}, {"zero": "a device, not a file"})


def test_symlinks_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("outside\n")
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub/a.txt").write_text("inside\n")
    for name, target in {
        "out.txt": "../secret.txt",
        "out": "..",
        "loop": "loop",
        "one": "two",
        "two": "one",
        "self": "sub/../../source",
        "gone": "nowhere",
        "again.txt": "sub/a.txt",
    }.items():
        (source / name).symlink_to(target)
    documents, skipped = read(source)
    assert set(documents) == {"sub/a.txt"}
    assert skipped == {
        "out.txt": "a symlink that leaves the source",
        "out": "a symlink that leaves the source",
        "loop": "a symlink: symlinks that lead in a circle",
        "one": "a symlink: symlinks that lead in a circle",
        "two": "a symlink: symlinks that lead in a circle",
        "self": "a symlink to ., which is read where it lies",
        "gone": "a symlink: not there, or no longer",
        "again.txt": "a symlink to sub/a.txt, which is read where it lies",
    }


def test_a_source_may_itself_be_named_by_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.txt").write_text("x\n")
    (tmp_path / "link").symlink_to("real")
    assert set(read(tmp_path / "link")[0]) == {"a.txt"}


@pytest.mark.elsewhere(os.geteuid() == 0, reason="root reads everything; run as another user")
def test_what_may_not_be_read_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    (tmp_path / "a.txt").chmod(0)
    assert reason(tmp_path, "a.txt") == "permission denied"


def test_a_refused_file_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, for root too: the operating system's refusal is played."""
    opened = os.open

    def refuse(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if str(path) == "a.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, dir_fd=dir_fd)

    (tmp_path / "a.txt").write_text("x\n")
    monkeypatch.setattr(os, "open", refuse)
    assert reason(tmp_path, "a.txt") == "permission denied"


def test_files_that_vanish_or_change_meanwhile_are_skipped(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d/e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    (tmp_path / "outside").mkdir()
    items = read_source(tmp_path, "here")
    assert next(items).path == "a.txt"
    (tmp_path / "b.txt").unlink()
    (tmp_path / "c.txt").unlink()
    os.mkfifo(tmp_path / "c.txt")
    (tmp_path / "d").rename(tmp_path / "outside/d")
    (tmp_path / "d").symlink_to("/etc")
    assert {item.path: item.reason for item in items if isinstance(item, Skipped)} == {
        "b.txt": "not there, or no longer",
        "c.txt": "a named pipe, not a file",
        "d": "a symlink that leaves the source",
    }


def test_names_that_cannot_be_printed_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a\nb.txt").write_text("x\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("x\n")
    assert set(read(tmp_path)[1]) == {"a\\nb.txt", "\\udcff.txt"}


def test_folders_too_deep_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 70)).mkdir(parents=True)
    assert list(read(tmp_path)[1].values()) == ["more than 60 folders deep"]


@pytest.mark.parametrize("name", ["missing", "loop"])
def test_a_source_that_is_not_there_is_the_operators_to_mend(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match="cannot be read"):
        list(read_source(tmp_path / name, "here"))


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for args in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "1"]):
        subprocess.run(["git", "-C", str(folder), *args], check=True)
    return folder


def test_a_local_repository_is_cloned(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    hook = origin / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    clone(str(origin), tmp_path / "copy")
    assert set(read(tmp_path / "copy")[0]) == {"a.py"}
    assert not (tmp_path / "copy/.git/hooks").exists()
    assert not (tmp_path / "hooked").exists()


def test_the_arguments_of_git() -> None:
    args = clone_args("https://example.org/a.git", Path("/into"))
    assert args[-3:] == ["--", "https://example.org/a.git", "/into"]
    assert "protocol.allow=never" in args
    assert "protocol.ext.allow=never" in args
    assert "--template=" in args
    assert "--depth=1" in args


@pytest.mark.parametrize(
    "address",
    [
        "--upload-pack=touch /tmp/x",
        "-u",
        "ext::sh -c true",
        "ext::sh",
        "file:///etc",
        "http://example.org/a.git",
        "git://example.org/a.git",
        "ssh://-oProxyCommand=true/a",
        "git@-oProxyCommand=true:a",
        "https://example.org/a b",
        "no such folder",
        "a\0b",
        "",
    ],
)
def test_other_addresses_are_refused(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    with pytest.raises(ConfigError) as raised:
        clone(address, tmp_path / "into")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "into").exists()


def test_a_failed_clone_says_why_in_one_line_without_the_password(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(ConfigError, match=r"cannot clone .*plain: .*does not"):
        clone(str(tmp_path / "plain"), tmp_path / "into")
    with pytest.raises(ConfigError, match=r"cannot clone https://…@127\.0\.0\.1:1/a: ") as raised:
        clone("https://me:hunter2@127.0.0.1:1/a", tmp_path / "into")
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_clone_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "CLONE_SECONDS", 0.0)
    with pytest.raises(ConfigError, match="not done after 0 s"):
        clone(str(repository(tmp_path / "origin")), tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_without_git_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_PATH", "/nowhere")
    with pytest.raises(ConfigError, match="git not found in /nowhere; install it"):
        clone("https://example.org/a.git", tmp_path / "into")
