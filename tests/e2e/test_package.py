"""`twinsmith package`: a folder that anybody can deploy, or one line that says why not."""

import json
from pathlib import Path

from tests.conftest import DOUBLE, Command, script


def test_a_solved_run_is_packaged_by_its_name_or_its_folder(
    command: Command, tmp_path: Path
) -> None:
    command.use_script(script())
    outcome = json.loads(command("build", DOUBLE, "--json").stdout)
    told = json.loads(
        command("package", outcome["run"], "--out", str(tmp_path / "p"), "--json").stdout
    )
    made = sorted(str(path.relative_to(tmp_path / "p")) for path in (tmp_path / "p").rglob("*.*"))
    assert made == [
        *("README.md", "app/solution.py", "app/test_solution.py", "compose.yaml"),
        *("requirements.lock", "sbom.json"),
    ]
    assert told["source"] in (tmp_path / "p" / "Containerfile").read_text()
    again = command("package", outcome["out"], "--out", str(tmp_path / "q")).stdout
    assert f"source:  sha256:{told['source']}" in again
    files = {path.name: path.read_bytes() for path in (tmp_path / "p").glob("*.*")}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "q").glob("*.*")}
    kinds = [json.loads(line)["kind"] for line in command("log", "--json").stdout.splitlines()]
    assert kinds.count("program.packaged") == 2


def test_what_cannot_be_packaged_is_one_line_and_leaves_nothing(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "solution.py").write_text("print(1)\n")
    for args, says in (
        (("nope",), "run 'nope' is not known"),
        ((str(tmp_path / "empty"),), "holds no program"),
        ((str(tmp_path / "full"), "--out", str(tmp_path / "full")), "is not empty"),
    ):
        failed = command("package", *args, code=2)
        assert says in failed.stderr
        assert failed.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]
