"""The parts of proxies that need no network: shares, links, headers, log lines, ports, files."""

import json
import os
from pathlib import Path

import pytest

from twinsmith.adapters.proxy import links, messages
from twinsmith.adapters.proxy.access import Access, AccessLog, line
from twinsmith.adapters.proxy.detached import pid_in
from twinsmith.adapters.proxy.kept import KeptRoutes
from twinsmith.adapters.proxy.ports import sockets_at
from twinsmith.adapters.proxy.routes_json import from_json, to_json
from twinsmith.adapters.proxy.slots import slots, tidy, upstreams
from twinsmith.adapters.proxy.walls import walled
from twinsmith.core.operating.route import Route, Upstream, one_upstream, split

ROUTE = split("shop", 8101, old="/a", new="/b", share=25)


def test_shares_are_slots_and_back() -> None:
    assert slots(ROUTE.upstreams) == ("/a",) * 75 + ("/b",) * 25
    assert upstreams(slots(ROUTE.upstreams)) == ROUTE.upstreams


def test_a_tidy_route_has_real_folders_and_names_nobody_twice(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "s").symlink_to("elsewhere")
    half = Upstream(address=str(tmp_path / "link" / "s"), share=50)
    wanted = one_upstream("shop", 8101, str(tmp_path.resolve() / "real" / "s"))
    assert tidy(Route(app="shop", port=8101, upstreams=(half, half))) == wanted


def test_a_switch_is_seen_as_a_whole_and_old_ones_go(tmp_path: Path) -> None:
    assert links.linked(tmp_path) == ()
    for number, address in enumerate(("/one", "/two", "/three", "/four")):
        wanted = ("/same",) * (60 + number) + (address,) * (40 - number)
        links.switch(tmp_path, wanted)
        assert links.linked(tmp_path) == wanted
    assert len(list(tmp_path.glob("to-*"))) == 2
    links.forget(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_inside_the_walls_are_its_own_files_and_sockets_only() -> None:
    line = walled("/usr/bin/bwrap", ["/opt/caddy", "run"], Path("/run/x/p/shop"), Path("/run/x"))
    assert line[-3:] == ["--", "/opt/caddy", "run"]
    shown = [line[n + 1] for n, word in enumerate(line) if word.endswith("bind")]
    assert shown == ["/usr", "/opt/caddy", "/run/x", "/run/x/p/shop"]
    assert "--proc" not in line
    assert "--unshare-net" not in line


def test_headers_of_one_connection_are_not_sent_on() -> None:
    given = [
        *((b"host", b"shop.test"), (b"connection", b"X-Hop, close"), (b"x-hop", b"1")),
        *((b"upgrade", b"websocket"), (b"te", b"trailers"), (b"expect", b"100-continue")),
        *((b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-host", b"evil"), (b"x-kept", b"2")),
    ]
    assert messages.request_headers(given, "127.0.0.1") == [
        *((b"host", b"shop.test"), (b"x-kept", b"2"), (b"x-forwarded-for", b"127.0.0.1")),
        *((b"x-forwarded-proto", b"http"), (b"x-forwarded-host", b"shop.test")),
        (b"connection", b"close"),
    ]


def test_of_two_lengths_of_a_body_one_is_sent_on() -> None:
    both = [(b"content-length", b"4"), (b"transfer-encoding", b"chunked")]
    sent = dict(messages.request_headers(both, "127.0.0.1"))
    assert sent[b"transfer-encoding"] == b"chunked"
    assert b"content-length" not in sent
    assert messages.answer_headers([*both, (b"server", b"x")]) == []
    assert messages.answer_headers(both[:1]) == both[:1]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (b"/a?b=c", b"/a?b=c"),
        (b"*", b"*"),
        (b"http://shop.test/a?b=c", b"/a?b=c"),
        (b"http://shop.test", b"/"),
        (b"//other/a", b"//other/a"),
    ],
)
def test_a_service_is_asked_for_a_path(given: bytes, asked: bytes) -> None:
    assert messages.target(given) == asked


def access(target: bytes, *, status: int = 200, slot: int | None = 7) -> Access:
    return Access(
        at=1.5,
        client=("127.0.0.1", 4000),
        method=b"GET" * 50,
        target=target,
        slot=slot,
        status=status,
        size=2,
        seconds=0.25,
    )


def test_a_line_of_the_log_is_one_line_of_json_without_secrets() -> None:
    told = line(access(b'/\xff"\n\x1b' + b"x" * 5000 + b"?token=secret"))
    assert "\n" not in told
    found = json.loads(told)
    assert len(found["request"]["uri"]) == 1000
    assert len(found["request"]["method"]) == 32
    assert "secret" not in told
    assert (found["slot"], found["level"], found["duration"]) == ("07", "info", 0.25)
    refused = json.loads(line(access(b"/", status=502, slot=None)))
    assert (refused["slot"], refused["level"]) == ("", "error")


def test_the_log_rolls_and_two_old_files_are_kept(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "shop" / "access.log")
    for _ in range(4000):
        log.write(access(b"/" + b"x" * 999))
    log.close()
    files = sorted(path.name for path in (tmp_path / "shop").iterdir())
    assert files == ["access.log", "access.log.1", "access.log.2"]
    assert all(path.stat().st_size <= 1024 * 1024 for path in (tmp_path / "shop").iterdir())


TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1FA5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1
   1: 0100007F:1FA5 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 222 1
   2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1
   3: cut short
"""


def test_who_listens_at_a_port_is_found_in_the_kernels_table() -> None:
    assert sockets_at(8101, TABLE) == {"socket:[111]"}
    assert sockets_at(8080, TABLE) == {"socket:[333]"}
    assert sockets_at(1, TABLE) == set()


def test_a_number_that_is_another_process_by_now_is_nobodys(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    assert pid_in(file, "pytest") == 0
    file.write_text(str(os.getpid()))
    own = Path("/proc/self/cmdline").read_bytes().split(b"\0")[0].decode()
    assert pid_in(file, own) == os.getpid()
    assert pid_in(file, str(file)) == 0
    file.write_text("x")
    assert pid_in(file, own) == 0


@pytest.mark.parametrize("raw", [{}, ["x"], [{"app": "shop"}], [{"app": 1, "port": "x"}], None])
def test_what_is_no_list_of_routes_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(raw)


def test_routes_are_json_and_back() -> None:
    other = one_upstream("blog", 8102, "/c")
    assert from_json(json.loads(json.dumps(to_json([ROUTE, other])))) == (other, ROUTE)


async def test_kept_routes_are_there_for_the_next_process(tmp_path: Path) -> None:
    kept = KeptRoutes(tmp_path / "p")
    async with kept.alone():
        assert kept.routes() == {}
        kept.save({"shop": ROUTE})
    assert KeptRoutes(tmp_path / "p").routes() == {"shop": ROUTE}
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["lock", "routes.json"]
