"""Readings as a picture: the same lines as SVG and as PNG."""

import io
from xml.etree import ElementTree as ET

from PIL import Image

from twinsmith.adapters.drawing import png
from twinsmith.core.plot import MARKED, Mark, Series, Stroke, picture, svg

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
