"""Builds of images: which files go in, and what is said of one that failed."""

import io
import tarfile
from pathlib import Path
from typing import cast

import pytest
from docker import APIClient
from docker.errors import APIError

from twinsmith.adapters.hosting import engine_base, engine_client, engine_images
from twinsmith.adapters.hosting.engine_base import EngineBase
from twinsmith.adapters.hosting.engine_client import Api, EngineClient
from twinsmith.core.errors import ConfigError, HostError


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "app/../../x", "app//x", "./x", ""])
def test_a_file_that_is_not_inside_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="the package has a file"):
        engine_images._refuse_odd({"Containerfile": "", name: ""})
    engine_images._refuse_odd({"Containerfile": "", "app/solution.py": ""})


def test_a_package_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_images, "MOST_TEXT", 3)
    with pytest.raises(ConfigError, match="the package has more than"):
        engine_images._refuse_odd({"a": "12", "b": "34"})


def test_the_files_of_a_build_are_the_same_each_time(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(b"wheel")
    first, second = io.BytesIO(), io.BytesIO()
    engine_images._pack(first, {"b": "2", "a": "1"}, [wheel])
    engine_images._pack(second, {"a": "1", "b": "2"}, [wheel])
    assert first.getvalue() == second.getvalue()
    with tarfile.open(fileobj=first) as opened:
        found = {each.name: each.mode for each in opened}
    assert found == {"a": 0o644, "b": 0o644, "wheels/a.whl": 0o644}


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (
            ["Step 3/9 : RUN cc", "a.c:1:2: error: no", "", "The command 'cc' returned 1"],
            "a.c:1:2: error: no",
        ),
        (["error: first", "note: more", "error: second", "exit status 1"], "error: second"),
        (["all is well", "disk full"], "disk full"),
        ([], "no word why"),
    ],
)
def test_of_a_failed_build_the_line_is_told_that_says_most(lines: list[str], meant: str) -> None:
    assert engine_images._meant(lines) == meant


def test_a_base_that_cannot_be_made_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = EngineBase(EngineClient("docker", tmp_path), tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda *_args, **_more: None)
    with pytest.raises(HostError, match="to make one: apt-get install -y debootstrap"):
        base._archive()
    monkeypatch.setattr("shutil.which", lambda *_args, **_more: "/usr/sbin/x")
    with pytest.raises(HostError, match=r"only root can make one; set hosting\.base"):
        base._archive()
    made = tmp_path / f"base-{engine_base.RELEASE}-0123456789ab.tar"
    made.touch()
    assert base._archive() == made


class Lister:
    """An engine that cannot list its images the first times, as Podman while one is removed."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def images(self, name: str) -> list[dict[str, object]]:
        if self.failures:
            self.failures -= 1
            raise APIError("layer not known")
        return [{"Created": 1, "RepoTags": [f"{name}:a"]}, {"Created": 2, "RepoTags": None}]


def test_images_are_listed_although_one_goes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_client, "LISTING_PAUSES", (0.0, 0.0))
    assert Api("podman", cast("APIClient", Lister(2))).tags("x") == ["x:a"]
    with pytest.raises(HostError, match="podman refuses x: layer not known"):
        Api("podman", cast("APIClient", Lister(3))).tags("x")
