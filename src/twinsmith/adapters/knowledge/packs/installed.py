"""Which version of a package is installed, and under which licence, as Debian and wheels say."""

import re
from email.parser import HeaderParser
from functools import cache
from pathlib import Path

from twinsmith.adapters.knowledge.packs.article import Origin

UNKNOWN = "unknown"
_FIELD = re.compile(r"^(Package|Version|Status): (.*)$", re.MULTILINE)
_ALL_FILES = re.compile(r"^Files: \*$.*?^License: ?([^\n]*)", re.MULTILINE | re.DOTALL)
_LONGEST_LICENCE = 60


def debian(root: Path, package: str, licence: str) -> Origin | None:
    """A Debian package that is installed; the licence given counts where its own file is prose."""
    version = _versions(root).get(package)
    if version is None:
        return None
    return Origin(package=package, version=version, licence=_licence(root, package) or licence)


def debian_files(root: Path, package: str) -> list[Path]:
    """The files of a Debian package that are really there: images may have left out some."""
    for listed in sorted((root / "var/lib/dpkg/info").glob(f"{package}*.list")):
        if listed.stem.partition(":")[0] == package:
            paths = (root / line.lstrip("/") for line in listed.read_text().splitlines())
            return [path for path in paths if path.is_file()]
    return []


def wheel(folder: Path, distribution: str) -> Origin | None:
    """A library in a folder of installed wheels."""
    name = distribution.replace("-", "_").lower()
    for metadata in folder.glob("*.dist-info/METADATA"):
        if metadata.parent.name.lower().partition("-")[0] != name:
            continue
        told = HeaderParser().parsestr(metadata.read_text("utf-8", "replace"))
        classified = [
            each.rpartition(" :: ")[2]
            for each in told.get_all("Classifier", [])
            if each.startswith("License :: ")
        ]
        said = told["License-Expression"] or told["License"] or " OR ".join(classified)
        licence = (said or UNKNOWN).strip().partition("\n")[0][:_LONGEST_LICENCE]
        return Origin(package=distribution, version=told["Version"] or UNKNOWN, licence=licence)
    return None


@cache
def _versions(root: Path) -> dict[str, str]:
    """The version of every Debian package that is installed."""
    try:
        status = (root / "var/lib/dpkg/status").read_text("utf-8", "replace")
    except OSError:
        return {}
    rows = (dict(_FIELD.findall(stanza)) for stanza in status.split("\n\n"))
    return {
        row["Package"]: row["Version"]
        for row in rows
        if row.get("Status", "").endswith(" installed") and {"Package", "Version"} <= row.keys()
    }


def _licence(root: Path, package: str) -> str:
    try:
        text = (root / f"usr/share/doc/{package}/copyright").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = _ALL_FILES.search(text)
    return found[1].strip()[:_LONGEST_LICENCE] if found else ""
