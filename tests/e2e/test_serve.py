"""The real server: its first start, what runs beside it, its streams, and two of it as one."""

import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.certificates import certificate, in_days
from tests.conftest import DOUBLE, Command, alive, script, until
from tests.served import PASSWORD, ask, events, key_for, serving

# Each starts several processes that all want the two cores.
pytestmark = pytest.mark.xdist_group("workers")

ALL = ("read", "build", "audit")


def children(pid: int) -> list[str]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else []


@pytest.fixture
def scripted(command: Command) -> Command:
    command.use_script(script(delay=0.3))
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "0"
    return command


def test_the_first_start_prints_a_link_that_holds_once(scripted: Command) -> None:
    with serving(scripted, "--no-worker", "--no-monitor") as server:
        assert server.ask("GET", "/api/v1/health")[2]["status"] == "alive"
        token = server.link.partition("token=")[2]
        joined = f"token={token}&password={PASSWORD}&again={PASSWORD}".replace(" ", "+")
        used = [_posted(server.address + "/welcome", joined) for _ in range(2)]
        assert used == [303, 400]
    with serving(scripted, "--no-worker", "--no-monitor") as server:
        assert server.link == ""
        name = f"name=admin&password={PASSWORD}".replace(" ", "+")
        assert _posted(server.address + "/login", name) == 303


def test_a_worker_and_a_monitor_run_beside_it_and_end_with_it(scripted: Command) -> None:
    with serving(scripted) as server:
        key = {"authorization": f"Bearer {key_for(scripted, *ALL)}"}
        until(lambda: server.ask("GET", "/api/v1/ready", **key)[0] == 200)
        until(lambda: server.ask("GET", "/api/v1/ready", **key)[2]["monitor"])
        beside = children(server.process.pid)
        assert len(beside) == 2
        assert server.end() == 0
        assert not any(map(alive, beside))
    with serving(scripted) as server:
        until(lambda: len(children(server.process.pid)) == 2)
        beside = children(server.process.pid)
        subprocess.run(["kill", "-KILL", beside[0]], check=True)
        until(lambda: len({*children(server.process.pid)} - {*beside}) == 1)
        beside = children(server.process.pid)
        server.end(signal.SIGKILL)
        until(lambda: not any(map(alive, beside)))


def test_it_listens_nowhere_where_it_could_be_overheard(scripted: Command) -> None:
    refused = scripted("serve", "--host", "0.0.0.0", code=2)
    assert "is not the loopback, and there is no TLS" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = scripted("serve", "--port", port, "--no-worker", "--no-monitor", code=2)
        assert f"nobody can listen at 127.0.0.1:{port}" in refused.stderr


def test_it_speaks_tls_with_files_of_its_own_and_refuses_files_that_are_none(
    scripted: Command, tmp_path: Path
) -> None:
    both = str(certificate(tmp_path / "both.pem", in_days(30)))
    (tmp_path / "bad.pem").write_text("nonsense")
    for wrong in ("bad.pem", "absent.pem"):
        scripted.env["TWINSMITH_SERVER_CERTIFICATE"] = str(tmp_path / wrong)
        scripted.env["TWINSMITH_SERVER_CERTIFICATE_KEY"] = both
        refused = scripted("serve", "--port", "0", code=2)
        assert f"{wrong} and server.certificate_key" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    scripted.env["TWINSMITH_SERVER_CERTIFICATE"] = both
    with serving(scripted, "--no-worker", "--no-monitor") as server:
        until(lambda: server.link.startswith("https://127.0.0.1:"))
        line = ["curl", "-s", "-k", "-D", "-", f"{server.address}/api/v1/health"]
        told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
        assert "alive" in told
        assert "strict-transport-security" in told.lower()
        plain = server.address.replace("https://", "http://")
        line = ["curl", "-s", "-m", "10", f"{plain}/api/v1/health"]
        assert "alive" not in subprocess.run(line, capture_output=True, text=True).stdout  # noqa: PLW1510


def test_a_run_is_followed_and_what_was_missed_is_sent_once(scripted: Command) -> None:
    with serving(scripted, "--no-monitor") as server:
        key = {"authorization": f"Bearer {key_for(scripted, *ALL)}"}
        status, headers, begun = server.ask("POST", "/api/v1/runs", {"task": DOUBLE}, **key)
        assert (status, headers["location"]) == (202, f"/api/v1/runs/{begun['run']}")
        path = f"/api/v1/runs/{begun['run']}/events"
        first = []
        for number, _, data in events(server.address, path, **key):
            first.append((number, data["kind"]))
            if len(first) == 5:
                break
        rest = list(events(server.address, path, last_event_id="5", **key))
        told = [*first, *[(n, data["kind"]) for n, kind, data in rest if kind == "entry"]]
        kept = scripted.events(begun["run"])
        assert told == [(event["seq"], event["kind"]) for event in kept]
        assert rest[-1][1] == "end"
        over = server.ask("GET", path, last_event_id=str(len(kept)), **key)
        assert over[0] == 204
        assert server.ask("GET", f"/api/v1/runs/{begun['run']}", **key)[2]["state"] == "solved"
        program = server.ask("GET", f"/api/v1/runs/{begun['run']}/program", **key)
        assert program[1]["content-type"] == "application/zip"
        assert program[2][:2] == b"PK"


def test_of_two_servers_one_is_killed_and_nobody_notices(tmp_path: Path, postgres: str) -> None:
    if shutil.which("caddy") is None:
        pytest.skip("Caddy is not installed; run: apt-get install -y caddy")
    url = f"{postgres}/served_{time.time_ns()}"
    port = _free_port()
    commands = [Command(home=tmp_path / name) for name in ("one", "two")]
    for each in commands:
        each.env |= {
            "TWINSMITH_BUILD_ANSWER_SECONDS": "0",
            "TWINSMITH_DATABASE_URL": url,
            "TWINSMITH_SERVER_PUBLIC": f"http://127.0.0.1:{port}",
            "TWINSMITH_SERVER_PROXIES": "127.0.0.1",
            "TWINSMITH_SERVER_PER_SECOND": "1000",
        }
        each.use_script(script(delay=1.5))
    with ExitStack() as stack:
        # The public address is Caddy's: where they listen themselves is told by their sockets.
        servers = [stack.enter_context(serving(each, "--no-monitor")) for each in commands]
        ports = [_port_of(server.process.pid) for server in servers]
        site = stack.enter_context(_caddy(tmp_path, port, ports))
        key = {"authorization": f"Bearer {key_for(commands[0], *ALL)}"}
        until(lambda: ask(site, "GET", "/api/v1/ready", **key)[0] == 200)
        begun = ask(site, "POST", "/api/v1/runs", {"task": DOUBLE}, idempotency_key="x", **key)[2]
        trouble: list[object] = []
        over = threading.Event()

        def look() -> None:
            while not over.is_set():
                status, _, told = ask(site, "GET", f"/api/v1/runs/{begun['run']}", **key)
                if status != 200:
                    trouble.append((status, told))

        watching = threading.Thread(target=look)
        watching.start()
        seen: list[int] = []
        killed = False
        path, ended = f"/api/v1/runs/{begun['run']}/events", False
        deadline = time.monotonic() + 120
        while not ended:
            assert time.monotonic() < deadline, seen
            last = str(seen[-1]) if seen else "0"
            # A stream that breaks is asked for again, as a browser does by itself.
            with suppress(OSError, HTTPException):
                for number, kind, _ in events(site, path, last_event_id=last, **key):
                    seen += [number] if kind == "entry" else []
                    ended = kind == "end"
                    if len(seen) == 8 and not killed:
                        killed = True
                        servers[0].end(signal.SIGKILL)
            time.sleep(0.2)
        again = ask(site, "POST", "/api/v1/runs", {"task": DOUBLE}, idempotency_key="x", **key)
        over.set()
        watching.join()
        assert trouble == []
        assert killed
        assert seen == list(range(1, len(seen) + 1))
        assert ask(site, "GET", f"/api/v1/runs/{begun['run']}", **key)[2]["state"] == "solved"
        assert again[2]["run"] == begun["run"]
        assert again[1]["idempotency-replayed"] == "true"
        assert ask(site, "GET", "/api/v1/journal/verify", **key)[2]["ok"] is True


@contextmanager
def _caddy(folder: Path, port: int, ports: list[int]) -> Iterator[str]:
    """Caddy before both servers, as decision 15 shows it."""
    upstreams = " ".join(f"127.0.0.1:{each}" for each in ports)
    config = folder / "Caddyfile"
    config.write_text(
        f"""{{
    admin off
    auto_https off
}}
http://127.0.0.1:{port} {{
    reverse_proxy {upstreams} {{
        lb_policy round_robin
        lb_try_duration 5s
        fail_duration 2s
        flush_interval -1
    }}
}}
"""
    )
    line = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    home = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(line, env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        site = f"http://127.0.0.1:{port}"
        until(lambda: _answers(site), seconds=30)
        yield site
    finally:
        process.terminate()
        process.wait(timeout=30)


def _answers(site: str) -> bool:
    try:
        return ask(site, "GET", "/api/v1/health")[0] == 200
    except OSError:
        return False


def _port_of(pid: int) -> int:
    """The port that a process listens at."""
    sockets = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        # A file that was open a moment ago may be closed.
        with suppress(FileNotFoundError):
            sockets.add(each.readlink().name)
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
    return int(listening[0][1].rpartition(":")[2], 16)


def _posted(address: str, form: str) -> int:
    """The status of a form that was sent, without going where it leads."""
    line = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", form, address]
    return int(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
