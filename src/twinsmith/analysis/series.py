"""Facts in, courses over days out; and what calls had in common before and after a day."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.analysis.facts import Facts, Value
from twinsmith.analysis.figures import distinct, number_in, whole_in
from twinsmith.core.behaviour.cause import SUSPECTS, Cause, Stratum, Suspect
from twinsmith.core.behaviour.drift import Course, Day, Figure, enough
from twinsmith.core.behaviour.figures import Dimension, View

FOLLOWED_BY: Mapping[View, tuple[Dimension, ...]] = {
    "models": ("model", "role"),
    "roles": ("role",),
    "prompts": ("template",),
    "runs": (),
}
"""What courses are told apart by in each view; versions are not, for they are what changes."""
MOST_RUNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A figure, and where it is taken from."""

    figure: Figure
    place: str
    value: str
    where: str


def _factor(name: str, unit: str, value: str) -> Followed:
    return Followed(
        figure=Figure(name=name, unit=unit),
        place="calls_of",
        value=value,
        where=f"NOT cached AND {value} > 0",
    )


def _share(name: str, place: str, value: str, where: str) -> Followed:
    return Followed(
        figure=Figure(name=name, unit="", share=True), place=place, value=value, where=where
    )


FOLLOWED = (
    _factor("seconds per call", "s", "seconds"),
    _factor("seconds to the first token", "s", "first"),
    _factor("tokens of a question", "tokens", "tokens_in"),
    _factor("tokens of an answer", "tokens", "tokens_out"),
    _factor("cost of a call", "USD", "usd"),
    _share("answers that cannot be used", "calls_of", "unusable", "read"),
    _share("answers that were mended", "calls_of", "repaired", "read AND NOT unusable"),
    _share("answers that were cut", "calls_of", "cut", "NOT cached"),
    _share("tries in vain", "attempts_of", "failed", "true"),
    _share("candidates right by outcome", "work_of", "accepted", "accepted IS NOT NULL"),
    _share("candidates right by tests", "work_of", '"right"', '"right" IS NOT NULL'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The days around a change that are held against each other, all included."""

    first: str
    before: str
    after: str
    last: str


def courses(facts: Facts, view: View, since: str) -> list[tuple[Followed, Course]]:
    """Every course of a view that is long enough to tell anything."""
    by = FOLLOWED_BY[view]
    names = "".join(f', "{name}"' for name in by)
    found: list[tuple[Followed, Course]] = []
    for each in FOLLOWED:
        value, plain = _values(each)
        days: dict[tuple[str, ...], list[Day]] = defaultdict(list)
        words = f"""SELECT "day", count(*), fsum({value}), fsum({value} * {value}), fsum({plain})
          {names} FROM {_place(each, by)} WHERE {each.where} AND "day" >= ?
          GROUP BY "day"{names} ORDER BY "day" """
        for day, calls, total, squares, plainly, *key in facts.ask(words, [since]):
            days[tuple(map(str, key))].append(
                Day(
                    day=str(day),
                    calls=whole_in(calls),
                    total=number_in(total),
                    squares=number_in(squares),
                    plain=number_in(plainly),
                )
            )
        for key_, told in days.items():
            course = Course(figure=each.figure, key=key_, days=tuple(told))
            # What has no name is what nobody answered, or nobody was asked for.
            if enough(course) and all(key_):
                found.append((each, course))
    return found


def strata(
    facts: Facts, view: View, followed: Followed, course: Course, window: Window
) -> dict[Suspect, tuple[Stratum, ...]]:
    """The calls before and after a change, by all that may explain it."""
    by = FOLLOWED_BY[view]
    value, _ = _values(followed)
    found: dict[Suspect, tuple[Stratum, ...]] = {}
    for suspect in SUSPECTS:
        if suspect in by:
            continue
        name = _named(suspect)
        words = f"""SELECT {name}, count(*) FILTER ("day" <= ?), count(*) FILTER ("day" >= ?),
          coalesce(fsum({value}) FILTER ("day" <= ?), 0),
          coalesce(fsum({value}) FILTER ("day" >= ?), 0)
          FROM {_place(followed, (*by, *_needs(suspect)))}
          WHERE {followed.where} AND "day" BETWEEN ? AND ? {_with(by)} GROUP BY 1"""
        given = [*2 * (window.before, window.after), window.first, window.last, *course.key]
        found[suspect] = tuple(
            Stratum(
                value=str(told),
                before=whole_in(before),
                after=whole_in(after),
                sum_before=number_in(sum_before),
                sum_after=number_in(sum_after),
            )
            for told, before, after, sum_before, sum_after in facts.ask(words, given)
        )
    return found


def turned(
    facts: Facts, view: View, followed: Followed, course: Course, cause: tuple[Cause, Window]
) -> str:
    """The first day on which what came had half of the calls that it won; empty where on none."""
    by, (told, window) = FOLLOWED_BY[view], cause
    name = _named(told.what)
    words = f"""SELECT "day", avg(CAST({name} = ? AS INTEGER))
      FROM {_place(followed, (*by, *_needs(told.what)))}
      WHERE {followed.where} AND "day" BETWEEN ? AND ? {_with(by)}
      GROUP BY "day" ORDER BY "day" """
    days = facts.ask(words, [told.value, window.before, window.last, *course.key])
    return next((str(day) for day, share in days if number_in(share) >= told.half), "")


def showing(
    facts: Facts, view: View, followed: Followed, course: Course, levels: tuple[float, float],
    days: tuple[str, str],
) -> tuple[str, ...]:  # fmt: skip
    """The first runs on a new level whose own calls lie nearer to it than to the old one."""
    by = FOLLOWED_BY[view]
    value, _ = _values(followed)
    before, after = levels
    middle = (before + after) / 2
    side = ">=" if after > before else "<="
    words = f"""SELECT run FROM {_place(followed, by)}
      WHERE {followed.where} AND "day" BETWEEN ? AND ? {_with(by)} AND run <> 'system'
      GROUP BY run HAVING avg({value}) {side} ? ORDER BY min("day"), run LIMIT ?"""
    given: list[Value] = [*days, *course.key, middle, MOST_RUNS]
    return tuple(str(row[0]) for row in facts.ask(words, given))


def _values(followed: Followed) -> tuple[str, str]:
    """What is added up, and the figure itself, as numbers in SQL."""
    if followed.figure.share:
        number = f"CAST({followed.value} AS DOUBLE)"
        return number, number
    return f"ln({followed.value})", f"CAST({followed.value} AS DOUBLE)"


def _place(followed: Followed, names: Sequence[str]) -> str:
    """Where a figure is taken from; a candidate counts once, however many answers are in it."""
    if followed.place != "work_of":
        return followed.place
    return distinct("work_of", (*names, "run"), ("chain", "number"), followed.value)


def _named(suspect: Suspect) -> str:
    """What calls are told apart by to find out about a suspect; a version alone means nothing."""
    names = [f'"{name}"' for name in _needs(suspect)]
    return names[0] if len(names) == 1 else f"concat_ws(' ', {', '.join(names)})"


def _needs(suspect: Suspect) -> tuple[Dimension, ...]:
    match suspect:
        case "version":
            return ("model", "version")
        case "template_version":
            return ("template", "template_version")
        case _:
            return (suspect,)


def _with(by: Sequence[Dimension]) -> str:
    return "".join(f' AND "{name}" = ?' for name in by)
