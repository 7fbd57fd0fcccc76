"""`twinsmith knowledge` through the real command."""

import json
import re
import subprocess
from pathlib import Path
from typing import cast

import pytest

from tests.conftest import DOUBLE, Command, script, until
from tests.embedding_server import DIMENSIONS, KEY, serving
from tests.models import FOLDER, installed
from tests.sandboxes import FOLDER as SANDBOX
from tests.sandboxes import needs

TIDE = '''def next_high_tide(station):
    """When the sea is highest at a station."""
    return station.tables[0]
'''


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
    (source / "tide.py").write_text(TIDE)
    (source / "latin.py").write_bytes(b"# \xe9\n")
    done = learned("knowledge", "add", str(source))
    assert "1 new, 0 changed, 0 unchanged, 0 gone, 1 skipped; 1 passages" in done.stdout
    assert "skipped latin.py: " in done.stdout
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


def test_what_is_known_moves_to_another_machine_and_the_index_is_made_anew(
    learned: Command, tmp_path: Path
) -> None:
    (tmp_path / "tide.py").write_text(TIDE)
    learned("knowledge", "add", str(tmp_path / "tide.py"))
    kept = tmp_path / "known.zip"
    assert f"written: {kept}" in learned("knowledge", "snapshot", str(kept)).stdout
    other = Command(home=tmp_path / "other", env=learned.env)
    assert "restored: " in other("knowledge", "restore", str(kept)).stdout
    assert "next_high_tide" in other("knowledge", "search", "next_high_tide").stdout
    assert "rebuilt: " in other("knowledge", "rebuild").stdout
    assert "next_high_tide" in other("knowledge", "search", "when is the sea highest?").stdout
    kept.write_bytes(kept.read_bytes()[:-10])
    line = other("knowledge", "restore", str(kept), code=2).stderr
    assert (str(kept) in line, len(line.splitlines())) == (True, 1)
    assert "next_high_tide" in other("knowledge", "search", "next_high_tide").stdout
    line = other("knowledge", "snapshot", "/nowhere/at/all.zip", code=2).stderr
    assert ("/nowhere/at" in line, len(line.splitlines())) == (True, 1)


def test_another_embedder_takes_over_in_the_background(learned: Command, tmp_path: Path) -> None:
    (tmp_path / "tide.py").write_text(TIDE)
    learned("knowledge", "add", str(tmp_path / "tide.py"))
    with serving() as server:
        learned.env |= {
            "TWINSMITH_KNOWLEDGE_EMBEDDER": "openai:wire-model",
            "TWINSMITH_KNOWLEDGE_DIMENSIONS": str(DIMENSIONS),
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": KEY,
        }
        hits = learned("knowledge", "search", "when is the sea highest?", "--json").stdout
        assert json.loads(hits)[0]["passage"]["symbol"] == "next_high_tide"

        def switched() -> bool:
            figures = json.loads(learned("knowledge", "stats", "--json").stdout)
            return list(figures["embedders"]) == [f"openai:wire-model@{DIMENSIONS}"]

        until(switched, seconds=60)
        texts = sum(len(cast("list[str]", body["input"])) for _, _, body in server.requests)
        assert texts >= 200
        log = (learned.home / "knowledge" / "upkeep" / "log").read_text()
        assert log == ""


def test_what_is_known_may_lie_in_postgresql(
    learned: Command, postgres: str, tmp_path: Path
) -> None:
    (tmp_path / "tide.py").write_text(TIDE)
    learned.env["TWINSMITH_KNOWLEDGE_STORE"] = f"{postgres}/postgres"
    assert "1 new" in learned("knowledge", "add", str(tmp_path / "tide.py")).stdout
    assert "next_high_tide" in learned("knowledge", "search", "when is the sea highest?").stdout
    assert "next_high_tide" in learned("knowledge", "search", "next_high_tide").stdout
    assert not (learned.home / "knowledge" / "knowledge.db").exists()
    learned.env["TWINSMITH_KNOWLEDGE_STORE"] = "postgresql://nobody@127.0.0.1:1/none"
    line = learned("knowledge", "stats", code=3).stderr
    assert ("127.0.0.1" in line, len(line.splitlines())) == (True, 1)
    learned.env["TWINSMITH_KNOWLEDGE_STORE"] = "mysql://x"
    assert "must start with postgresql://" in learned("knowledge", "stats", code=2).stderr


def test_what_one_build_made_the_next_one_is_told(learned: Command, tmp_path: Path) -> None:
    learned.env |= {"TWINSMITH_BUILD_RETRIEVAL": "true", "MY_API_KEY": "correct-horse"}
    learned.use_script(script())
    (tmp_path / "checks.py").write_text("assert double(3) == 6\n")
    task = f"{DOUBLE}, not correct-horse"
    built = learned("build", task, "--tests", str(tmp_path / "checks.py"), "--json")
    first = json.loads(built.stdout)["run"]
    assert "built" in json.loads(learned("knowledge", "stats", "--json").stdout)["names"]
    found = learned("knowledge", "search", f"{DOUBLE}, not masked", "-k", "1").stdout
    assert f"(built: {first}:1)" in found
    assert "return n * 2" in found
    learned("build", f"{DOUBLE}, not masked", "--out", str(tmp_path / "out"))
    (piece,) = json.loads((tmp_path / "out" / "report.json").read_text())["pieces"]
    assert (piece["source"], piece["path"], piece["licence"]) == ("built", first, "own")
    kept = b"".join(file.read_bytes() for file in (learned.home / "knowledge").glob("*.db*"))
    assert (b"[masked]" in kept, b"correct-horse" in kept) == (True, False)
    assert "forgotten: 1 documents" in learned("knowledge", "remove", "built").stdout


def test_documentation_of_a_library_is_a_pack(learned: Command) -> None:
    needs("python")
    learned.env["TWINSMITH_SANDBOX_FOLDER"] = str(SANDBOX)
    done = learned("knowledge", "add", "--pack", "jwt")
    (files,) = re.findall(r"pack:jwt: (\d+) new, 0 changed", done.stdout)
    assert f"passages of {files} files" in done.stderr
    again = learned("knowledge", "add", "--pack", "jwt").stdout
    assert f"0 new, 0 changed, {files} unchanged" in again
    rows = {row["name"]: row for row in json.loads(learned("knowledge", "packs", "--json").stdout)}
    assert {"python", "go", "rust", "c", "cpp", "perl", "flask"} <= set(rows)
    assert rows["jwt"]["added"] > 20
    assert rows["jwt"]["installed"][0].startswith("pyjwt 2.")
    assert "passages added" in learned("knowledge", "packs").stdout
    found = json.loads(learned("knowledge", "search", "jwt.encode", "-k", "9", "--json").stdout)
    passages = [hit["passage"] for hit in found if hit["passage"]["source"] == "pack:jwt"]
    assert passages[0]["licence"] == "MIT"
    assert passages[0]["version"].startswith("pyjwt 2.")
    assert f"forgotten: {files} documents" in learned("knowledge", "remove", "pack:jwt").stdout
    line = learned("knowledge", "add", "--pack", "jwt,cobol", code=2).stderr
    assert "pack 'cobol' is not known; one of python" in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("embedder", "says"),
    [
        ("clippy", "knowledge.embedder 'clippy' is unknown; 'minilm-l6-v2', or one of openai"),
        ("openai:", "is unknown"),
        ("openai:text-embedding-3-small", "needs a key in the environment"),
        ("server:mine", "how many dimensions 'server:mine' has is not known"),
        ("google:gemini-embedding-001", "needs a key in the environment"),
    ],
)
def test_an_embedder_that_cannot_be_used_is_one_line(
    command: Command, embedder: str, says: str
) -> None:
    command.env["TWINSMITH_KNOWLEDGE_EMBEDDER"] = embedder
    line = command("knowledge", "stats", code=2).stderr
    assert says in line
    assert len(line.splitlines()) == 1


def test_bad_input_is_one_clear_line(learned: Command) -> None:
    assert "nothing to add" in learned("knowledge", "add", code=2).stderr
    assert "0 is too small" in learned("knowledge", "search", "x", "-k", "0", code=2).stderr
