"""Fitting text to a screen; where there is none, nothing is cut."""

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# Wider than any line: what a program or a file gets is never folded.
ENDLESS = 100_000


def fitted(line: str) -> str:
    """A line cut to the width of the terminal; whole where there is no terminal."""
    if not sys.stdout.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return line if len(line) <= width else f"{line[: width - 1]}…"


def flat(text: str) -> str:
    """A text on one line, without characters that would steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in " ".join(text.split()))


def console() -> "Console":
    """A console on standard output; it wraps lines on a terminal only."""
    from rich.console import Console

    made = Console()
    if not made.is_terminal:
        made.width = ENDLESS
    return made
