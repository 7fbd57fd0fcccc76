"""Chains: where the lines of the journal lie, one chain a run and one for the system itself."""

from collections.abc import Callable
from typing import Protocol

from twinsmith.core.anchor import Anchor
from twinsmith.core.events import Broken, Entry

NextLine = Callable[[Anchor], str]
"""Makes the next line of a chain out of where the chain ends."""


class Chains(Protocol):
    """Keeps lines in chains; any number of processes may append at once."""

    def append(self, chain: str, key: str, next_line: NextLine) -> None:
        """Add one line to a chain for good, unless a line of the chain has this key already.

        Nobody else appends to the chain between the moment at which its end is read and the moment
        at which the new line is kept: a chain never forks.
        """
        ...

    def lines(self, chain: str) -> list[str]:
        """All lines of a chain as they lie there, altered ones too; none where there is no such."""
        ...

    def since(self, chain: str, offset: int) -> tuple[list[Entry], int]:
        """The readable entries of a chain behind an offset, and the offset behind them."""
        ...

    def end(self, chain: str) -> Anchor:
        """The length and the last hash of a chain."""
        ...

    def names(self) -> list[str]:
        """The chains that have lines, in alphabetical order."""
        ...

    def place(self, chain: str) -> str:
        """Where a chain lies, as a person is told."""
        ...

    def misfiled(self, chain: str) -> Broken | None:
        """The first line of a chain that is kept under another number or key than it holds."""
        ...
