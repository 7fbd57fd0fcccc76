"""Small plots: one block a figure, the greatest of those that share a place, gaps where none is."""

from twinsmith.cli.plots import sparkline


def test_figures_are_blocks_between_their_least_and_their_greatest() -> None:
    assert sparkline([0, 7, 14]) == "▁▅█"
    assert sparkline([3, 3]) == "▁▁"
    assert sparkline([1, None, 2]) == "▁ █"
    assert sparkline([]) == sparkline([None]) == ""


def test_many_figures_share_places_and_the_greatest_is_seen() -> None:
    values = [0.0] * 100
    values[57] = 9.0
    plot = sparkline(values, width=10)
    assert len(plot) == 10
    assert plot.count("█") == 1
