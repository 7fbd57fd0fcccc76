"""Documents tell the truth: the tree is the tree, commands run, defaults are the defaults."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, ROOT, Command, script
from tests.models import FOLDER
from tests.readme import README, outputs_in_readme, settled
from twinsmith.settings import Values, documented_defaults

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)


def tracked() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line for line in listed.stdout.splitlines() if (ROOT / line).exists()}


def tree_shown() -> set[str]:
    """Every file the tree names: a folder's line is followed by the names in it."""
    block = ARCHITECTURE.split("```tree\n")[1].split("```")[0]
    files: set[str] = set()
    folders: list[str] = []
    for line in block.splitlines():
        text, _, _ = line.partition("#")
        words = text.split()
        depth = (len(text) - len(text.lstrip())) // 2
        if words and words[0].endswith("/"):
            folders = [*folders[:depth], words.pop(0).rstrip("/")]
            inside = "/".join(folders)
        elif depth == 0:
            inside = ""
        files |= {f"{inside}/{word}".lstrip("/") for word in words}
    return files


def test_the_tree_is_the_tree_on_disk() -> None:
    shown = tree_shown()
    on_disk = {re.sub(r"\.py$", "", path) for path in tracked()}
    on_disk = {path for path in on_disk if not path.endswith("/__init__")}
    assert shown == on_disk, "write it anew: python scripts/tree.py"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 110
    assert max(map(len, README.splitlines())) <= 110


def test_pages_fit_a_screen() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        lines = page.read_text().splitlines()
        wide = [n for n, line in enumerate(lines, 1) if len(line) > 120 and line[:1] != "|"]
        assert not wide, f"{page.name}: lines {wide} have more than 120 columns"


def test_every_module_that_the_map_names_is_there() -> None:
    nodes = ARCHITECTURE.split("## Layers")[0]
    named = re.findall(r"`((?:core|flow|adapters|runs|ports)/[\w/]+)`", nodes)
    assert len(named) > 10
    for name in named:
        path = ROOT / "src" / "twinsmith" / name
        assert path.is_dir() or path.with_suffix(".py").exists(), name


def test_the_readme_shows_both_commands() -> None:
    assert "make demo" in COMMANDS
    assert "make test" in COMMANDS
    assert len(outputs_in_readme()) == len(COMMANDS)


@pytest.mark.xdist_group("large model")
def test_commands_in_the_readme_run_and_print_what_it_shows(command: Command, qwen: Path) -> None:
    assert qwen.exists()
    command.env["TWINSMITH_MODELS_FOLDER"] = str(FOLDER)
    path = f"{ROOT}/.venv/bin"
    for line, shown in outputs_in_readme():
        if line in ("make test", "make demo"):
            # This very run; and ten minutes of its own, which tests/e2e/test_demo.py plays.
            continue
        if not command.runs():
            # The run that a person would have after the demonstration.
            command.use_script(script())
            command("build", DOUBLE)
            del command.env["TWINSMITH_MODELS_SCRIPT"]
        last = command.runs()[-1][-4:] if command.runs() else ""
        done = subprocess.run(
            line.replace("a3f9", last),
            shell=True,
            cwd=ROOT,
            env={**command.environment, "PATH": f"{path}:{command.environment['PATH']}"},
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        printed = settled(done.stdout)
        for expected in shown:
            assert settled(expected).strip() in printed, f"{line}\n{done.stdout}"


def test_documented_settings_equal_the_defaults() -> None:
    documented = tomllib.loads(documented_defaults())
    assert documented == Values().model_dump(mode="json")


def test_every_documented_setting_is_explained() -> None:
    lines = documented_defaults().splitlines()
    settings = [n for n, line in enumerate(lines) if re.match(r"\w+ = ", line)]
    assert settings
    for n in settings:
        above = next(line for line in reversed(lines[:n]) if not re.match(r"\w+ = ", line))
        assert above.startswith("#"), lines[n]


def test_no_document_names_a_registry_or_a_path_of_some_machine() -> None:
    for path in tracked():
        if path.endswith((".md", ".toml", ".lock", ".txt")) or path in ("Makefile", ".ci/run"):
            text = (ROOT / path).read_text()
            for word in ("pypi.org", "pythonhosted", "/root/", "/work/"):
                assert word not in text, f"{path}: {word}"


def test_the_change_log_has_the_current_version() -> None:
    from twinsmith import __version__

    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()
