"""A journal in files, block by block from where it was read before; an offset counts bytes."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from twinsmith.core.blocks import Block, whole_lines
from twinsmith.core.events import SYSTEM

BLOCK_BYTES = 4 * 1024 * 1024


def file_blocks(folder: Path, known: Mapping[str, int]) -> Iterator[Block]:
    """Every whole line behind the offsets, the system's chain last: it speaks of the others."""
    for path in sorted(folder.glob("runs/*.jsonl")):
        yield from _chain_blocks(path, path.stem, known.get(path.stem, 0))
    yield from _chain_blocks(folder / f"{SYSTEM}.jsonl", SYSTEM, known.get(SYSTEM, 0))


def _chain_blocks(path: Path, chain: str, offset: int) -> Iterator[Block]:
    try:
        size = path.stat().st_size
        anew = size < offset
        if size == offset:
            return
        with path.open("rb") as file:
            at = 0 if anew else offset
            file.seek(at)
            rest = b""
            # What is appended from now on is read the next time: a run that writes has no end.
            while left := min(BLOCK_BYTES, size - at - len(rest)):
                fresh = file.read(left)
                if not fresh:
                    return
                text = rest + fresh
                whole = whole_lines(text)
                rest = text[len(whole) :]
                at += len(whole)
                if whole or anew:
                    yield Block(chain=chain, text=whole, offset=at, anew=anew)
                    anew = False
    except FileNotFoundError:
        return
