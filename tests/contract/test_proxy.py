"""What every proxy must do: the fake, Caddy, and the small one."""

import os
import signal
import socket
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import alive, until
from tests.upstreams import Service, asked, asked_at, free_port, service
from twinsmith.adapters.proxy.caddy import INSTALL, CaddyCarrier, caddy_proxy, why_not_caddy
from twinsmith.adapters.proxy.memory import MemoryProxy
from twinsmith.adapters.proxy.small import SmallCarrier, small_proxy
from twinsmith.adapters.proxy.standing import StandingProxy
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.route import Route, Upstream, one_upstream, split


@dataclass
class World:
    """A proxy, its folder, and two services."""

    kind: str
    folder: Path
    proxy: MemoryProxy | StandingProxy
    old: Service
    new: Service

    def get(self, port: int) -> tuple[int, str]:
        """Status and body of an answer; the fake only says who would give it."""
        if isinstance(self.proxy, MemoryProxy):
            address = self.proxy.chosen(port)
            status, body = asked_at(address) if address else (0, b"")
        else:
            status, body = asked(port)
        return status, body.decode()

    def pids(self) -> list[int]:
        if self.kind == "memory":
            return []
        caddy, small = CaddyCarrier(self.folder, self.folder), SmallCarrier(self.folder)
        return list((caddy if self.kind == "caddy" else small).pids().values())

    def kill(self) -> None:
        """What `kill -9` does to all processes of the proxy."""
        if isinstance(self.proxy, MemoryProxy):
            return self.proxy.die()
        pids = self.pids()
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return until(lambda: not any(alive(str(pid)) for pid in pids))


@pytest.fixture(params=["memory", "caddy", "small"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    with ExitStack() as stack:
        # Paths of sockets are short.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tw-")))
        old = stack.enter_context(service(folder, "old"))
        new = stack.enter_context(service(folder, "new"))
        proxy = made(request.param, folder / "p")
        yield World(kind=request.param, folder=folder / "p", proxy=proxy, old=old, new=new)
        await proxy.stop()


def made(kind: str, folder: Path) -> MemoryProxy | StandingProxy:
    match kind:
        case "memory":
            return MemoryProxy()
        case "small":
            return small_proxy(folder)
    if missing := why_not_caddy():
        pytest.skip(missing)
    return caddy_proxy(folder)


async def test_requests_go_where_they_are_sent_and_the_proxy_tells_so(world: World) -> None:
    assert await world.proxy.current() == ()
    port = free_port()
    for upstream in (world.old, world.new, world.old):
        route = one_upstream("shop", port, str(upstream.path))
        await world.proxy.route(route)
        assert world.get(port) == (200, upstream.name)
        assert await world.proxy.current() == (route,)


@pytest.mark.parametrize("share", [5, 50])
async def test_an_upstream_gets_its_share(world: World, share: int) -> None:
    port = free_port()
    route = split("shop", port, old=str(world.old.path), new=str(world.new.path), share=share)
    await world.proxy.route(route)
    assert await world.proxy.current() == (route,)
    requests = 500
    who = Counter(world.get(port) for _ in range(requests))
    assert set(who) == {(200, "old"), (200, "new")}
    # Five standard deviations: once in two million runs it is not so.
    spread = 5 * (requests * share / 100 * (1 - share / 100)) ** 0.5
    assert abs(who[200, "new"] - requests * share / 100) <= spread


async def test_two_apps_know_nothing_of_one_another(world: World) -> None:
    shop, blog = free_port(), free_port()
    one = one_upstream("shop", shop, str(world.old.path))
    other = one_upstream("blog", blog, str(world.new.path))
    await world.proxy.route(one)
    await world.proxy.route(other)
    assert await world.proxy.current() == (other, one)
    assert (world.get(shop), world.get(blog)) == ((200, "old"), (200, "new"))
    await world.proxy.drop("shop")
    assert await world.proxy.current() == (other,)
    assert (world.get(shop), world.get(blog)) == ((0, ""), (200, "new"))
    await world.proxy.drop("shop")
    await world.proxy.route(one)
    assert (world.get(shop), world.get(blog)) == ((200, "old"), (200, "new"))


async def test_an_app_can_move_to_another_port(world: World) -> None:
    before, after = free_port(), free_port()
    await world.proxy.route(one_upstream("shop", before, str(world.old.path)))
    moved = one_upstream("shop", after, str(world.new.path))
    await world.proxy.route(moved)
    assert await world.proxy.current() == (moved,)
    until(lambda: world.get(before) == (0, ""))
    assert world.get(after) == (200, "new")


async def test_a_port_of_another_app_is_refused_and_all_stays_as_it_was(world: World) -> None:
    shop, blog = free_port(), free_port()
    routes = (
        one_upstream("blog", blog, str(world.new.path)),
        one_upstream("shop", shop, str(world.old.path)),
    )
    for route in routes:
        await world.proxy.route(route)
    for app in ("blog", "third"):
        with pytest.raises(ConfigError, match=f"port {shop} of app {app} is .*give another port"):
            await world.proxy.route(one_upstream(app, shop, str(world.old.path)))
    assert await world.proxy.current() == routes
    assert not await world.proxy.ensure()
    assert (world.get(shop), world.get(blog)) == ((200, "old"), (200, "new"))


@pytest.mark.parametrize("moves", [False, True])
async def test_a_strangers_port_is_refused_and_all_stays_as_it_was(
    world: World, moves: bool
) -> None:
    mine = free_port()
    route = one_upstream("shop", mine, str(world.old.path))
    await world.proxy.route(route)
    with socket.socket() as stranger:
        # Caddy, too, opens its ports so that others of the same user may have them as well.
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        taken: int = stranger.getsockname()[1]
        if isinstance(world.proxy, MemoryProxy):
            world.proxy.taken.add(taken)
        app = "shop" if moves else "blog"
        with pytest.raises(ConfigError, match=f"port {taken} of app {app} is taken") as refused:
            await world.proxy.route(one_upstream(app, taken, str(world.new.path)))
        if world.kind != "memory":
            assert f"process {os.getpid()} (" in str(refused.value)
    assert await world.proxy.current() == (route,)
    assert not await world.proxy.ensure()
    assert world.get(mine) == (200, "old")


async def test_a_killed_proxy_comes_back_with_all_routes(world: World) -> None:
    shop, blog = free_port(), free_port()
    routes = (
        one_upstream("blog", blog, str(world.new.path)),
        split("shop", shop, old=str(world.old.path), new=str(world.new.path), share=30),
    )
    for route in routes:
        await world.proxy.route(route)
    assert not await world.proxy.ensure()
    world.kill()
    assert await world.proxy.current() == ()
    assert world.get(blog) == (0, "")
    assert await world.proxy.ensure()
    assert not await world.proxy.ensure()
    assert await world.proxy.current() == routes
    assert world.get(blog) == (200, "new")
    assert world.get(shop)[0] == 200


async def test_the_next_call_revives_a_killed_proxy_with_all_routes(world: World) -> None:
    shop, blog = free_port(), free_port()
    await world.proxy.route(one_upstream("blog", blog, str(world.new.path)))
    await world.proxy.route(one_upstream("shop", shop, str(world.old.path)))
    world.kill()
    await world.proxy.route(one_upstream("shop", shop, str(world.new.path)))
    assert (world.get(shop), world.get(blog)) == ((200, "new"), (200, "new"))
    world.kill()
    await world.proxy.drop("shop")
    assert (world.get(shop), world.get(blog)) == ((0, ""), (200, "new"))


async def test_a_stopped_proxy_keeps_its_routes(world: World) -> None:
    port = free_port()
    route = one_upstream("shop", port, str(world.old.path))
    await world.proxy.route(route)
    await world.proxy.stop()
    await world.proxy.stop()
    assert (world.pids(), world.get(port)) == ([], (0, ""))
    assert await world.proxy.current() == ()
    assert await world.proxy.ensure()
    assert await world.proxy.current() == (route,)
    assert world.get(port) == (200, "old")


async def test_a_service_that_is_down_gives_502_and_other_apps_go_on(world: World) -> None:
    shop, blog = free_port(), free_port()
    await world.proxy.route(one_upstream("shop", shop, str(world.old.path.with_name("nobody"))))
    await world.proxy.route(one_upstream("blog", blog, str(world.new.path)))
    assert world.get(shop)[0] == 502
    assert world.get(blog) == (200, "new")


WRONG = {
    "add up to 90": Route(
        app="shop",
        port=8000,
        upstreams=(Upstream(address="/a", share=50), Upstream(address="/b", share=40)),
    ),
    "add up to 0": Route(app="shop", port=8000, upstreams=()),
    "no absolute path": one_upstream("shop", 8000, "a.sock"),
    "cannot be the name of an app": one_upstream("../shop", 8000, "/a"),
    "port 0": one_upstream("shop", 0, "/a"),
    "port 70000": one_upstream("shop", 70000, "/a"),
}


@pytest.mark.parametrize("said", WRONG)
async def test_what_is_no_route_is_refused(world: World, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        await world.proxy.route(WRONG[said])
    assert await world.proxy.current() == ()


async def test_an_upstream_without_a_share_is_none(world: World) -> None:
    port = free_port()
    both = (Upstream(address=str(world.old.path)), Upstream(address=str(world.new.path), share=0))
    await world.proxy.route(Route(app="shop", port=port, upstreams=both))
    assert await world.proxy.current() == (one_upstream("shop", port, str(world.old.path)),)


def test_people_are_told_what_a_proxy_lacks(tmp_path: Path) -> None:
    assert caddy_proxy(tmp_path).lacks == ()
    assert "no TLS" in small_proxy(tmp_path).lacks[0]


@pytest.mark.parametrize("missing", ["caddy", "bwrap"])
async def test_without_caddy_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    found = {"caddy": "/usr/bin/caddy", "bwrap": "/usr/bin/bwrap", missing: ""}
    monkeypatch.setattr("twinsmith.adapters.proxy.caddy._program", found.__getitem__)
    told = f"{missing} is not installed; {INSTALL}"
    assert why_not_caddy() == told
    with pytest.raises(HostError, match=told):
        await caddy_proxy(tmp_path / "p").route(
            one_upstream("shop", free_port(), str(tmp_path / "a"))
        )


async def test_a_socket_that_caddy_does_not_see_is_refused(tmp_path: Path) -> None:
    proxy = caddy_proxy(tmp_path / "p", tmp_path / "sockets")
    with pytest.raises(ConfigError, match=r"is not below .*sockets, and Caddy sees no others"):
        await proxy.route(one_upstream("shop", free_port(), str(tmp_path / "a")))


async def test_a_folder_that_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    if missing := why_not_caddy():
        pytest.skip(missing)
    folder = tmp_path / ("x" * 100)
    with pytest.raises(ConfigError, match="characters too long for its sockets"):
        await caddy_proxy(folder).route(one_upstream("shop", free_port(), str(tmp_path / "a")))


async def test_a_damaged_file_of_routes_is_named(world: World) -> None:
    if world.kind == "memory":
        return
    world.folder.mkdir()
    (world.folder / "routes.json").write_text('[{"app": 1}]')
    with pytest.raises(HostError, match=r"routes\.json is damaged: no route; remove it"):
        await world.proxy.ensure()
