"""Charts: few readings for many, lines, marks with labels that can be told apart, a table."""

from dataclasses import replace

from tests.troubled import reading
from twinsmith.core.operating.moments import Moment, MomentKind
from twinsmith.runs.health import Course, coursed, pace
from twinsmith.web.charts import chart, drawn, sparkline, table

NOW = 1_795_000_200.0


def course(seconds: int = 600, *, step: float = 1.0, most: int = 120) -> Course:
    moments = [NOW - seconds + step * number for number in range(int(seconds / step) + 1)]
    return coursed(
        [reading(at) for at in moments], NOW - seconds, NOW, age=float(seconds), most=most
    )


def mark(at: float, kind: MomentKind = "deed") -> Moment:
    return Moment(at=at, kind=kind, text="done")


def test_many_readings_become_few_and_none_hides_what_was_worst() -> None:
    many = [reading(NOW - 600 + at, failed=9 if at == 100 else 0) for at in range(600)]
    few = coursed(many, NOW - 600, NOW, age=600.0)
    assert few.step == 5
    assert len(few.readings) <= 121
    failed = {name: values for name, values, _ in few.series()}["failed"]
    assert max(each for each in failed if each is not None) == 9 / 5
    assert sum(each.traffic.failed for each in few.readings) == 9


def test_requests_are_so_many_a_second_however_fine_the_readings_are() -> None:
    for found in (course(), course(most=30), course(3600, step=1.0)):
        requests = found.series()[0][1]
        assert requests[0] is None
        assert {round(each or 0) for each in requests[1:]} == {12}


def test_readings_of_a_rollback_stay_in_their_order() -> None:
    turns = [reading(NOW - 40 + at, number=3 if at < 20 else 1) for at in range(40)]
    found = coursed(turns, NOW - 40, NOW, age=40.0, most=8)
    assert [each.at for each in found.readings] == sorted(each.at for each in found.readings)


def test_a_bucket_that_has_only_begun_is_not_shown() -> None:
    # 12 in each of five seconds, and one single second of the next five.
    found = coursed([reading(NOW + at) for at in range(6)], NOW, NOW + 600, age=600.0)
    assert [each.at for each in found.readings] == [NOW + 4]


def test_gaps_follow_what_is_still_kept() -> None:
    assert coursed([], 0.0, 600.0, age=600.0).gap == 15.0
    assert coursed([], 0.0, 600.0, age=3600.0).gap == 180.0
    assert coursed([], 0.0, 600.0, age=4 * 86_400.0).gap == 10_800.0


def test_the_pace_is_that_of_the_last_ten_whole_seconds() -> None:
    last = [reading(NOW + at, requests=5) for at in range(20)]
    assert pace(last) == 5.0
    assert pace([]) is None
    assert pace([reading(NOW + 3)]) is None


def test_a_chart_has_a_row_for_whatever_is_known_and_one_axis() -> None:
    found = chart(course(), [])
    names = [row.name for row in found.rows]
    assert names == ["requests", "failed", "p95", "probe", "memory", "processor", "disk"]
    places = [line.split(" ")[-1].split(",")[0] for row in found.rows for line in row.lines]
    assert len(set(places)) == 1, "all end at the same moment"
    assert chart(coursed([], NOW - 600, NOW, age=600.0), []).rows == ()


def test_marks_that_are_close_share_a_label_which_tells_of_the_worst() -> None:
    close = [mark(NOW - 300), mark(NOW - 299, "alarm"), mark(NOW - 298)]
    found = chart(course(), [mark(NOW - 590), *close, mark(NOW - 200, "good")])
    assert [each.text for each in found.labels] == ["◆1", "▼2\N{EN DASH}4", "✓5"]
    assert [each.lane for each in found.labels] == [0, 1, 0]
    assert [each.number for each in found.marks] == [1, 2, 3, 4, 5]
    assert found.labels[0].anchor == "start"
    assert found.labels[1].anchor == "middle"


def test_the_newest_marks_are_shown_where_there_are_many() -> None:
    found = chart(course(), [mark(NOW - 500 + number) for number in range(90)])
    assert [each.number for each in found.marks] == list(range(61, 91))


def test_times_on_the_axis_are_round_and_few() -> None:
    for seconds, first in ((600, ":"), (3600, ":"), (86_400, ":")):
        ticks = chart(course(seconds, step=60.0), []).ticks
        assert 2 <= len(ticks) <= 9
        assert all(first in each.text for each in ticks)


def test_a_single_value_is_a_point_that_is_seen() -> None:
    row = sparkline([1.0, 2.0], [3.0, None])
    assert row is not None
    assert len(set(row.lines[0].split(" "))) == 1
    assert len(row.lines[0].split(" ")) == 2
    assert sparkline([], []) is None
    assert sparkline([1.0], [None]) is None


def test_the_table_says_the_same_in_fewer_rows() -> None:
    seen = drawn(course(), [])
    assert seen.step == 20
    assert len(seen.rows) <= 31
    assert [len(values) for _, values in seen.rows] == [len(seen.names)] * len(seen.rows)
    fine = course()
    assert table(fine)[1][1][0] == 12.0
    long = replace(fine, since=NOW - 86_400)
    assert " " in table(long)[0][0], "a day has a date"
