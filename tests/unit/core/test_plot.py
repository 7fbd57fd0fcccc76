"""Readings as a picture: the same lines as SVG and as PNG."""

import io
from xml.etree import ElementTree as ET

from PIL import Image

from twinsmith.adapters.drawing import png
from twinsmith.core.plot import MARKED, Axis, Mark, Series, Stroke, picture, svg, traces

TIMES = [10.0, 11.0, 12.0]
MEMORY = Series(name="memory", unit="MB", values=(1.0, None, 4.0))
NOTHING = Series(name="files", unit="", values=(None, None, None))
ROLLED = Mark(at=11.0, text="rollback <shop> & more")


def test_a_line_goes_through_what_is_known_and_marks_stand_at_their_moment() -> None:
    drawn = picture("shop: memory leak", TIMES, [MEMORY, NOTHING], [ROLLED])
    strokes = [each for each in drawn.shapes if isinstance(each, Stroke)]
    (marked,) = [each for each in strokes if each.colour == MARKED]
    line = strokes[1]
    (first, low), (last, high) = line.points
    assert high < low
    assert marked.points[0][0] == (first + last) / 2
    # What was never looked at has no row.
    assert drawn.height < picture("x", TIMES, [MEMORY, MEMORY], [ROLLED]).height


def test_both_files_can_be_read_by_others_and_hold_no_foreign_markup() -> None:
    drawn = picture("<script>", TIMES, [MEMORY], [ROLLED])
    root = ET.fromstring(svg(drawn))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<script>" in texts
    assert any("rollback <shop> & more" in (text or "") for text in texts)
    image = Image.open(io.BytesIO(png(drawn)))
    assert image.size == (drawn.width, drawn.height)
    colours = {colour for _, colour in image.getcolors(1 << 16) or []}
    assert (0xB9, 0x1C, 0x1C) in colours


def test_nothing_to_show_is_a_picture_as_well() -> None:
    drawn = picture("shop", [], [], [])
    assert png(drawn).startswith(b"\x89PNG")
    ET.fromstring(svg(drawn))


def test_an_axis_has_a_place_for_every_moment() -> None:
    axis = Axis(first=10.0, last=20.0, left=0.0, right=100.0)
    assert [axis.across(at) for at in (5.0, 10.0, 15.0, 20.0, 99.0)] == [0, 0, 50, 100, 100]
    assert Axis(first=1.0, last=1.0, left=7.0, right=9.0).across(1.0) == 7.0


def test_a_line_is_broken_where_nobody_looked_for_long() -> None:
    axis = Axis(first=0.0, last=10.0, left=0.0, right=10.0)
    times, values = [0.0, 1.0, 2.0, 8.0], [1.0, None, 2.0, 4.0]
    whole = traces(times, values, axis, base=100.0, height=80.0)
    assert whole == (((0.0, 80.0), (2.0, 60.0), (8.0, 20.0)),)
    broken = traces(times, values, axis, base=100.0, height=80.0, gap=3.0)
    assert broken == (((0.0, 80.0), (2.0, 60.0)), ((8.0, 20.0),))
    assert traces(times, [None] * 4, axis, base=0.0, height=1.0) == ()
