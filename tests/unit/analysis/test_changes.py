"""Changes that were planted in a made-up journal: found, on their day and with their cause."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.journals import Levels, Plan, Shape, day_of, write
from twinsmith.adapters.journal.file_blocks import file_blocks
from twinsmith.analysis.changes import changes, drifts_of
from twinsmith.analysis.facts import Facts
from twinsmith.core.behaviour.cause import Suspect
from twinsmith.core.behaviour.drift import Course, Day, Drift, Figure
from twinsmith.core.behaviour.figures import View

CAME = 20
USUAL = Levels()


@contextmanager
def told(folder: Path, shape: Shape, seed: int) -> Iterator[Facts]:
    """The facts of a journal of thirty days."""
    write(Plan(shape=shape, days=30, runs=12, seed=seed, folder=folder))
    facts = Facts()
    facts.take(file_blocks(folder, {}))
    yield facts
    facts.close()


def from_then(changed: Levels) -> Shape:
    return lambda day: changed if day >= CAME else USUAL


def found(folder: Path, shape: Shape, view: View = "models", seed: int = 0) -> tuple[Drift, ...]:
    with told(folder, shape, seed) as facts:
        return drifts_of(facts, view, "")[0]


def test_a_journal_in_which_nothing_changes_has_no_drift(tmp_path: Path) -> None:
    with told(tmp_path, lambda _: USUAL, 3) as facts:
        drifts, examined = drifts_of(facts, "models", "")
    assert drifts == ()
    assert examined > 20


@pytest.mark.parametrize(
    ("changed", "figure", "factor", "what"),
    [
        (replace(USUAL, version="2024-11-20", seconds=4.0), "seconds per call", 2.0, "version"),
        (replace(USUAL, settings="222222222222", usd=0.008), "cost of a call", 2.0, "settings"),
        (
            replace(USUAL, template_version="bbbbbbbbbbbb", unusable=0.3),
            "answers that cannot be used",
            7.5,
            "template_version",
        ),
    ],
)
def test_a_planted_change_is_found_on_its_day_with_its_cause(
    tmp_path: Path, changed: Levels, figure: str, factor: float, what: Suspect
) -> None:
    drifts = [each for each in found(tmp_path, from_then(changed)) if each.figure == figure]
    assert drifts
    for each in drifts:
        assert each.day == day_of(CAME)
        assert each.until == day_of(29)
        assert [cause.what for cause in each.causes] == [what]
        assert each.factor == pytest.approx(factor, rel=0.5)
        assert each.runs
        assert all(name[:8] >= day_of(CAME).replace("-", "") for name in each.runs)


def test_a_mix_of_other_tasks_explains_why_calls_take_longer(tmp_path: Path) -> None:
    """Calls of services take three times as long: no model is slower than it was."""
    drifts = found(tmp_path, from_then(replace(USUAL, services=0.9)))
    slower = [each for each in drifts if each.figure == "seconds per call"]
    assert slower
    for each in slower:
        assert each.causes[0].what == "kind"
        assert each.causes[0].explains > 0.8


def test_what_nothing_explains_has_no_cause(tmp_path: Path) -> None:
    """A provider that answers slower under the same name: the journal knows of no reason."""
    drifts = found(tmp_path, from_then(replace(USUAL, seconds=4.0)))
    slower = [each for each in drifts if each.figure == "seconds per call"]
    assert {each.day for each in slower} == {day_of(CAME)}
    assert all(each.causes == () for each in slower)


def test_a_model_that_takes_over_explains_what_changed_with_it(tmp_path: Path) -> None:
    other = replace(USUAL, model="google:gemini-2.5-flash", version="1", seconds=5.0, right=0.2)
    drifts = found(tmp_path, from_then(other), view="roles")
    slower = [each for each in drifts if each.figure == "seconds per call"]
    assert slower
    assert all(cause.what == "model" for each in slower for cause in each.causes[:1])
    worse = [each for each in drifts if each.figure == "candidates right by tests"]
    assert [each.day for each in worse] == [day_of(CAME)]


def test_two_changes_of_one_figure_are_both_found(tmp_path: Path) -> None:
    """What comes and goes has to be larger than what stays: each of its changes is paid for."""

    def shape(day: int) -> Levels:
        slow = replace(USUAL, version="b", seconds=6.0)
        return USUAL if day < 10 else slow if day < CAME else replace(USUAL, version="c")

    drifts = found(tmp_path, shape)
    slower = [each for each in drifts if each.figure == "seconds per call"]
    days = {each.day for each in slower if each.key[-1] == "coder"}
    assert days == {day_of(10), day_of(CAME)}


def course(share: bool, levels: Callable[[int], float], calls: int = 40, days: int = 20) -> Course:
    """Days without any chance in them but a little of one parity against the other."""
    figure = Figure(name="f", unit="", share=share)
    made = []
    for number in range(days):
        level = levels(number) + (0.01 if number % 2 else -0.01) * (not share)
        made.append(
            Day(
                day=f"2026-10-{number + 1:02}",
                calls=calls,
                total=level * calls,
                squares=(level * level + 0.04) * calls if not share else level * calls,
                plain=level * calls,
            )
        )
    return Course(figure=figure, key=("m",), days=tuple(made))


def test_one_odd_day_is_no_drift() -> None:
    assert changes(course(share=False, levels=lambda day: 3.0 if day == 12 else 1.0), 20) == []


def test_a_change_that_nobody_has_to_hear_of_is_not_told() -> None:
    assert changes(course(share=False, levels=lambda day: 1.05 if day >= 10 else 1.0), 20) == []
    (change,) = changes(course(share=False, levels=lambda day: 1.5 if day >= 10 else 1.0), 20)
    assert (change.start, change.at, change.end) == (0, 10, 20)


def test_a_few_calls_tell_nothing() -> None:
    few = course(share=True, levels=lambda day: 0.5 if day >= 18 else 0.0, calls=4)
    assert changes(few, 20) == []


def still(*levels: float) -> Course:
    """Days of a scripted model, whose calls are all alike."""
    made = [
        Day(
            day=f"2026-10-{n + 1:02}",
            calls=calls,
            total=level * calls,
            squares=level * level * calls,
            plain=level * calls,
        )
        for n, level in enumerate(levels)
        for calls in (10 + n % 3,)
    ]
    return Course(figure=Figure(name="f", unit="s"), key=("m",), days=tuple(made))


def test_of_a_scripted_model_every_level_is_found_and_no_odd_day() -> None:
    four = still(*[0.1] * 6, *[0.7] * 6, *[0.3] * 6, *[0.9] * 6)
    assert [each.at for each in changes(four, 20)] == [6, 12, 18]
    assert changes(still(*[0.1] * 6, 0.7, *[0.1] * 8), 20) == []
    assert changes(still(*[0.1] * 20), 20) == []


def test_a_scripted_model_that_never_varies_changes_exactly_where_it_does() -> None:
    days = tuple(
        Day(day=f"2026-10-{n + 1:02}", calls=10, total=0.0, squares=0.0, plain=10.0)
        if n < 8
        else Day(day=f"2026-10-{n + 1:02}", calls=10, total=10.0, squares=10.0, plain=27.0)
        for n in range(16)
    )
    made = Course(figure=Figure(name="f", unit="s"), key=("m",), days=days)
    assert [each.at for each in changes(made, 5)] == [8]
