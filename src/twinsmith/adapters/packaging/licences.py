"""The licences of the packages that programs may use, read once and kept beside this module.

So a scan needs neither a network nor the packages themselves. After a lock has changed,
`python -m twinsmith.adapters.packaging.licences LOCK` fetches its packages and reads them again.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.licences import licence_told
from twinsmith.core.operating.locked import Pin, pins_in

FILE = Path(__file__).with_name("licences.json")
PYTHON = "3.13"
"""A version that every package of the lock has a wheel for."""
_SIGNS = re.compile(r"[-_.]+")


def known_licences() -> Mapping[str, str]:
    """The licence of every package by `name==version`, as SPDX where it can be."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {str(name): str(licence) for name, licence in found.items()}


def licences_in(*places: Path) -> dict[str, str]:
    """The licences that packages tell, by `name==version`: in folders, or in wheels."""
    return dict(_told(each) for each in distributions(path=[str(place) for place in places]))


def as_file(licences: Mapping[str, str]) -> str:
    """The text of the file that licences are kept in."""
    return json.dumps(dict(sorted(licences.items())), indent=1, ensure_ascii=False) + "\n"


def download_args(pin: Pin, folder: Path) -> list[str]:
    """The words behind `python` that fetch the wheel of one package, and nothing that it needs."""
    return [
        *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--only-binary", ":all:", "--python-version", PYTHON, "--dest", str(folder)),
        f"{pin.name}=={pin.version}",
    ]


def fetched(pins: Iterable[Pin]) -> dict[str, str]:
    """The licences of packages, whose wheels are fetched for it."""
    with tempfile.TemporaryDirectory(prefix="twinsmith-licences-") as folder:
        for pin in pins:
            words = [sys.executable, *download_args(pin, Path(folder))]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                reason = done.stderr.strip().rpartition("\n")[2][:300]
                raise ConfigError(f"{pin.name}=={pin.version} cannot be fetched: {reason}")
        return licences_in(*sorted(Path(folder).glob("*.whl")))


def _told(package: Distribution) -> tuple[str, str]:
    told = package.metadata
    name = _SIGNS.sub("-", told["Name"]).lower()
    expression, plain = (
        "".join((told.get_all(field) or [])[:1]) for field in ("License-Expression", "License")
    )
    licence = licence_told(expression, plain, told.get_all("Classifier") or [])
    return f"{name}=={told['Version']}", licence


if __name__ == "__main__":
    lock = Path(sys.argv[1]).read_text(encoding="utf-8")
    FILE.write_text(as_file(fetched(pins_in(lock))), encoding="utf-8")
