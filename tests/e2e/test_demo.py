"""`make demo` as a person runs it, with a model that answers from a script."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.delivered import yard
from tests.readme import outputs_in_readme, settled
from tests.service_scripts import notes_script

pytestmark = pytest.mark.xdist_group("heal")


def test_a_sentence_becomes_a_service_that_leaks_and_is_healed(tmp_path: Path) -> None:
    with yard(tmp_path / "home") as local:
        local.command.use_script(notes_script())
        done = subprocess.run(
            ["make", "demo"],
            cwd=ROOT,
            env=local.command.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        told = done.stdout
        assert done.returncode == 0, f"{told}{done.stderr}"
        said = [
            " 0 failed that count",
            "memory leak",
            "rollback notes to 1",
            "release 3 mended it",
            "incident closed; release 3 of notes serves on host local",
            "stop:    .venv/bin/twinsmith stop notes",
        ]
        places = [told.index(each) for each in said]
        assert places == sorted(places), told
        asked = re.search(r"(\d+) requests meanwhile, (\d+) of them failed", told)
        assert asked is not None
        assert int(asked[1]) > 100
        assert asked[2] == "0"
        shown = dict(outputs_in_readme())["make demo"]
        missing = [line for line in shown if settled(line).strip() not in settled(told)]
        # Which models answered, and how many checks there were, is another matter here.
        assert missing == [], told
