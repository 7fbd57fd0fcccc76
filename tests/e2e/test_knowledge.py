"""`twinsmith knowledge` through the real command."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.models import FOLDER, installed


@pytest.fixture
def learned(command: Command) -> Command:
    for name in ("minilm-l6-v2", "minilm-l6-v2-tokenizer"):
        installed(name)
    command.env |= {"TWINSMITH_MODELS_FOLDER": str(FOLDER)}
    return command


def repository(folder: Path) -> Path:
    made = folder / "repository"
    made.mkdir()
    (made / "moon.go").write_text("package moon\n\nfunc Phase(day int) int { return day }\n")
    author = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=made, check=True)
    return made


@pytest.mark.xdist_group("library")
def test_a_folder_is_added_asked_and_forgotten(learned: Command, tmp_path: Path) -> None:
    source = tmp_path / "project"
    source.mkdir()
    (source / "tide.py").write_text(
        'def next_high_tide(station):\n    """When the sea is highest at a station."""\n'
        "    return station.tables[0]\n"
    )
    (source / "latin.py").write_bytes(b"# \xe9\n")
    done = learned("knowledge", "add", str(source))
    assert "1 new, 0 changed, 0 unchanged, 0 gone, 1 skipped; 1 passages" in done.stdout
    assert "skipped latin.py: " in done.stdout
    assert "reading the knowledge that comes with twinsmith, once" in done.stderr
    assert "0 new, 0 changed, 1 unchanged" in learned("knowledge", "add", str(source)).stdout
    hits = json.loads(learned("knowledge", "search", "when is the sea highest?", "--json").stdout)
    assert hits[0]["passage"]["symbol"] == "next_high_tide"
    assert (hits[0]["channel"], hits[0]["passage"]["path"]) == ("dense", "tide.py")
    shown = learned("knowledge", "search", "next_high_tide").stdout
    assert "lexical  next_high_tide" in shown
    assert "nothing fits" in learned("knowledge", "search", "a recipe for apple pie").stdout
    assert str(source) in learned("knowledge", "stats").stdout
    assert "forgotten: 1 documents" in learned("knowledge", "remove", str(source)).stdout
    assert "next_high_tide" not in learned("knowledge", "search", "next_high_tide").stdout
    line = learned("knowledge", "remove", str(source), code=2).stderr
    assert "is not known; one of starter" in line
    added = json.loads(
        learned("knowledge", "add", "--git", str(repository(tmp_path)), "--json").stdout
    )
    assert [figures["new"] for figures in added.values()] == [1]
    for wrong in (["--git", "--upload-pack=x"], ["/nowhere/at/all"]):
        line = learned("knowledge", "add", *wrong, code=2).stderr
        assert wrong[-1] in line
        assert len(line.splitlines()) == 1


def test_bad_input_is_one_clear_line(learned: Command) -> None:
    assert "nothing to add" in learned("knowledge", "add", code=2).stderr
    assert "0 is too small" in learned("knowledge", "search", "x", "-k", "0", code=2).stderr
