"""Perl: programs are run as they are; a function's with a driver that answers calls."""

import subprocess
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import Language, Recipe, Toolchain, written
from twinsmith.core.program import Program

DRIVER = Path(__file__).parents[1] / "drivers" / "driver.pl"
PERL_PATH = Path("/usr/bin/perl")


def _recipe(program: Program, toolchain: Toolchain) -> Recipe:
    perl = (toolchain.commands["perl"], *(("-I.",) if program.files else ()))
    files = written(program, "solution.pl")
    if program.kind in {"function", "library"}:
        return Recipe(files={**files, "driver.pl": DRIVER.read_text()}, run=(*perl, "driver.pl"))
    return Recipe(files=files, run=(*perl, "solution.pl"))


def _locate() -> Toolchain | None:
    if not PERL_PATH.exists():
        return None
    asked = subprocess.run(
        [str(PERL_PATH), "-MB", "-e", "print $^V"],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        return None  # perl-base alone, which cannot look into values
    return Toolchain(version=asked.stdout, commands={"perl": str(PERL_PATH)})


PERL = Language(
    name="perl",
    suffix=".pl",
    install="apt-get install -y perl",
    locate=_locate,
    recipe=_recipe,
)
