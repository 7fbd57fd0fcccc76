"""Advisories by pip-audit, the Python project's own tool, in a process of its own.

It ends well where it could not ask about a package, so only what it writes counts: a package that
it skipped, or does not mention, was not asked about.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path

from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import Advised, Advisory, spelled

INSTALL = "pip install pip-audit"
SECONDS = 90.0
ASK_SECONDS = 10
_LONGEST_REASON = 200
_LONGEST_SUMMARY = 300


class PipAudit:
    """Asks PyPI about packages, or a database of the Open Source Vulnerabilities format."""

    def __init__(self, *, osv_url: str = "", seconds: float = SECONDS) -> None:
        self._osv_url = osv_url
        self._seconds = seconds

    async def known(self, pins: Collection[Pin]) -> Advised:
        """What is known about these versions; a service that cannot be asked is a result."""
        if find_spec("pip_audit") is None:
            return unasked(pins, f"pip-audit is not installed; run: {INSTALL}")
        heard = [await self._heard(each) for each in rounds(pins)]
        return Advised(
            known={name: found for each in heard for name, found in each.known.items()},
            unasked={name: reason for each in heard for name, reason in each.unasked.items()},
        )

    async def _heard(self, pins: Collection[Pin]) -> Advised:
        with tempfile.TemporaryDirectory(prefix="twinsmith-audit-") as folder:
            wanted = Path(folder) / "requirements.txt"
            wanted.write_text("".join(f"{spelled(pin)}\n" for pin in pins))
            words = audit_args(wanted, Path(folder), osv_url=self._osv_url)
            return await self._asked(pins, words)

    async def _asked(self, pins: Collection[Pin], words: list[str]) -> Advised:
        audit = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(audit.communicate(), self._seconds)
        except TimeoutError:
            return unasked(pins, f"no answer in {self._seconds:g} s")
        finally:
            if audit.returncode is None:
                audit.kill()
                await audit.wait()
        return read_audit(out.decode(errors="replace"), err.decode(errors="replace"), pins)


def rounds(pins: Collection[Pin]) -> list[list[Pin]]:
    """The pins in lists that name each package once, as pip-audit wants them.

    A lock for several versions of Python may have a package twice.
    """
    lists: list[list[Pin]] = []
    for pin in pins:
        free = (each for each in lists if all(pin.name != other.name for other in each))
        fitting = next(free, None)
        if fitting is None:
            lists.append([pin])
        else:
            fitting.append(pin)
    return lists


def audit_args(wanted: Path, cache: Path, *, osv_url: str = "") -> list[str]:
    """The words behind `python` that ask about a file of pins; nothing is resolved or installed."""
    service = ("--vulnerability-service", "osv", "--osv-url", osv_url) if osv_url else ()
    return [
        # A module of that name in the folder that somebody works in is not what is meant.
        *("-P", "-m", "pip_audit", "--requirement", str(wanted), "--no-deps", "--disable-pip"),
        *("--format", "json", "--desc", "on", "--aliases", "on", "--progress-spinner", "off"),
        *("--timeout", str(ASK_SECONDS), "--cache-dir", str(cache), *service),
    ]


def read_audit(out: str, err: str, pins: Collection[Pin]) -> Advised:
    """What pip-audit wrote, as advisories; what it did not ask about is told with the reason."""
    try:
        rows = {str(row["name"]): row for row in json.loads(out)["dependencies"]}
        told = {pin: rows.get(pin.name, {}) for pin in pins}
        skipped = {
            spelled(pin): str(row.get("skip_reason", "pip-audit did not mention it"))
            for pin, row in told.items()
            if "vulns" not in row
        }
        known = {spelled(pin): _advisories(row) for pin, row in told.items() if row.get("vulns")}
    except (ValueError, KeyError, TypeError, AttributeError):
        said = err.strip().rpartition("\n")[2] or "it said nothing"
        return unasked(pins, f"pip-audit failed: {said}")
    reasons = {name: reason[:_LONGEST_REASON] for name, reason in skipped.items()}
    return Advised(known=known, unasked=reasons)


def unasked(pins: Collection[Pin], reason: str) -> Advised:
    """Nobody could be asked about any of these packages, for one reason."""
    return Advised(unasked={spelled(pin): reason[:_LONGEST_REASON] for pin in pins})


def _advisories(row: Mapping[str, object]) -> tuple[Advisory, ...]:
    several = row["vulns"]
    assert isinstance(several, list)
    return tuple(
        Advisory(
            name=str(each["id"]),
            aliases=tuple(map(str, each.get("aliases") or ())),
            fixed_in=tuple(map(str, each.get("fix_versions") or ())),
            summary=" ".join(str(each.get("description") or "").split())[:_LONGEST_SUMMARY],
        )
        for each in several
    )
