"""Blocks of a journal's lines as they lie there, for whoever adds up all of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Whole lines of one chain, and where to read on behind them."""

    chain: str
    text: bytes
    offset: int
    anew: bool = False
    """Whether the chain is shorter than it was: everything read of it before is void."""


Blocks = Callable[[Mapping[str, int]], Iterator[Block]]
"""Everything behind the offsets at which chains were left; all of a chain that is not named."""


def whole_lines(text: bytes) -> bytes:
    """The part of a text up to its last line end: a line without one is still being written."""
    return text[: text.rfind(b"\n") + 1]
