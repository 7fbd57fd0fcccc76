"""A rule set for secrets that others keep: Betterleaks' rules, as MongoDB's Kingfisher packs them.

Betterleaks is what gitleaks' author keeps in its place. Everything happens in this process and
without a network. Compiling the rules takes seconds and is kept in a cache; loading them takes a
third of a second and waits until a text has a word that could be a secret at all.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.core.sensitive.places import Place

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

# Found here as well, and with more care: a program that only names the first line of a key has none
# behind it, and `user:password@` in an address is a placeholder.
_LEFT_OUT = frozenset(
    f"betterleaks.{name}"
    for name in ("private-key", "generic-credential-uri", "gcp-application-default-credentials")
)
_LONG_WORD = re.compile(r"[\w+=~\-]{14,}")
_PLAIN_WORD = re.compile(r"[^\W\d]+|[0-9a-fA-F_\-]+")


class SecretRules:
    """Where the rule set finds secrets; it is loaded for the first text that may hold one."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)

    def __call__(self, text: str) -> Iterator[Place]:
        """Places of secrets in a text."""
        words = _LONG_WORD.findall(text)
        if all(_PLAIN_WORD.fullmatch(word) for word in words):
            return
        data = text.encode(errors="replace")
        for finding in _scanner(_usable(self._folders)).scan(data):
            if finding.visible and finding.rule_id not in _LEFT_OUT:
                yield _place(data, finding)


def _place(data: bytes, finding: "Finding") -> Place:
    begin, end = (finding.location[name] for name in ("start_offset", "end_offset"))
    return len(data[:begin].decode()), len(data[:end].decode())


@cache
def _scanner(folder: Path | None) -> "Scanner":
    from kingfisher_sdk import Rules, Scanner

    return Scanner(Rules(cache=folder is not None, cache_dir=folder))


@cache
def _usable(folders: tuple[Path, ...]) -> Path | None:
    """The first folder that compiled rules can be kept in."""
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(folder, os.W_OK):
                return folder
    return None
