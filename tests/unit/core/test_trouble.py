"""What is known of an incident when it begins, and what slow thinkers say about it."""

import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.operating.diagnosis import LONGEST, Diagnosis, read_diagnosis, schema
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.trouble import (
    LONGEST_LINE,
    MOST_LINES,
    Evidence,
    Trouble,
    growth_of,
    lines_of,
    requests_of,
)

TRACE = """Traceback (most recent call last):
  File "/usr/lib/python3/flask/app.py", line 1, in full_dispatch
  File "/app/solution.py", line 9, in see_total
    return 1 / len(rows)
ZeroDivisionError: division by zero"""


def reading(at: float, memory: int | None, requests: int, files: int | None = None) -> Reading:
    usage = Usage(state="running", memory=memory, descriptors=files)
    return Reading(app="shop", release=2, at=at, usage=usage, traffic=Traffic(requests=requests))


def test_requests_that_failed_most_often_come_first_without_what_people_asked_for() -> None:
    asked = ["GET /a?name=ann", "GET /b", "GET /a?name=bob"]
    assert requests_of(asked) == ("GET /a", "GET /b")


def test_of_a_log_the_last_lines_that_are_no_requests_are_kept() -> None:
    log = f'{{"path": "/a"}}\n\n{TRACE}\n' + "x" * 999
    kept = lines_of(log)
    assert kept[0] == "Traceback (most recent call last):"
    assert len(kept[-1]) == LONGEST_LINE
    assert lines_of("\n".join(map(str, range(500)))) == tuple(
        str(number) for number in range(500 - MOST_LINES, 500)
    )


def test_a_traceback_names_its_functions_the_innermost_first() -> None:
    seen = Trouble(incident="i", kind="errors", told="x", evidence=Evidence(said=lines_of(TRACE)))
    assert seen.names == ("see_total", "full_dispatch")


def test_what_is_kept_of_each_request_is_counted_from_the_lowest_reading_on() -> None:
    some = [reading(1, 900, 5), reading(2, 100, 7), reading(3, 500, 2), reading(4, 900, 6)]
    assert growth_of(some, "memory leak") == 100.0
    assert growth_of(some, "errors") == 0.0
    assert growth_of(some[:1], "memory leak") == 0.0
    files = [reading(1, None, 0, 10), reading(2, None, 20, 30)]
    assert growth_of(files, "descriptor leak") == 1.0
    # It grows, and nobody asked for anything: it is not of requests.
    assert growth_of([reading(1, 0, 9), reading(2, 99, 0)], "memory leak") == 0.0


def test_a_diagnosis_is_read_out_of_whatever_stands_around_it() -> None:
    said = 'Sure: {"function": "see_total", "cause": "no\\nrows", "change": "look first"} so'
    found = read_diagnosis(said, ["see_total"])
    assert found == Diagnosis(function="see_total", cause="no rows", change="look first")
    assert found.text == "see_total: no rows look first"
    long = f'{{"function": "f", "cause": "{"x" * 999}", "change": ""}}'
    assert len(read_diagnosis(long, ["f"]).cause) == LONGEST
    assert '"enum": ["see_total"]' in schema(["see_total"])


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I do not know",
        '{"function": "see_total"}',
        '["function", "cause", "change"]',
        '{"function": "other", "cause": "x", "change": "y"}',
        '{"function": "see_total", "cause": " ", "change": "y"}',
        "[" * 5000,
    ],
)
def test_what_is_no_diagnosis_is_a_bad_reply(said: str) -> None:
    with pytest.raises(BadReply, match="diagnosis"):
        read_diagnosis(said, ["see_total"])
