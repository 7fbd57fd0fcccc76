import pytest

from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.judging.efficiency import Timing, grown, growth, ladder, slow_ones, timings
from twinsmith.core.probe import Call, Probes


def call(*args: object) -> Call:
    return Call(function="f", args=tuple(repr(arg) for arg in args), expected="1")


def curve(power: float, scale: float, *, value: str = "1") -> tuple[Timing, ...]:
    sizes = (1, 8, 64, 512)
    return tuple(Timing(factor=n, seconds=scale * n**power, value=value) for n in sizes)


class TestGrown:
    @pytest.mark.parametrize(
        ("small", "large"),
        [
            (7, 21),
            (-7, -21),
            (400_000, 400_000),
            (2.5, 2.5),
            (True, True),
            (None, None),
            ("ab", "ababab"),
            (b"ab", b"ababab"),
            ([], []),
            ([3, 1], [3, 1, 3, 1, 3, 1]),
            (["x", 1], ["x", 1, "x", 1, "x", 1]),
            ([True], [True, True, True]),
            ([1, 4], [1, 4, 5, 8, 9, 12]),
            ({2, 3}, {2, 3, 4, 5, 6, 7}),
            ({"a"}, {"a"}),
            (set(), set()),
            ({True}, {True}),
            ({"a": 1}, {"a": 1, "a1": 1, "a2": 1}),
            ({1: 2}, {1: 2}),
            ((1, 2), (1, 2)),
        ],
    )
    def test_more_of_the_same_shape(self, small: object, large: object) -> None:
        made = grown(call(small), 3)
        assert made is not None
        assert made == Call(function="f", args=(repr(large),))

    def test_what_would_be_too_long_is_not_made(self) -> None:
        assert grown(call("a" * 1000), 500) is None
        assert grown(call({"a" * 100: 1}), 10**9) is None

    def test_what_cannot_be_read_does_not_grow(self) -> None:
        assert grown(Call(function="f", args=("g()",)), 2) is None

    def test_a_ladder_tries_every_size_several_times(self) -> None:
        probes = ladder(call([2, 1]), factors=(1, 4), tries=2)
        assert [probe.name for probe in probes.checks] == [
            "1 times as large, try 1",
            "1 times as large, try 2",
            "4 times as large, try 1",
            "4 times as large, try 2",
        ]
        assert [probe.call.args for probe in probes.checks if probe.call][::2] == [
            ("[2, 1]",),
            ("[2, 1, 2, 1, 2, 1, 2, 1]",),
        ]

    def test_there_is_no_ladder_where_nothing_grows(self) -> None:
        assert ladder(call((1, 2), 0.5)) == Probes()
        assert ladder(Call(function="f", args=())) == Probes()


def ran(*rows: tuple[Outcome, float]) -> tuple[Timing, ...]:
    probes = ladder(call([2, 1]), factors=(1, 8), tries=len(rows) // 2)
    results = tuple(
        ProbeResult(name=probe.name, outcome=outcome, cpu_seconds=seconds, value="3")
        for probe, (outcome, seconds) in zip(probes.checks, rows, strict=True)
    )
    return timings(probes, Execution(candidate=0, results=results))


class TestTimings:
    def test_the_least_of_all_tries_counts(self) -> None:
        assert ran(("passed", 0.3), ("passed", 0.2), ("timed out", 0.0), ("passed", 0.9)) == (
            Timing(factor=1, seconds=0.2, value="3"),
            Timing(factor=8, seconds=0.9, value="3"),
        )

    def test_what_never_ended_took_at_least_as_long_as_it_was_given(self) -> None:
        seen = ran(("passed", 0.1), ("passed", 0.1), ("timed out", 2.0), ("timed out", 0.0))
        assert seen[1] == Timing(factor=8, seconds=2.0, value="3", finished=False)

    def test_a_size_that_failed_says_nothing(self) -> None:
        assert len(ran(("passed", 0.1), ("raised", 0.1))) == 1


class TestGrowth:
    @pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
    def test_is_the_power_of_the_size(self, power: float) -> None:
        assert growth(curve(power, 0.02)) == pytest.approx(power)

    def test_what_is_too_quick_or_never_ended_shows_none(self) -> None:
        assert growth(curve(1.0, 0.00001)) is None
        ended = Timing(factor=1, seconds=0.1)
        assert growth((ended, Timing(factor=8, seconds=2.0, finished=False))) is None


class TestSlowOnes:
    def test_far_slower_than_the_fastest_is_a_note_with_the_figures(self) -> None:
        found = slow_ones({1: curve(1.0, 0.0001), 2: curve(2.0, 0.0001)})
        assert list(found) == [2]
        assert found[2].severity == "note"
        assert found[2].where == "input 512 times as large"
        assert found[2].evidence == (
            "26.2 s of processor time, at least 512 times as long as another candidate that is "
            "right (0.0512 s); its time grows with the power 2.0 of the input"
        )

    def test_where_it_is_wished_it_blocks(self) -> None:
        both = {1: curve(1.0, 0.0001), 2: curve(2.0, 0.0001)}
        assert slow_ones(both, too_slow=600)[2].severity == "note"
        assert slow_ones(both, too_slow=500)[2].severity == "blocking"

    def test_a_little_slower_is_nothing(self) -> None:
        assert slow_ones({1: curve(1.0, 0.001), 2: curve(1.0, 0.009)}) == {}

    def test_noise_below_a_hundredth_of_a_second_is_nothing(self) -> None:
        assert slow_ones({1: curve(0.0, 0.00001), 2: curve(0.0, 0.0099)}) == {}
        assert slow_ones({1: curve(0.0, 0.00001), 2: curve(0.0, 0.09)}) == {}

    def test_one_that_does_not_end_is_compared_with_one_that_does(self) -> None:
        endless = (
            Timing(factor=1, seconds=0.1, value="1"),
            Timing(factor=8, seconds=2.0, finished=False),
            Timing(factor=64, seconds=0.0, finished=False),
        )
        found = slow_ones({1: curve(1.0, 0.0001), 2: endless})
        assert found[2].where == "input 8 times as large"
        assert found[2].evidence.startswith("more than 2 s of processor time, at least 200 times")

    def test_where_answers_differ_nobody_is_called_slow(self) -> None:
        assert slow_ones({1: curve(1.0, 0.0001), 2: curve(2.0, 0.0001, value="2")}) == {}

    def test_one_alone_is_not_slow(self) -> None:
        assert slow_ones({1: curve(3.0, 1.0)}) == {}
