"""Which lines tell of an error, and which messages are new."""

import pytest

from twinsmith.core.operating.log_lines import MOST_HEARD, Listener, is_error, message_of
from twinsmith.core.operating.reading import Said

TRACE = [
    "Traceback (most recent call last):",
    '  File "/app/main.py", line 7, in total',
    '    raise ValueError("error")',
    "",
    "ZeroDivisionError: division by zero",
]


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: cannot open the file",
        "[2026-11-18 10:00:00 +0000] [7] [ERROR] Error handling request /x",
        "level=error msg=gone",
        "ValueError: invalid literal",
        "java.lang.NullPointerException: x",
        "panic: runtime error: index out of range [5] with length 3",
        "thread 'main' panicked at src/main.rs:5:10:",
        "fatal: out of room",
        "2 errors, see above",
        "sqlite3.OperationalError: database is locked",
    ],
)
def test_lines_that_tell_of_an_error(line: str) -> None:
    assert is_error(line)


@pytest.mark.parametrize(
    "line",
    [
        "listening at /run/app/http.sock",
        "the terrorist film was mirrored",
        "done: 0 errors, 3 files",
        "finished without errors",
        "errors: 0",
        '"error": null',
        "[2026-11-18 10:00:00 +0000] [7] [INFO] error handler registered",
        "level=info msg=no-error",
        "fatality",
        "",
    ],
)
def test_lines_that_tell_of_none(line: str) -> None:
    assert not is_error(line)


def test_a_traceback_is_one_error_by_its_last_line() -> None:
    assert Listener().hear(TRACE) == Said(errors=1, fresh=("ZeroDivisionError: division by zero",))
    # It may come in two parts, with a request in between.
    listener = Listener()
    assert listener.hear(TRACE[:3]) == Said()
    assert listener.hear(['{"path": "/x"}', *TRACE[3:], "all is well"]).errors == 1
    chained = [*TRACE, "", "During handling of the above exception, another one occurred:", ""]
    assert Listener().hear([*chained, *TRACE]).errors == 2


def test_requests_in_json_are_passed_over() -> None:
    assert Listener().hear(['{"path": "/error", "status": 500}']) == Said()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("KeyError: 'anna@example.com'", "KeyError: '…'"),
        ("error 17 at 0x7f00aa (10.0.0.1:8080)", "error # at # (#)"),
        ("[2026-11-18 10:00:00 +0000] [7] [ERROR] gone", "[#] [ERROR] gone"),
        ("2026-11-18T10:00:00.123Z ERROR gone", "ERROR gone"),
        ("error in 5f3a9c0d-11aa-4c8e-9f00-aabbccddeeff", "error in #"),
        ("error\x1b[31m in\tred", "error [#m in red"),
        ("error in accessed facade", "error in accessed facade"),
    ],
)
def test_a_message_is_the_same_whenever_it_is_written(line: str, message: str) -> None:
    assert message_of(line) == message


def test_a_message_is_new_once() -> None:
    listener = Listener()
    assert listener.hear(["error 1", "error 2", "fatal: x"]).fresh == ("error #", "fatal: x")
    assert listener.hear(["error 3"]) == Said(errors=1)


def test_what_is_told_and_remembered_has_bounds() -> None:
    listener = Listener()
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(MOST_HEARD + 50)]
    said = listener.hear(f"error of {word}" for word in words)
    assert (said.errors, len(said.fresh)) == (MOST_HEARD + 50, 10)
    assert len(listener.heard) == MOST_HEARD
    assert len(listener.hear(["error of " + "long " * 100_000]).fresh[0]) <= 200


def test_what_looks_like_a_secret_is_not_told() -> None:
    said = Listener().hear(["error: password=hunter2hunter2 is wrong"])
    assert "hunter2" not in said.fresh[0]
