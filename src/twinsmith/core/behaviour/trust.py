"""How well confidence held: what was said before, against what turned out to be true."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Truth = Literal["outcome", "tests", "operation"]
TRUTHS: tuple[Truth, ...] = get_args(Truth)
BINS = 10
ALL = ""
"""Stands for all models together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Results whose confidence lies in one tenth: sums over them."""

    bin: int
    results: int
    confidence: float
    held: int
    squares: float
    """The squared differences of confidence and truth, 1 or 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """A line of a reliability table: how sure was said, and how often it was so."""

    least: float
    most: float
    results: int
    said: float
    """Confidence on average."""
    held: float
    """The share that was right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How well confidence held by one truth, for one model or all."""

    model: str
    truth: Truth
    results: int
    brier: float
    """The mean squared difference: 0 is perfect, 0.25 is what saying one half always gives."""
    table: tuple[Bin, ...]


def trust(model: str, truth: Truth, cells: Iterable[Cell]) -> Trust:
    """The trust that a confidence deserves; without any result a Brier score of 0."""
    filled = sorted((each for each in cells if each.results), key=lambda each: each.bin)
    results = sum(each.results for each in filled)
    return Trust(
        model=model,
        truth=truth,
        results=results,
        brier=sum(each.squares for each in filled) / results if results else 0.0,
        table=tuple(
            Bin(
                least=each.bin / BINS,
                most=(each.bin + 1) / BINS,
                results=each.results,
                said=each.confidence / each.results,
                held=each.held / each.results,
            )
            for each in filled
        ),
    )
