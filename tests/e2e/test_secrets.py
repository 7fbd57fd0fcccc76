"""Planted secrets: whoever types them, they are in no file of the data folder afterwards."""

import base64
import json
import urllib.parse
from pathlib import Path

from tests.conftest import DOUBLE, RIGHT, WRONG, Command, script
from tests.secrets_planted import BLOCKS, KEY, NAMED, PASSWORD, TOKENS, some

KNOWN = {
    "OPENAI_API_KEY": "sk-proj-" + some(40),
    "GITHUB_PAT": "swordfish/42+" + some(12),
    "MYSQL_PWD": "fish-" + some(4),
    "API_KEY_2": "p@ss w0rd & " + some(6),
}


def everything_in(command: Command) -> str:
    """All bytes of all files of the data folder, databases too."""
    script_file = Path(command.env["TWINSMITH_MODELS_SCRIPT"])
    # The script is the user's own file, and one of the places where secrets were planted.
    files = [path for path in command.home.rglob("*") if path.is_file() and path != script_file]
    return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


def spelled(secret: str) -> list[str]:
    """A secret as it may have been written."""
    return [
        *(secret, json.dumps(secret)[1:-1], urllib.parse.quote(secret, safe="")),
        *(
            base64.b64encode(text.encode()).decode().rstrip("=")
            for text in (secret, f"me:{secret}")
        ),
    ]


def test_known_secrets_reach_no_file(command: Command, tmp_path: Path) -> None:
    command.env |= KNOWN
    said = "\n".join(f"# {spelling}" for secret in KNOWN.values() for spelling in spelled(secret))
    code = RIGHT.replace("```python\n", f"```python\n{said}\n")
    command.use_script(script(code=(WRONG, code)))
    tests = tmp_path / "t.py"
    tests.write_text(
        "from solution import double\n"
        f"KEYS = {[spelling for secret in KNOWN.values() for spelling in spelled(secret)]!r}\n"
        "def test_double():\n    assert double(3) == 6\n"
    )
    task = f"{DOUBLE}; {'; '.join(spelling for s in KNOWN.values() for spelling in spelled(s))}"
    done = command("build", task, "--tests", str(tests), "--json")
    outcome = json.loads(done.stdout)
    assert outcome["solved"]
    assert "masked before anything was written or asked: 20 places in the task and" in done.stderr
    seen = everything_in(command) + done.stdout + done.stderr
    left = [s for secret in KNOWN.values() for s in spelled(secret) if s in seen]
    assert left == []
    (started,) = [e for e in command.events(outcome["run"]) if e["kind"] == "run.started"]
    assert "20 places in the task" in json.dumps(started["data"])
    again = command("resume", outcome["run"], "--json")
    assert json.loads(again.stdout) == outcome


def test_secrets_of_every_kind_reach_no_file(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    tests = tmp_path / "t.py"
    tests.write_text(
        f"from solution import double\nKEYS = {[*TOKENS.values(), *BLOCKS.values()]!r}\n"
        f"# the password is {PASSWORD}\n"
        "def test_double():\n    assert double(3) == 6\n"
    )
    named = [text for text, _ in NAMED.values()]
    task = "\n".join([DOUBLE, *TOKENS.values(), *BLOCKS.values(), *named])
    # Some of it reads like an example: whether the program is right is not the question here.
    command("build", task, "--tests", str(tests), code=None)
    seen = everything_in(command)
    left = [kind for kind, token in TOKENS.items() if token in seen]
    left += [k for k, block in BLOCKS.items() if block.splitlines()[-2:][0][:60] in seen]
    assert left == []
    assert PASSWORD not in seen
    assert KEY not in seen


def test_a_test_about_passwords_runs_as_it_was_written(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    tests = tmp_path / "t.py"
    tests.write_text(
        'from solution import double\npassword = "secret"\nurl = "https://user:pass@host/?token=a1"\n'
        'def test_double():\n    assert password == "sec" + "ret"\n'
        '    assert url.split("@")[0] == "https://user:" + "pass"\n    assert double(3) == 6\n'
    )
    done = command("build", DOUBLE, "--tests", str(tests), "--json")
    assert json.loads(done.stdout)["solved"]
    assert done.stderr == ""


def test_tests_that_masking_breaks_are_refused(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    command.env["A_TOKEN"] = "double_trouble"
    tests = tmp_path / "t.py"
    tests.write_text("from solution import double\ndouble_trouble = 4\nassert double(2) == 4\n")
    refused = command("build", DOUBLE, "--tests", str(tests), code=2).stderr
    assert "masked, it cannot run; take them out" in refused
    assert "double_trouble" not in refused
