"""Facts in, figures by group out: every number is one aggregate of DuckDB over the facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinsmith.analysis.facts import Facts, Value
from twinsmith.core.behaviour.figures import Calls, Checks, Dimension, Part, Row, Spread, Work
from twinsmith.core.behaviour.trust import ALL, BINS, TRUTHS, Cell, Trust, trust

FEWEST_RESULTS = 5
"""A model with fewer results has no reliability table of its own."""
_CALLS = """count(*), count(*) FILTER (cached),
  coalesce(sum(tokens_in) FILTER (NOT cached), 0), coalesce(sum(tokens_out) FILTER (NOT cached), 0),
  coalesce(fsum(usd) FILTER (NOT cached), 0),
  count(*) FILTER (NOT cached AND usd IS NULL),
  coalesce(fsum(seconds) FILTER (NOT cached), 0),
  avg(seconds) FILTER (NOT cached), quantile_cont(seconds, [0.5, 0.95]) FILTER (NOT cached),
  avg(first) FILTER (NOT cached AND first > 0),
  quantile_cont(first, [0.5, 0.95]) FILTER (NOT cached AND first > 0),
  count(*) FILTER (read), count(*) FILTER (unusable), count(*) FILTER (repaired),
  count(*) FILTER (cut)"""
_WORK = """count(*), count(*) FILTER (broken), count(*) FILTER (won), count(accepted),
  count(*) FILTER (accepted), count("right"), count(*) FILTER ("right"), count(held),
  count(*) FILTER (held)"""
_PART = """count(DISTINCT c.chain) FILTER (r.over), count(DISTINCT c.chain) FILTER (r.solved),
  count(DISTINCT c.chain) FILTER (x.over), count(DISTINCT c.chain) FILTER (x.over AND x.changed)"""
_PARTS = ("runs", "solved", "told", "changed")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """The calls that are looked at: from a day on, and only those with certain values."""

    since: str = ""
    where: Mapping[Dimension, str] = field(default_factory=dict)

    def words(self, place: str = "") -> str:
        """The condition in SQL."""
        names = [f'{place}"{name}" = ?' for name in self.where]
        return " AND ".join([f'{place}"day" >= ?', *names])

    @property
    def values(self) -> list[Value]:
        """The values of the condition, in their order."""
        return [self.since, *self.where.values()]


def rows(facts: Facts, by: Sequence[Dimension], only: Only) -> tuple[Row, ...]:
    """The figures of each group, the busiest first."""
    found: dict[Key, Row] = defaultdict(lambda: Row(key=()))
    for key, calls in _calls(facts, by, only):
        found[key] = replace(found[key], key=key, calls=calls)
    for key, (count,) in _grouped(facts, "unanswered_of", "count(*)", by, only):
        calls = replace(found[key].calls, unanswered=whole_in(count))
        found[key] = replace(found[key], key=key, calls=calls)
    tried = "count(*), count(*) FILTER (refused)"
    for key, (tries, refused) in _grouped(facts, "tries_of", tried, by, only):
        calls = replace(found[key].calls, tries=whole_in(tries), refused=whole_in(refused))
        found[key] = replace(found[key], key=key, calls=calls)
    once = ("chain", "number")
    flags = 'broken, won, accepted, "right", held'
    for key, told in _grouped(facts, distinct("work_of", by, once, flags, only), _WORK, by, only):
        found[key] = replace(found[key], key=key, work=_work(told))
    agreed = "count(*), count(*) FILTER (agreed)"
    checks = distinct("checks_of", by, once, "agreed", only)
    for key, (judged, same) in _grouped(facts, checks, agreed, by, only):
        found[key] = replace(
            found[key], key=key, checks=Checks(judged=whole_in(judged), agreed=whole_in(same))
        )
    for key, told in _part(facts, by, only):
        found[key] = replace(found[key], key=key, part=Part(**dict(zip(_PARTS, told, strict=True))))
    order = "day" in by
    return tuple(
        sorted(
            found.values(),
            key=lambda row: (row.key if order else (), -row.calls.answered, row.key),
        )
    )


def total(facts: Facts, only: Only) -> Row:
    """The figures of all calls together."""
    found = rows(facts, (), only)
    return found[0] if found else Row(key=())


def is_there(facts: Facts, only: Only) -> bool:
    """Whether there is any call of that kind."""
    words = f"SELECT 1 FROM calls_of WHERE {only.words()} LIMIT 1"
    return bool(facts.ask(words, only.values))


def values(facts: Facts, first: Dimension, second: Dimension) -> list[tuple[str, list[str]]]:
    """The values of one thing that calls have, and of another beside each, the busiest first."""
    words = f"""SELECT "{first}", list(DISTINCT "{second}" ORDER BY "{second}") FROM calls_of
      WHERE "{first}" <> '' GROUP BY "{first}" ORDER BY count(*) DESC, "{first}" """
    found = []
    for one, others in facts.ask(words):
        assert isinstance(others, list)
        found.append((str(one), list(map(str, others))))
    return found


def trusts(facts: Facts, only: Only) -> tuple[Trust, ...]:
    """How well confidence held, by each truth: of all models, then of each with enough results."""
    told = " UNION ALL ".join(
        f'SELECT chain, number, "day", confidence, \'{truth}\' AS truth, "{truth}" AS held '
        "FROM said"
        for truth in TRUTHS
    )
    words = f"""WITH told AS ({told}), authors AS (
        SELECT DISTINCT chain, number, model FROM work_of WHERE model <> '' UNION ALL
        SELECT chain, number, '{ALL}' FROM said)
      SELECT model, truth, least(CAST(floor(confidence * {BINS}) AS INTEGER), {BINS - 1}), count(*),
        fsum(confidence), count(*) FILTER (held), fsum(power(confidence - CAST(held AS INTEGER), 2))
      FROM told JOIN authors USING (chain, number)
      WHERE held IS NOT NULL AND "day" >= ? GROUP BY 1, 2, 3"""
    cells: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for model, truth, place, results, confidence, held, squares in facts.ask(words, [only.since]):
        cells[str(model), str(truth)].append(
            Cell(
                bin=whole_in(place),
                results=whole_in(results),
                confidence=number_in(confidence),
                held=whole_in(held),
                squares=number_in(squares),
            )
        )
    found = [
        trust(model, truth, cells[model, truth])
        for model in sorted({model for model, _ in cells})
        for truth in TRUTHS
        if (model, truth) in cells
    ]
    return tuple(each for each in found if each.model == ALL or each.results >= FEWEST_RESULTS)


def _calls(facts: Facts, by: Sequence[Dimension], only: Only) -> Iterable[tuple[Key, Calls]]:
    for key, told in _grouped(facts, "calls_of", _CALLS, by, only):
        (
            answered, cached, tokens_in, tokens_out, usd, unpriced, seconds,
            mean, parts, first, first_parts, read, unusable, repaired, cut,
        ) = told  # fmt: skip
        yield (
            key,
            Calls(
                answered=whole_in(answered),
                cached=whole_in(cached),
                tokens_in=whole_in(tokens_in),
                tokens_out=whole_in(tokens_out),
                usd=number_in(usd),
                unpriced=whole_in(unpriced),
                seconds=number_in(seconds),
                whole=_spread(mean, parts),
                first=_spread(first, first_parts),
                read=whole_in(read),
                unusable=whole_in(unusable),
                repaired=whole_in(repaired),
                cut=whole_in(cut),
            ),
        )


def _part(
    facts: Facts, by: Sequence[Dimension], only: Only
) -> Iterable[tuple[Key, tuple[int, ...]]]:
    """The runs that groups of calls took part in."""
    words = (
        f"SELECT {_PART} {_names(by, 'c.')} FROM calls_of c JOIN runs r USING (chain) "
        f"LEFT JOIN exchanged x USING (chain) WHERE {only.words('c.')} "
        f"{_group(by, 'c.')}"
    )
    for told in facts.ask(words, only.values):
        yield tuple(map(str, told[len(_PARTS) :])), tuple(map(whole_in, told[: len(_PARTS)]))


def _grouped(
    facts: Facts, place: str, told: str, by: Sequence[Dimension], only: Only
) -> Iterable[tuple[Key, tuple[object, ...]]]:
    """Aggregates by group: the group's key, and what was asked for."""
    words = f"SELECT {told} {_names(by)} FROM {place} WHERE {only.words()} {_group(by)}"
    for row in facts.ask(words, only.values):
        split = len(row) - len(by)
        # Without groups there is one row, also where there is nothing at all.
        if by or row[0]:
            yield tuple(map(str, row[split:])), row[:split]


def distinct(
    place: str, by: Sequence[str], once: Sequence[str], told: str, only: Only | None = None
) -> str:
    """A view in which each thing counts once for each group, however many answers it is made of."""
    names = dict.fromkeys((*once, *by, "day", *(only.where if only else ())))
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"(SELECT DISTINCT {quoted}, {told} FROM {place})"


def _names(by: Sequence[Dimension], place: str = "") -> str:
    return "".join(f', {place}"{name}"' for name in by)


def _group(by: Sequence[Dimension], place: str = "") -> str:
    return f"GROUP BY {_names(by, place)[2:]}" if by else ""


def _work(told: Sequence[object]) -> Work:
    written, broken, won, ended, accepted, tested, right, released, held = map(whole_in, told)
    return Work(
        written=written,
        broken=broken,
        won=won,
        ended=ended,
        accepted=accepted,
        tested=tested,
        right=right,
        released=released,
        held=held,
    )


def _spread(mean: object, parts: object) -> Spread:
    match parts:
        case [float() as p50, float() as p95]:
            return Spread(mean=number_in(mean), p50=p50, p95=p95)
    return Spread()


def whole_in(value: object) -> int:
    """A whole number of an answer."""
    assert isinstance(value, int)
    return value


def number_in(value: object) -> float:
    """A number of an answer."""
    assert isinstance(value, int | float)
    return float(value)
