"""What a proxy that carries requests must do with them: Caddy, and the small one."""

import asyncio
import hashlib
import http.client
import json
import os
import socket
import stat
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import until
from tests.contract.test_proxy import made
from tests.upstreams import Service, asked, free_port, service
from twinsmith.adapters.proxy import limits
from twinsmith.adapters.proxy.small_server import SmallServer
from twinsmith.adapters.proxy.standing import StandingProxy
from twinsmith.core.operating.route import Route, one_upstream, split

LOADED = 400
"""Requests that each client sends while routes are switched."""


@dataclass
class World:
    """A proxy, its folder, a port of its app, and two services."""

    kind: str
    folder: Path
    proxy: StandingProxy
    old: Service
    new: Service
    port: int

    def to(self, upstream: Service) -> Route:
        return one_upstream("shop", self.port, str(upstream.path))

    def log(self) -> list[dict[str, object]]:
        path = self.folder / "shop" / "access.log"
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(params=["caddy", "small"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tw-")))
        old = stack.enter_context(service(folder, "old"))
        new = stack.enter_context(service(folder, "new"))
        proxy = made(request.param, folder / "p")
        assert isinstance(proxy, StandingProxy)
        where = World(
            kind=request.param, folder=folder / "p", proxy=proxy, old=old, new=new, port=free_port()
        )
        await proxy.route(where.to(old))
        yield where
        await proxy.stop()


def client(port: int, answers: "Counter[str]", *, keeps: bool) -> None:
    """Send requests as fast as they are answered, every other one with a body; count answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    for number in range(LOADED):
        try:
            connection.request(*(("GET", "/") if number % 2 else ("POST", "/", b"x" * 100)))
            answer = connection.getresponse()
            answer.read()
            answers[str(answer.status)] += 1
        except (OSError, http.client.HTTPException) as error:
            answers[type(error).__name__] += 1
            connection.close()
        if not keeps:
            connection.close()
    connection.close()


async def test_no_request_is_lost_while_routes_are_switched_and_services_replaced(
    world: World,
) -> None:
    answers: Counter[str] = Counter()
    clients = [
        threading.Thread(target=client, args=(world.port, answers), kwargs={"keeps": keeps})
        for keeps in (False, True)
    ]
    for thread in clients:
        thread.start()
    switches = 0
    served = world.folder.parent
    while any(thread.is_alive() for thread in clients):
        # A release as it happens: the new one is up, gets a share, then all; the old one ends.
        with service(served, f"r{switches}") as release:
            before = str(world.old.path)
            await world.proxy.route(
                split("shop", world.port, old=before, new=str(release.path), share=50)
            )
            await world.proxy.route(world.to(release))
            await asyncio.sleep(0.02)
            await world.proxy.route(world.to(world.old))
            # What was sent to it is with it; nothing more comes.
            await asyncio.sleep(0.05)
        switches += 3
    assert answers == {"200": 2 * LOADED}
    assert switches > 3
    assert len({line["slot"] for line in world.log()}) > 50


async def test_another_app_that_comes_and_goes_costs_no_request(world: World) -> None:
    answers: Counter[str] = Counter()
    clients = [
        threading.Thread(target=client, args=(world.port, answers), kwargs={"keeps": keeps})
        for keeps in (False, True)
    ]
    for thread in clients:
        thread.start()
    changes, port = 0, free_port()
    while any(thread.is_alive() for thread in clients):
        await world.proxy.route(one_upstream("blog", port, str(world.new.path)))
        await world.proxy.drop("blog")
        changes += 2
    assert answers == {"200": 2 * LOADED}
    assert changes > 2


@pytest.mark.parametrize("how", ["switch", "move", "drop", "stop"])
async def test_what_is_in_flight_is_finished(world: World, how: str) -> None:
    flying = asyncio.create_task(asyncio.to_thread(asked, world.port, "/held"))
    await asyncio.to_thread(world.old.held.wait, 20)
    match how:
        case "switch":
            await world.proxy.route(world.to(world.new))
            assert asked(world.port) == (200, b"new")
        case "move":
            moved = one_upstream("shop", free_port(), str(world.new.path))
            await world.proxy.route(moved)
            assert (asked(world.port), asked(moved.port)) == ((0, b""), (200, b"new"))
        case "drop":
            await world.proxy.drop("shop")
            assert asked(world.port) == (0, b"")
        case _:
            stopping = asyncio.create_task(world.proxy.stop())
            await asyncio.to_thread(until, lambda: not listens(world.port))
    world.old.go.set()
    assert await flying == (200, b"old")
    if how == "stop":
        await stopping


def listens(port: int) -> bool:
    with socket.socket() as raw:
        return raw.connect_ex(("127.0.0.1", port)) == 0


ROUTES_OF_ITS_OWN = """
import asyncio, sys
from pathlib import Path
from tests.contract.test_proxy import made
from twinsmith.core.operating.route import one_upstream

async def main(kind, folder, app, port, *sockets):
    for _ in range(3):
        for socket in sockets:
            await made(kind, Path(folder)).route(one_upstream(app, int(port), socket))

asyncio.run(main(*sys.argv[1:]))
"""


async def test_two_processes_at_once_keep_one_anothers_routes_and_leave_the_proxy_behind(
    world: World,
) -> None:
    both = (str(world.old.path), str(world.new.path))
    ports = {app: free_port() for app in ("blog", "wiki")}
    line = [sys.executable, "-c", ROUTES_OF_ITS_OWN, world.kind, str(world.folder)]
    started = [
        await asyncio.create_subprocess_exec(*line, app, str(port), *both)
        for app, port in ports.items()
    ]
    assert [await process.wait() for process in started] == [0, 0]
    wanted = [one_upstream(app, port, both[1]) for app, port in ports.items()]
    assert await world.proxy.current() == (wanted[0], world.to(world.old), wanted[1])
    assert [asked(port) for port in ports.values()] == [(200, b"new")] * 2
    assert not await world.proxy.ensure()


async def test_where_one_of_two_services_is_down_the_other_answers_for_it(world: World) -> None:
    gone = str(world.old.path.with_name("gone"))
    await world.proxy.route(split("shop", world.port, old=str(world.old.path), new=gone, share=50))
    assert {asked(world.port) for _ in range(20)} == {(200, b"old")}


async def test_a_link_in_the_place_of_a_socket_leads_to_nothing_else_of_this_machine(
    world: World,
) -> None:
    served = world.folder.parent
    with (
        tempfile.TemporaryDirectory(prefix="tw-") as elsewhere,
        service(Path(elsewhere), "engine") as engine,
    ):
        (served / "hostile").symlink_to(engine.path)
        await world.proxy.route(one_upstream("shop", world.port, str(served / "hostile")))
        assert asked(world.port)[0] == 502
        (served / "hostile").unlink()
        (served / "hostile").symlink_to(f"/proc/{os.getpid()}/root{engine.path}")
        assert asked(world.port)[0] == 502
        assert engine.seen == []
    # Folders are the operator's, and may be links.
    (served / "folder").symlink_to(served)
    await world.proxy.route(one_upstream("shop", world.port, str(served / "folder" / "new")))
    assert asked(world.port) == (200, b"new")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_may_have_reached_a_service_is_not_sent_twice(world: World, method: str) -> None:
    assert asked(world.port, "/broken", method=method)[0] == 502
    assert [seen["path"] for seen in world.old.seen] == ["/broken"]


def pieces(size: int) -> Iterator[bytes]:
    for start in range(0, size, 65536):
        yield b"x" * min(65536, size - start)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_large_body_arrives_whole(world: World, chunked: bool) -> None:
    size = 8_000_000
    body: object = pieces(size) if chunked else b"x" * size
    status, said = asked(world.port, "/", method="POST", body=body)
    assert (status, said) == (200, hashlib.sha256(b"x" * size).hexdigest().encode())
    assert "content-length" not in world.old.seen[0] if chunked else True


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_refused(world: World, chunked: bool) -> None:
    size = limits.BODY_BYTES + 500_000
    body: object = pieces(size) if chunked else b"x" * size
    try:
        status = asked(world.port, "/", method="POST", body=body)[0]
    except (ConnectionError, http.client.HTTPException):
        # Closed while it was still sent.
        status = 413
    assert status == 413
    assert world.old.got <= limits.BODY_BYTES
    assert asked(world.port) == (200, b"old")


async def test_an_answer_comes_piece_by_piece(world: World) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=20)
    connection.request("GET", "/pieces")
    answer = connection.getresponse()
    assert answer.read1(100) == b"first"
    world.old.go.set()
    assert answer.read() == b"second"
    connection.close()


async def test_headers_are_those_of_a_proxy(world: World) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=20)
    sent = {"X-Forwarded-For": "6.6.6.6", "Connection": "keep-alive, x-hop", "X-Hop": "1"}
    connection.request("GET", "/evil", headers={**sent, "Host": "shop.test", "X-Kept": "2"})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"evil")
    connection.close()
    assert answer.headers["X-Evil"]
    assert answer.headers["Server"] is None
    got = world.old.seen[0]
    assert (got["host"], got["x-kept"], got["x-forwarded-for"]) == ("shop.test", "2", "127.0.0.1")
    assert (got["x-forwarded-host"], got["x-forwarded-proto"]) == ("shop.test", "http")
    assert "x-hop" not in got


async def test_an_error_of_the_proxy_does_not_tell_what_serves(world: World) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=20)
    connection.request("GET", "/broken")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Server"]) == (502, None)
    connection.close()


async def test_the_log_is_json_whatever_is_asked_or_answered(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.port), timeout=20) as raw:
        path = b'/evil"},{\\x1b[31m%0a%00' + b"y" * 3000 + b"?token=secret"
        raw.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        while raw.recv(65536):
            pass
    asked(world.port, "/evil?token=secret", headers={"X-Api-Key": "secret"})
    until(lambda: len(world.log()) == 2)
    first, second = world.log()
    request = second["request"]
    assert isinstance(request, dict)
    assert (request["method"], request["uri"], second["status"]) == ("GET", "/evil", 200)
    assert (second["size"], second["logger"]) == (4, "http.log.access")
    assert 0 <= int(str(second["slot"])) < 100
    assert len(json.dumps(first)) < 2000
    assert "secret" not in (world.folder / "shop" / "access.log").read_text()


async def test_too_long_headers_are_refused(world: World) -> None:
    status, _ = asked(world.port, headers={"X-Long": "x" * 2 * limits.HEADER_BYTES})
    assert status == 431
    assert world.old.seen == []


async def test_nobody_else_can_use_its_files(world: World) -> None:
    assert stat.S_IMODE(world.folder.stat().st_mode) == 0o700
    files = [path for path in world.folder.rglob("*") if not path.is_symlink()]
    sockets = [path for path in files if path.is_socket()]
    assert len(sockets) == 1
    assert stat.S_IMODE(sockets[0].stat().st_mode) & 0o077 == 0


SLOW = {
    "headers": b"GET / HTTP/1.1\r\nHost: a\r\n",
    "body": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx",
    "idle": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
}


@pytest.mark.parametrize("what", SLOW)
@pytest.mark.parametrize("kind", ["caddy", "small"])
async def test_a_slow_client_is_cut(kind: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "IDLE_SECONDS"):
        monkeypatch.setattr(limits, name, 1)
    with tempfile.TemporaryDirectory(prefix="tw-") as name, service(Path(name), "old") as old:
        route = one_upstream("shop", free_port(), str(old.path))
        folder = Path(name) / "p"
        small, proxy = SmallServer(folder), made(kind, folder)
        # The small one's own process would have the usual patience.
        await (small.carry(route) if kind == "small" else proxy.route(route))
        try:
            said = await asyncio.to_thread(cut_off, route.port, SLOW[what])
        finally:
            await small.finish()
            await proxy.stop()
    assert (b"200 OK" in said) == (what == "idle")


def cut_off(port: int, sent: bytes) -> bytes:
    """What a client hears that says no more than this, until the other end has had enough."""
    heard = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
        raw.sendall(sent)
        while piece := raw.recv(65536):
            heard += piece
    return heard
