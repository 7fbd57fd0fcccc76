"""Services in Perl, Rust, C and C++: real programs, from one sentence to their own tests."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.e2e.test_kinds import unittests
from tests.sandboxes import FOLDER, needs, sandbox
from tests.service_plans import Plan, links, notes, readings
from tests.services_compiled import LINKS_IN_C, LINKS_IN_CPP, NOTES_IN_PERL, READINGS_IN_RUST


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A sentence, the program that answers it, and a slip that makes the program a wrong one."""

    plan: Plan
    program: dict[str, str]
    slip: tuple[str, str]
    seen: str
    """What the checks see of the slip."""
    tool: str
    steps: str
    """How the README says that it is built and run."""


CASES = {
    "perl": Case(
        plan=notes("Perl"),
        program=NOTES_IN_PERL,
        slip=("eval { $json->decode($body) }", "$json->decode($body)"),
        seen="malformed JSON string",
        tool="perl",
        steps=r"PORT=8000 perl solution\.pl",
    ),
    "rust": Case(
        plan=readings("Rust"),
        program=READINGS_IN_RUST,
        slip=(".get(id.checked_sub(1)?).cloned()", "[id - 1].clone().into()"),
        seen="closed connection without response; GET /readings/0",
        tool="rustc",
        steps=r"rustc --edition=2021 \S.* solution\.rs\nPORT=8000 \./solution",
    ),
    "c": Case(
        plan=links("C"),
        program=LINKS_IN_C,
        slip=("if (!found)", "if (!path)"),
        seen="GET /0 gave 302",
        tool="cc",
        steps=r"cc \S.* solution\.c links\.c -iquote \. -lm\nPORT=8000 \./solution",
    ),
    "cpp": Case(
        plan=links("C++"),
        program=LINKS_IN_CPP,
        slip=("held(guard)", "held(gard)"),
        seen="was not declared in this scope",
        tool="c++",
        steps=r"c\+\+ \S.* solution\.cpp\nPORT=8000 \./solution",
    ),
}


@pytest.fixture
def box(command: Command) -> Command:
    sandbox()
    command.env |= {"TWINSMITH_SANDBOX_FOLDER": str(FOLDER)}
    return command


def answer(language: str, program: dict[str, str]) -> str:
    """A coder's reply: a fenced block a file, each under its name."""
    return "\n\n".join(f"{name}\n```{language}\n{text}```" for name, text in program.items())


@pytest.mark.parametrize("language", CASES)
def test_a_service_is_built_tried_and_handed_over_with_all_its_files(
    box: Command, tmp_path: Path, language: str
) -> None:
    case = CASES[language]
    needs(language)
    if shutil.which(case.tool) is None:
        pytest.skip(f"{case.tool} is not on the PATH, where the tests of a result look for it")
    wrong = {name: text.replace(*case.slip) for name, text in case.program.items()}
    assert wrong != case.program
    code = answer(language, wrong), answer(language, case.program)
    box.use_script(case.plan.script(*code))
    out = tmp_path / "out"
    done = json.loads(box("build", case.plan.task, "--out", str(out), "--json").stdout)
    assert (done["solved"], done["winner"]) == (True, 2)
    (first,) = [each for each in done["verdicts"] if each["candidate"] == 1]
    assert case.seen in json.dumps(first["findings"])
    assert re.search(f"```console\n{case.steps}\n```", (out / "README.md").read_text())
    main, *others = case.program
    assert (out / main).is_file()
    assert json.loads((out / "checks.json").read_text())["files"] == others
    again = box("verify", str(out)).stdout
    assert ", 0 failed that count" in again
    assert "OK" in unittests(out)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../x.rs", "x.rs lies outside of {folder}; name a file in that folder"),
        ("/etc/hostname", "/etc/hostname lies outside of {folder}; name a file in that folder"),
        ("gone.rs", "{folder}/gone.rs cannot be read: No such file or directory"),
        ("notes.txt", "the file 'notes.txt' cannot be part of a rust program: its name has to end"),
    ],
)
def test_a_folder_whose_list_of_files_is_wrong_is_told_in_one_line(
    command: Command, tmp_path: Path, name: str, said: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "x.rs").write_text("pub fn x() {}\n")
    (folder / "solution.rs").write_text("fn main() {}\n")
    (folder / "notes.txt").write_text("a note\n")
    (folder / "checks.json").write_text(json.dumps({"setup": "", "files": [name], "checks": []}))
    done = command("verify", str(folder), code=2)
    assert said.format(folder=folder) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
