"""Python: the sandbox's own interpreter runs it, so there is nothing to build and no driver."""

import re
import subprocess
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import Language, Recipe, Toolchain, written
from twinsmith.core.program import MODULE, Program

INTERPRETER = "/usr/bin/python3"


def locate() -> Toolchain | None:
    """The system's Python, which every sandbox starts with; None where there is none."""
    if not Path(INTERPRETER).exists():
        return None
    said = subprocess.run([INTERPRETER, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout)
    return Toolchain(version=found.group() if found else "?", commands={"python3": INTERPRETER})


def recipe(program: Program, toolchain: Toolchain) -> Recipe:  # noqa: ARG001
    """The recipe for a Python program: its files as they are."""
    return Recipe(files=written(program, f"{MODULE}.py"), run=())


PYTHON = Language(
    name="python",
    suffix=".py",
    install="apt-get install -y python3",
    locate=locate,
    recipe=recipe,
)
