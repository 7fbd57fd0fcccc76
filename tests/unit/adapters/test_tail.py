"""A file that grows, rolls, is emptied or is far too long; and access logs that roll."""

import os
import time
from pathlib import Path

from twinsmith.adapters.proxy.access import Access, AccessLog, access_log
from twinsmith.adapters.proxy.access_meter import AccessMeter, handled
from twinsmith.adapters.tail import LONGEST_REST, Tail


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def roll(path: Path, name: str) -> None:
    path.rename(path.with_name(name))
    # Files that roll within one tick of the clock are told apart by nothing else.
    time.sleep(0.01)


def test_lines_are_read_once_and_whole(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "log")
    assert tail.lines() == []
    add(tail.path, "one\ntw")
    assert tail.lines() == [b"one"]
    assert tail.lines() == []
    add(tail.path, "o\n\nthree\n")
    assert tail.lines() == [b"two", b"", b"three"]


def test_what_was_rolled_meanwhile_is_read(tmp_path: Path) -> None:
    log, tail = tmp_path / "access.log", Tail(tmp_path / "access.log")
    add(log, "one\nt")
    assert tail.lines() == [b"one"]
    add(log, "wo\n")
    roll(log, "access-2026-11-18T10-00-00.000.log")
    add(log, "three\n")
    roll(log, "access-2026-11-18T10-00-01.000.log")
    add(log, "four\nfi")
    assert tail.lines() == [b"two", b"three", b"four"]
    add(log, "ve\n")
    assert tail.lines() == [b"five"]


def test_a_rolled_file_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    log, tail = tmp_path / "log", Tail(tmp_path / "log")
    add(log, "one\nhalf")
    assert tail.lines() == [b"one"]
    add(tmp_path / "log.new", "two\n")
    (tmp_path / "log.new").rename(log)
    assert tail.lines() == [b"two"]
    os.truncate(log, 0)
    assert tail.lines() == []
    add(log, "3\n")
    assert tail.lines() == [b"3"]


def test_of_too_much_the_newest_is_read(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "log", 100)
    add(tail.path, "".join(f"line {n:03}\n" for n in range(100)))
    lines = tail.lines()
    assert (len(lines), lines[-1]) == (11, b"line 099")
    assert tail.skipped == 800
    add(tail.path, "next\n")
    assert tail.lines() == [b"next"]


def test_a_line_without_an_end_is_one_in_the_end(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "log")
    add(tail.path, "x" * (LONGEST_REST - 1))
    assert tail.lines() == []
    add(tail.path, "xy")
    assert tail.lines() == [b"x" * LONGEST_REST + b"y"]


def test_what_is_no_file_of_lines_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/etc/passwd")
    assert Tail(tmp_path / "log").lines() == []


async def test_no_request_is_missed_where_a_log_rolls(tmp_path: Path) -> None:
    meter, log = AccessMeter(tmp_path), AccessLog(access_log(tmp_path, "shop"))
    path, counted = b"/" + b"x" * 900, 0
    for part in range(4):
        for n in range(700):
            log.write(
                Access(
                    at=time.time(),
                    client=("127.0.0.1", 1),
                    method=b"GET",
                    target=path,
                    slot=1,
                    status=500 if n == 0 else 200,
                    size=3,
                    seconds=0.001 * n,
                )
            )
        traffic = await meter.read("shop")
        counted += traffic.requests
        assert (traffic.failed, traffic.median) == (1, 0.349), part
    log.close()
    assert counted == 2800
    assert (tmp_path / "shop" / "access.log.1").exists()


def test_lines_that_tell_of_no_request_are_passed_over() -> None:
    good = b'{"ts": 10.5, "request": {"uri": "/"}, "duration": 1e-05, "size": 1, "status": 200}'
    forged = good.replace(b'"/"', rb'"/\"status\":500,\"duration\":9"')
    lines = [b"", b"{}", b'{"ts": x}', good, forged, good[:-10], b"\xff\xfe"]
    assert [(each.status, each.seconds) for each in handled(lines, 10.0)] == [(200, 1e-05)] * 2
    assert list(handled([good], 11.0)) == []
