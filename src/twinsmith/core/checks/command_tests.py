"""The runs that a command was checked with, as a test file that needs nothing but Python."""

from collections.abc import Sequence
from string import Template

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.probe import Command
from twinsmith.core.program import FILE_NAMES, MODULE, Program

_FILE = '''"""What $file was checked with: `python -m unittest $name` beside it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = $build
RUN = $run


def setUpModule():
    if BUILD:
        subprocess.run(BUILD, cwd=HERE, check=True)


def lines(text):
    """What was printed, without blanks at the ends of lines."""
    return "\\n".join(line.rstrip() for line in text.splitlines()).rstrip("\\n")


def run(args, stdin, files):
    """One run in a folder that holds these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text)
        command = [*RUN, *args]
        return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True)


class CommandTest(unittest.TestCase):
    def prints(self, args, stdin, stdout, **files):
        ran = run(args, stdin, files)
        self.assertEqual((ran.returncode, lines(ran.stdout)), (0, stdout))

    def refuses(self, args, stdin, **files):
        self.assertNotEqual(run(args, stdin, files).returncode, 0)
$tests

if __name__ == "__main__":
    unittest.main()
'''
_BUILDS: dict[str, tuple[str, ...]] = {
    "rust": ("rustc", "--edition=2021", "-O", "-o", MODULE),
    "go": ("go", "build", "-o", MODULE),
    "c": ("cc", "-O2", "-std=gnu17", "-o", MODULE),
    "cpp": ("c++", "-O2", "-std=gnu++20", "-pthread", "-o", MODULE),
}
_RUNS: dict[str, tuple[str, ...]] = {
    "python": ("python3", FILE_NAMES["python"]),
    "perl": ("perl", FILE_NAMES["perl"]),
}


def build_line(program: Program) -> tuple[str, ...]:
    """The command that builds a command-line program; empty where nothing has to be built."""
    build = _BUILDS.get(program.language)
    if build is None:
        return ()
    mains = [FILE_NAMES[program.language]]
    if program.language != "rust":
        # Rust finds the files of its modules by itself.
        mains += [each.name for each in program.files if not each.name.endswith((".h", ".hpp"))]
    folders = dict.fromkeys(each.name.rpartition("/")[0] or "." for each in program.files)
    if program.language in ("c", "cpp"):
        mains += [word for folder in folders for word in ("-iquote", folder)]
    # What is linked has to stand behind what needs it.
    return (*build, *mains, *(["-lm"] if program.language == "c" else []))


def run_line(program: Program) -> tuple[str, ...]:
    """The command that runs a command-line program, once it is built."""
    return _RUNS.get(program.language, (f"./{MODULE}",))


def as_command_tests(program: Program, seen: Sequence[tuple[Command, str]]) -> str:
    """A test module for a command-line program: its runs, and what each of them gave."""
    *before, last = run_line(program)
    run = [*map(repr, before), f"str(HERE / {last!r})"]
    if program.language == "python":
        run[0] = "sys.executable"
    return Template(_FILE).substitute(
        file=FILE_NAMES[program.language],
        name=f"test_{MODULE}",
        build=repr(list(build_line(program))),
        run=f"[{', '.join(run)}]",
        tests="".join(_test(n, *each) for n, each in enumerate(seen, start=1)),
    )


def _test(number: int, command: Command, gave: str) -> str:
    args = f"{list(command.args)!r}, {command.stdin!r}"
    files = f", **{dict(command.files)!r}" if command.files else ""
    call = f"self.prints({args}, {gave}{files})"
    if gave == REFUSES:
        call = f"self.refuses({args}{files})"
    return f"\n    def test_{number}(self):\n        {call}\n"
