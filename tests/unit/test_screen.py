"""Lines are cut and folded for a terminal only."""

import io
import sys

import pytest
from rich.table import Table

from twinsmith.cli.screen import console, fitted, flat

LONG = "x" * 300


class Screen(io.StringIO):
    """Standard output as a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_is_cut_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", Screen())
    assert fitted(LONG) == "x" * 39 + "…"
    assert fitted("x" * 40) == "x" * 40


def test_nothing_is_cut_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert fitted(LONG) == LONG
    monkeypatch.setenv("COLUMNS", "40")
    assert fitted(LONG) == LONG


@pytest.mark.parametrize(("out", "whole"), [(Screen(), False), (io.StringIO(), True)])
def test_what_is_drawn_is_cut_for_a_terminal_only(
    out: io.StringIO, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", out)
    row = Table.grid()
    row.add_row(LONG)
    console().print(row)
    assert (LONG in out.getvalue()) is whole


def test_a_text_on_one_line_steers_no_terminal() -> None:
    assert flat("\x1b[2Jgone\x07\nand  more") == "�[2Jgone� and more"
