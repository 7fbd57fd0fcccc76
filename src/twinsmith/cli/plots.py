"""Small plots for a terminal: a row of figures as one line of blocks."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
GAP = " "


def sparkline(values: Sequence[float | None], width: int = 40) -> str:
    """The figures as blocks from their least to their greatest, at most `width` of them.

    Several figures that share a place are shown as their greatest; a missing one is a gap.
    """
    shown = [_greatest(values[at]) for at in _places(len(values), width)]
    known = [each for each in shown if each is not None]
    if not known:
        return ""
    least, most = min(known), max(known)
    span = most - least
    return "".join(
        GAP if each is None else BLOCKS[round((each - least) / span * 7) if span else 0]
        for each in shown
    )


def _places(count: int, width: int) -> list[slice]:
    size = max(1, -(-count // width))
    return [slice(at, at + size) for at in range(0, count, size)]


def _greatest(values: Sequence[float | None]) -> float | None:
    return max((each for each in values if each is not None), default=None)
