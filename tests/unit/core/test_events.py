import json

import pytest

from twinsmith.core.events import GENESIS, Event, first_break, from_line, seal, to_line


def chain(count: int) -> list[str]:
    lines: list[str] = []
    prev = GENESIS
    for seq in range(1, count + 1):
        event = Event(run="r", kind="k", who="w", data={"n": seq, "text": 'é "q" \n'}, key=f"{seq}")
        entry = seal(event, seq=seq, at=f"2026-01-01T00:00:0{seq}", prev=prev)
        lines.append(to_line(entry))
        prev = entry.hash
    return lines


def test_a_line_reads_back_as_the_entry_it_was() -> None:
    line = chain(1)[0]
    assert to_line(from_line(line)) == line
    assert json.loads(line)["data"]["n"] == 1


def test_a_whole_chain_has_no_break() -> None:
    assert first_break(chain(5)) is None
    assert first_break([]) is None


@pytest.mark.parametrize("field", ["seq", "at", "run", "kind", "who", "key", "prev", "hash"])
def test_changing_any_field_is_found_in_its_line(field: str) -> None:
    lines = chain(5)
    raw = json.loads(lines[2])
    raw[field] = raw[field] + 1 if field == "seq" else f"{raw[field]}x"
    lines[2] = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
    broken = first_break(lines)
    assert broken is not None
    assert broken.line == 3


def test_changing_data_is_found() -> None:
    lines = chain(5)
    lines[3] = lines[3].replace('"n":4', '"n":5')
    broken = first_break(lines)
    assert broken is not None
    assert (broken.line, "altered" in broken.reason) == (4, True)


def test_an_added_field_is_found() -> None:
    lines = chain(3)
    lines[1] = lines[1].replace('"seq":2', '"extra":1,"seq":2')
    broken = first_break(lines)
    assert broken is not None
    assert broken.line == 2


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (lambda lines: lines[:1] + lines[2:], 2),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines[:2], "not json", *lines[3:]], 3),
        (lambda lines: [*lines[:2], "[1, 2]", *lines[3:]], 3),
        (lambda lines: [*lines[:2], '{"seq": 3}', *lines[3:]], 3),
        (lambda lines: [*lines[:4], lines[4][:-10]], 5),
    ],
    ids=["removed", "swapped", "doubled", "garbage", "list", "fields missing", "cut"],
)
def test_a_moved_missing_or_unreadable_line_is_found(edit: object, line: int) -> None:
    assert callable(edit)
    broken = first_break(edit(chain(5)))
    assert broken is not None
    assert broken.line == line
