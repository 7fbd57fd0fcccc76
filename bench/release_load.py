"""Clients of an app by a fixed schedule, whatever becomes of their requests; and what they saw.

The loop is open: a request is sent when it is due, not when the one before is answered, and its
time runs from the moment at which it was due. Half of them go over connections that are kept, half
over new ones; one in four writes to the data of the app, the others read.
"""

import asyncio
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

RATE = 200
MOST = 40_000
"""Requests of one load, at most: no load goes on for ever."""
WAIT_SECONDS = 5.0
LATE_SECONDS = 1.0
PATH = "/mark"
EXPECTED = {"GET": 200, "POST": 201}
ROUTE = """

@app.route("/mark", methods=["GET", "POST"])
def route_mark():
    "which version answers; POST keeps a row besides"
    if request.method == "POST":
        work = lambda: (201, {{**add_item("bench", "tea", 1, 1.5)[1], "mark": {mark!r}}})
        return answer(store, work, 201)
    return jsonify(mark={mark!r})
"""

Address = int | Path
"""A port of the loopback, or the path of a Unix socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: when it was due and sent, what came back."""

    due: float
    """Seconds since the epoch, as all moments here."""
    sent: float
    answered: float
    status: int
    """0: no answer; `why` says what came instead."""
    mark: str = ""
    """The version that answered."""
    why: str = ""
    method: str = "GET"
    kept: bool = False

    @property
    def seconds(self) -> float:
        """How long whoever asked has waited."""
        return self.answered - self.due

    @property
    def good(self) -> bool:
        """Whether the answer is the one that was expected."""
        return self.status == EXPECTED[self.method]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of many requests."""

    asked: int
    lost: int
    late: int
    """Answered as expected, but more than a second after they were due."""
    median_ms: float
    p99_ms: float
    longest_ms: float
    lag_ms: float
    """The 99th percentile of what the client itself was behind its schedule."""
    why: dict[str, int]


def tally(asked: Sequence[Asked]) -> Tally:
    """Count requests: those that were lost, those that were late, and how long they took."""
    good = [each for each in asked if each.good]
    lost = [each for each in asked if not each.good]
    waited = [each.seconds * 1000 for each in good]
    how = {True: "kept", False: "new"}
    return Tally(
        asked=len(asked),
        lost=len(lost),
        late=sum(each.seconds > LATE_SECONDS for each in good),
        median_ms=percentile(waited, 50),
        p99_ms=percentile(waited, 99),
        longest_ms=max(waited, default=0.0),
        lag_ms=percentile([(each.sent - each.due) * 1000 for each in asked], 99),
        why=dict(Counter(f"{each.method} {how[each.kept]}: {_said(each)}" for each in lost)),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` hundredths of all do not exceed; 0 where there are none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(len(values) * share / 100) - 1)]


def first_answer(asked: Sequence[Asked], mark: str, since: float) -> float | None:
    """Seconds from a moment to the first answer by a version; none where it never answered."""
    times = [each.answered for each in asked if each.mark == mark and each.answered >= since]
    return min(times) - since if times else None


def last_other(asked: Sequence[Asked], mark: str, since: float) -> float:
    """Seconds from a moment to when the last request was sent that another version answered."""
    times = [each.sent for each in asked if each.mark not in ("", mark) and each.sent >= since]
    return max(times) - since if times else 0.0


def longest_silence(asked: Sequence[Asked]) -> float:
    """The longest time in which no request that was due was answered as expected, in seconds.

    From the moment at which the first of them was due to the next good answer.
    """
    longest, since = 0.0, None
    for each in sorted(asked, key=lambda one: one.due):
        if not each.good:
            since = each.due if since is None else since
        elif since is not None:
            longest, since = max(longest, each.answered - since), None
    if since is not None:
        longest = max(longest, max(each.answered for each in asked) - since)
    return longest


def marked(mark: str, text: str) -> str:
    """The source of a service that says which version it is."""
    frame = "from flask import request\n"
    return f"{text}{ROUTE.format(mark=mark)}".replace("import os\n", f"import os\n\n{frame}", 1)


class Connections:
    """The connections of a client to one address: kept ones are used again, the last one first."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, due: float, *, method: str = "GET", kept: bool = False) -> Asked:
        """Send one request; whatever becomes of it is told, nothing is tried again."""
        sent, status, mark, why = time.time(), 0, "", ""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                status, mark = await self._asked(method, kept=kept)
        except TimeoutError:
            why = f"no answer in {WAIT_SECONDS:g} s"
        except (OSError, EOFError, ValueError) as error:
            why = type(error).__name__
        now = time.time()
        return Asked(
            due=due,
            sent=sent,
            answered=now,
            status=status,
            mark=mark,
            why=why,
            method=method,
            kept=kept,
        )

    def close(self) -> None:
        """Let go of what was kept."""
        for _, writer in self._idle:
            writer.close()

    async def _asked(self, method: str, *, kept: bool) -> tuple[int, str]:
        reader, writer = await self._connected(kept=kept)
        again = False
        try:
            writer.write(request(method, kept=kept))
            head = await reader.readuntil(b"\r\n\r\n")
            status, length, again = answered(head)
            body = await reader.readexactly(length) if length >= 0 else await reader.read()
        finally:
            if again and kept:
                self._idle.append((reader, writer))
            else:
                writer.close()
        return status, mark_in(body)

    async def _connected(self, *, kept: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while kept and self._idle:
            reader, writer = self._idle.pop()
            # Every client notices what was closed before it asks.
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        if isinstance(self._address, int):
            return await asyncio.open_connection("127.0.0.1", self._address)
        return await asyncio.open_unix_connection(self._address)


def request(method: str, *, kept: bool) -> bytes:
    """A request as it is written."""
    body = "{}" if method == "POST" else ""
    sized = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    end = "keep-alive" if kept else "close"
    return f"{method} {PATH} HTTP/1.1\r\nHost: a\r\nConnection: {end}\r\n{sized}\r\n{body}".encode()


def answered(head: bytes) -> tuple[int, int, bool]:
    """Status, length (-1: up to the end) and whether more may follow, by the head of an answer."""
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    fields = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
    length = int(fields.get("content-length", "-1"))
    return int(first.split()[1]), length, length >= 0 and fields.get("connection") != "close"


def mark_in(body: bytes) -> str:
    """The version that an answer names; nothing where it is another's."""
    with suppress(ValueError):
        told = json.loads(body)
        if isinstance(told, dict):
            return str(told.get("mark", ""))
    return ""


def scheduled(number: int) -> tuple[str, bool]:
    """The method of the request of that number, and whether its connection is kept."""
    return "POST" if number // 2 % 4 == 0 else "GET", number % 2 == 1


class Load:
    """Requests at a fixed rate from beside, until the block is left."""

    def __init__(self, address: Address, *, rate: float = RATE, most: int = MOST) -> None:
        self._address = address
        self._rate = rate
        self._most = most
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.asked: list[Asked] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    async def _run(self) -> None:
        connections = Connections(self._address)
        tasks = []
        began = time.time()
        for number in range(self._most):
            due = began + number / self._rate
            await asyncio.sleep(max(0.0, due - time.time()))
            if self._over.is_set():
                break
            method, kept = scheduled(number)
            tasks.append(asyncio.create_task(connections.ask(due, method=method, kept=kept)))
        self.asked += await asyncio.gather(*tasks)
        connections.close()


async def open_loop(address: Address, *, seconds: float, kept: bool) -> list[Asked]:
    """Reads at the usual rate for a while."""
    connections = Connections(address)
    tasks = []
    began = time.time()
    for number in range(int(seconds * RATE)):
        due = began + number / RATE
        await asyncio.sleep(max(0.0, due - time.time()))
        tasks.append(asyncio.create_task(connections.ask(due, kept=kept)))
    done = list(await asyncio.gather(*tasks))
    connections.close()
    return done


async def closed_loop(
    address: Address, *, seconds: float, kept: bool, clients: int = 8
) -> list[Asked]:
    """Reads by clients that each wait for their answer, as fast as they get them."""
    until = time.time() + seconds

    async def client() -> list[Asked]:
        connections = Connections(address)
        seen: list[Asked] = []
        while time.time() < until and len(seen) < MOST:
            seen.append(await connections.ask(time.time(), kept=kept))
        connections.close()
        return seen

    found = await asyncio.gather(*(client() for _ in range(clients)))
    return [each for one in found for each in one]


def _said(asked: Asked) -> str:
    return asked.why or str(asked.status)
