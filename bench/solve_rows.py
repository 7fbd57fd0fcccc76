"""What came of problems, one row each, and how it is told."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One problem: the raw model's answers to the task alone and to the loop's words, the latter
    mended, and the loop's.
    """

    name: str
    language: str = "python"
    alone: bool
    alone_tokens: int
    alone_seconds: float
    greedy: bool
    mended: bool
    greedy_tokens: int
    greedy_seconds: float
    right: bool
    solved: bool
    confidence: float
    tokens: int
    seconds: float
    candidates: int

    @property
    def times(self) -> float:
        """How many greedy answers in the loop's own words it spent."""
        return self.tokens / self.greedy_tokens


def read_rows(path: Path | None) -> list[Row]:
    """The rows that a file remembers."""
    if path is None or not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()]


def told(rows: Sequence[Row]) -> str:
    """Everything, with tokens and seconds beside every figure."""
    claimed = [row for row in rows if row.solved]
    missed = sum(row.right and not row.solved for row in rows)
    languages = dict.fromkeys(row.language for row in rows)
    lines = [*_table(rows)]
    if len(languages) > 1:
        for language in languages:
            lines += ["", f"in {language}:", *_table([r for r in rows if r.language == language])]
    return "\n".join(
        [
            *lines,
            f"called solved: {len(claimed)}, of those right: {sum(r.right for r in claimed)}",
            f"right but called unsolved: {missed}",
        ]
    )


def ablations(whole: Sequence[Row], without: Mapping[str, Sequence[Row]]) -> str:
    """The loop with all its parts, and without each, on the same problems."""
    lines = [f"{'':22}right %    tokens  of greedy: mean, median  won and lost against all parts"]
    for name, rows in {
        "all parts": whole,
        **{f"without {n}": r for n, r in without.items()},
    }.items():
        known = {row.name: row for row in rows}
        pairs = [(row, known[row.name]) for row in whole if row.name in known]
        won = sum(other.right and not row.right for row, other in pairs)
        lost = sum(row.right and not other.right for row, other in pairs)
        these = [other for _, other in pairs]
        share = 100 * statistics.mean(row.right for row in these)
        tokens, times = statistics.mean(r.tokens for r in these), [r.times for r in these]
        lines.append(
            f"{name:22}{share:7.1f}{tokens:10.0f}"
            f"{statistics.mean(times):12.1f}{statistics.median(times):9.1f}{won:12} {lost:4}"
            + ("" if len(pairs) == len(whole) else f"   ({len(pairs)} problems)")
        )
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> list[str]:
    return [
        f"{len(rows)} problems               right %    tokens  seconds (means)",
        _line("greedy, task alone", rows, lambda r: (r.alone, r.alone_tokens, r.alone_seconds)),
        _line("greedy, our words", rows, lambda r: (r.greedy, r.greedy_tokens, r.greedy_seconds)),
        _line("the same, mended", rows, lambda r: (r.mended, r.greedy_tokens, r.greedy_seconds)),
        _line("the loop", rows, lambda r: (r.right, r.tokens, r.seconds)),
        _over("the task alone", [row.tokens / row.alone_tokens for row in rows]),
        _over("our words", [row.times for row in rows]),
    ]


def _over(name: str, times: Sequence[float]) -> str:
    mean, median = statistics.mean(times), statistics.median(times)
    return f"tokens of the loop over greedy, {name}: mean {mean:.1f}, median {median:.1f}"


def _line(name: str, rows: Sequence[Row], cells: Callable[[Row], tuple[bool, int, float]]) -> str:
    right, tokens, seconds = zip(*map(cells, rows), strict=True)
    share = 100 * statistics.mean(right)
    return f"{name:<22}{share:9.1f}{statistics.mean(tokens):10.0f}{statistics.mean(seconds):9.1f}"
