"""What came of sentences, one row each, and how it is told."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.programs_routes import Json

Key = tuple[str, str, str, str, int]
COLUMNS = (
    *("tasks", "works", "withstands", "both", "untried", "solved", "wrong"),
    *("tokens", "seconds", "by model"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sentence, given to the product or to the raw model, and what truth says of the result."""

    name: str
    group: str
    language: str
    kind: str
    system: str
    """`twinsmith`, or `raw` for one greedy answer of the model."""
    variant: str = ""
    """Settings that differ from the defaults."""
    model: str = ""
    seed: int = 0
    works: bool
    passed: int
    total: int
    problem: str = ""
    weaknesses: tuple[str, ...] = ()
    tried: int = 0
    untried: int = 0
    solved: bool = False
    confidence: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    share: float | None = None
    """The part of the program that a model wrote; None where nobody tells."""
    reason: str = ""

    @property
    def key(self) -> Key:
        """What is not run again when it is there."""
        return self.name, self.system, self.variant, self.model, self.seed

    @property
    def withstands(self) -> bool | None:
        """Whether no attack had success; None where none was or could be tried."""
        return not self.weaknesses if self.tried else None

    @property
    def wrong(self) -> bool:
        """Called solved, and it is not."""
        return self.solved and not self.works


def read_rows(path: Path | None) -> list[Row]:
    """The rows that a file remembers."""
    if path is None or not path.exists():
        return []
    held = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [Row(**{**each, "weaknesses": tuple(each["weaknesses"])}) for each in held]


def as_line(row: Row) -> str:
    """A row as a file remembers it."""
    return json.dumps(asdict(row), ensure_ascii=False)


def model_share(report: Mapping[str, Json]) -> float | None:
    """The part of a program that a model wrote, by its report."""
    origins = report.get("origins")
    if isinstance(origins, Mapping):
        counts = {name: value for name, value in origins.items() if isinstance(value, int | float)}
        whole = sum(counts.values())
        return round(counts.get("model", 0) / whole, 3) if whole else None
    given = [report.get(name) for name in ("frame", "copied")]
    parts = [part for part in given if isinstance(part, int | float)]
    return round(max(0.0, 1 - sum(parts)), 3) if parts else None


def told(rows: Sequence[Row]) -> str:
    """Every row, then sums by group and kind for each system and variant, with totals."""
    lines = [_row(row) for row in rows]
    systems = dict.fromkeys((row.system, row.variant, row.model) for row in rows)
    for system in systems:
        these = [row for row in rows if (row.system, row.variant, row.model) == system]
        name = " ".join(filter(None, system))
        lines += ["", f"{name:28}" + "".join(f"{column:>11}" for column in COLUMNS)]
        lines += [_sum(title, part) for title, part in _parts(these) if part]
    return "\n".join(lines)


def _parts(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for group in dict.fromkeys(row.group for row in rows):
        inside = [row for row in rows if row.group == group]
        for kind in dict.fromkeys(row.kind for row in inside):
            yield f"{group}: {kind}", [row for row in inside if row.kind == kind]
        yield f"{group}: all", inside
    if len({row.group for row in rows}) > 1:
        yield "all", list(rows)


def _row(row: Row) -> str:
    words = "works" if row.works else f"{row.passed}/{row.total}"
    verdict = "WRONG" if row.wrong else "solved" if row.solved else "-"
    attacked = ""
    if row.tried or row.untried:
        shown = ",".join(row.weaknesses) or ("withstands" if row.tried else "not tried")
        attacked = f"  {shown} ({row.untried} of {row.tried + row.untried} exploits not tried)"
    share = "" if row.share is None else f"  {100 * row.share:.0f} % by the model"
    problem = "" if row.works else f"  {' '.join(row.problem.split())[:110]}"
    return (
        f"{row.system:10} {row.name:22} {row.language:7} {row.kind:8} {words:7} {verdict:7}"
        f"{row.confidence:5.2f} {row.tokens:7} tokens {row.seconds:6.0f} s"
        f"{share}{attacked}{problem}"
    )


def _sum(name: str, rows: Sequence[Row]) -> str:
    def count(test: Callable[[Row], bool | None]) -> str:
        return str(sum(bool(test(row)) for row in rows))

    attacked = [row for row in rows if row.tried or row.untried]
    shares = [row.share for row in rows if row.share is not None]
    withstood = count(lambda r: r.withstands) if attacked else "-"
    both = count(lambda r: r.works and r.withstands) if attacked else "-"
    cells = (
        str(len(rows)),
        count(lambda r: r.works),
        withstood,
        both,
        str(sum(row.untried for row in rows)) if attacked else "-",
        count(lambda r: r.solved),
        count(lambda r: r.wrong),
        f"{sum(row.tokens for row in rows) / len(rows):.0f}",
        f"{sum(row.seconds for row in rows) / len(rows):.0f}",
        f"{100 * sum(shares) / len(shares):.0f} %" if shares else "-",
    )
    return f"{name:28}" + "".join(f"{cell:>11}" for cell in cells)
