"""What a Caddy is told, and what its configuration tells."""

import json
from pathlib import Path

from twinsmith.adapters.proxy.caddy_config import Files, command, config, known, route_of
from twinsmith.core.operating.route import Upstream, one_upstream, split

FILES = Files(place=Path("/run/p/shop"), token="00ff")
SERVERS = {"shop": {"listen": ["127.0.0.1:8101"]}}


def part(*path: str) -> object:
    found: object = config(FILES, 8101)
    for word in path:
        assert isinstance(found, dict)
        found = found[word]
    return found


def handlers() -> dict[str, dict[str, object]]:
    routes = part("apps", "http", "servers", "shop", "routes")
    assert isinstance(routes, list)
    assert len(routes) == 1
    return {handler["handler"]: handler for handler in routes[0]["handle"]}


def test_the_command_line() -> None:
    assert command("/usr/bin/caddy", FILES) == [
        *("/usr/bin/caddy", "run", "--config", "/run/p/shop/caddy-00ff.json"),
        *("--pidfile", "/run/p/shop/pid-00ff"),
    ]


def test_it_takes_orders_at_a_socket_only_and_keeps_nothing_elsewhere() -> None:
    assert part("admin") == {
        "listen": "unix//run/p/shop/ctl-00ff",
        "origins": ["twinsmith"],
        "config": {"persist": False},
    }


def test_it_listens_on_the_loopback_without_tls_and_within_limits() -> None:
    server = part("apps", "http", "servers", "shop")
    assert isinstance(server, dict)
    del server["routes"]
    assert server == {
        "listen": ["127.0.0.1:8101"],
        "protocols": ["h1"],
        "automatic_https": {"disable": True},
        "read_header_timeout": "10s",
        "read_timeout": "60s",
        "idle_timeout": "120s",
        "max_header_bytes": 65536,
        "logs": {},
    }
    assert handlers()["request_body"]["max_size"] == 10_000_000


def test_every_slot_is_an_upstream_and_nothing_is_sent_twice() -> None:
    proxy = handlers()["reverse_proxy"]
    upstreams = proxy["upstreams"]
    assert isinstance(upstreams, list)
    assert len(upstreams) == 100
    assert upstreams[0] == {"dial": "unix//run/p/shop/now/0/0"}
    assert upstreams[99] == {"dial": "unix//run/p/shop/now/9/9"}
    assert proxy["load_balancing"] == {
        "selection_policy": {"policy": "random"},
        "try_duration": "2s",
        "try_interval": "100ms",
        "retry_match": [{"method": []}],
    }
    assert proxy["transport"] == {
        "protocol": "http",
        "keep_alive": {"enabled": False},
        "compression": False,
        "response_header_timeout": "120s",
        "max_response_header_size": 65536,
    }


def test_logs_roll_and_tell_no_headers() -> None:
    logs = part("logging", "logs")
    assert isinstance(logs, dict)
    for name, file in (("access", "access.log"), ("default", "caddy.log")):
        assert logs[name]["writer"] == {
            "output": "file",
            "filename": f"/run/p/shop/{file}",
            "roll_size_mb": 1,
            "roll_keep": 2,
            "roll_gzip": False,
        }
        fields = logs[name]["encoder"]["fields"]
        gone = {field for field, how in fields.items() if how == {"filter": "delete"}}
        assert gone == {"request>headers", "request>host", "request>tls", "resp_headers"}


def test_it_is_json_and_the_same_every_time() -> None:
    assert json.loads(json.dumps(config(FILES, 8101))) == config(FILES, 8101)
    assert config(FILES, 8101) != config(FILES, 8102)


def test_a_configuration_and_its_slots_tell_the_route() -> None:
    assert route_of(SERVERS, "shop", ("/a",) * 100) == one_upstream("shop", 8101, "/a")
    found = route_of(SERVERS, "shop", ("/a",) * 93 + ("/b",) * 7)
    assert found == split("shop", 8101, old="/a", new="/b", share=7)
    assert found is not None
    assert found.upstreams[1] == Upstream(address="/b", share=7)


def test_without_a_server_or_slots_there_is_no_route() -> None:
    wrong: tuple[object, ...] = (None, [], {}, {"shop": None}, {"shop": {}}, {"blog": SERVERS})
    for servers in wrong:
        assert route_of(servers, "shop", ("/a",) * 100) is None
    assert route_of(SERVERS, "shop", ()) is None
    assert route_of(SERVERS, "shop", ("/a",) * 99) is None


def test_those_that_run_are_known_by_their_control_sockets(tmp_path: Path) -> None:
    for name in ("ctl-02", "ctl-01", "pid-01", "access.log"):
        (tmp_path / name).touch()
    assert [files.token for files in known(tmp_path)] == ["01", "02"]
    assert known(tmp_path / "nowhere") == ()
