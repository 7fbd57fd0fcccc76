"""A result of one machine fetched on another that shares its PostgreSQL."""

import secrets
from pathlib import Path

from tests.conftest import DOUBLE, RIGHT, Command, script


def test_another_machine_has_everything_but_the_folder(
    command: Command, tmp_path: Path, postgres: str
) -> None:
    command.env["TWINSMITH_DATABASE_URL"] = f"{postgres}/fetch_{secrets.token_hex(4)}"
    command.use_script(script(code=(RIGHT, RIGHT)))
    command("build", DOUBLE, "--out", str(tmp_path / "here"))
    run = command.runs()[-1]
    other = Command(home=tmp_path / "other home", env=dict(command.env))
    there = tmp_path / "there"
    assert other("fetch", run[-4:], "--out", str(there)).stdout == f"result: {there}\n"
    assert (there / "solution.py").read_text() == (tmp_path / "here" / "solution.py").read_text()
    again = other("fetch", run, "--out", str(tmp_path), code=2).stderr
    assert again == f"twinsmith: --out {tmp_path} is not empty; name a new folder\n"


def test_without_a_shared_database_the_folder_is_told(command: Command, tmp_path: Path) -> None:
    command.use_script(script(code=(RIGHT, RIGHT)))
    command("build", DOUBLE, "--out", str(tmp_path / "here"))
    run = command.runs()[-1]
    told = command("fetch", run, code=2).stderr
    assert f"run {run} has no result in the database (it lies in {tmp_path / 'here'})" in told
