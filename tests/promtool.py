"""Prometheus' own checker, taken out of Debian's package: installed, it would start a server."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path.home() / ".cache" / "twinsmith-tests" / "promtool"
LINE = "apt-get install -y --no-install-recommends prometheus"


def promtool() -> str:
    """The command; skips the test, with the line that installs it, where it cannot be had."""
    found = shutil.which("promtool")
    if found:
        return found
    unpacked = FOLDER / "usr" / "bin" / "promtool"
    if not unpacked.exists() and not _fetched():
        pytest.skip(f"promtool is not here; to install it: {LINE}")
    return str(unpacked)


def _fetched() -> bool:
    """Whether the package could be fetched and unpacked."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return False
    FOLDER.mkdir(parents=True, exist_ok=True)
    _done("apt-get", "download", "prometheus")
    packages = sorted(FOLDER.glob("prometheus_*.deb"))
    if not packages:
        return False
    unpacked = _done("dpkg-deb", "-x", str(packages[-1]), ".")
    packages[-1].unlink()
    return unpacked


def _done(*line: str) -> bool:
    done = subprocess.run(line, cwd=FOLDER, capture_output=True, timeout=300, check=False)
    return done.returncode == 0
