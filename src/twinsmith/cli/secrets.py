"""Secrets that a person hands to an app: by the names of variables, or in a file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.settings import Settings

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)
RESERVED = ("PATH", "HOME", "LISTEN", "PORT", "HOST", "DATABASE", "PYTHONPATH", "LD_PRELOAD")
LONGEST = 8192
NAMES = f"capitals, digits and _, and is none of {', '.join(RESERVED)}"


def secrets_given(settings: "Settings", names: list[str], file: Path | None) -> dict[str, str]:
    """The secrets by name; ConfigError in one line that never shows a value."""
    from twinsmith.cli.files import text_of
    from twinsmith.core.errors import ConfigError

    given: dict[str, str] = {}
    for number, line in enumerate(text_of(file, option="--secrets ").splitlines() if file else []):
        name, sign, value = line.strip().partition("=")
        if not name or name.startswith("#"):
            continue
        if not sign or not _is_name(name.strip()):
            # What stands there may be a value: it is not shown.
            raise ConfigError(
                f"--secrets {file}: line {number + 1} is no NAME=value; a name has {NAMES}"
            )
        given[name.strip()] = value.strip()
    known = dict(settings.masking.variables)
    for name in names:
        if name not in known:
            raise ConfigError(f"--secret {name} is not set in this environment; set it first")
        given[name] = known[name]
    for name, value in given.items():
        if not _is_name(name):
            raise ConfigError(f"{name[:80]!r} cannot be the name of a secret: one has {NAMES}")
        if not value or len(value) > LONGEST or "\0" in value or "\n" in value:
            raise ConfigError(f"the value of secret {name} is empty, too long or no single line")
    return given


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and text not in RESERVED and not text.startswith("GUNICORN")
