"""A real PostgreSQL server in a temporary folder, for as long as a block lasts."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def find_server() -> Path | None:
    """The folder with the newest server's programs, or None."""
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    elsewhere = shutil.which("initdb")
    found = [*packaged, *([Path(elsewhere).resolve()] if elsewhere else [])]
    return found[0].parent if found else None


@contextmanager
def serving(binaries: Path) -> Iterator[str]:
    """Start a server on a free loopback port; yields its address without a database."""
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-pg-"))
    # The server refuses to run as root, so there it runs as the user its package made.
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    prefix = as_user if os.geteuid() == 0 else []
    if prefix:
        shutil.chown(folder, "postgres", "postgres")
    initdb = [str(binaries / "initdb"), "-D", "data", "-U", "smith", "-A", "trust", "-N"]
    subprocess.run([*prefix, *initdb], check=True, capture_output=True, cwd=folder)
    port = _free_port()
    options = ["-p", str(port), "-k", str(folder), "-c", "listen_addresses=127.0.0.1"]
    server = subprocess.Popen(
        [*prefix, str(binaries / "postgres"), "-D", "data", *options, "-c", "fsync=off"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port, server)
        yield f"postgresql://smith@127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, server: "subprocess.Popen[bytes]") -> None:
    import psycopg

    for _ in range(300):
        assert server.poll() is None, "the PostgreSQL server did not start"
        try:
            psycopg.connect(f"postgresql://smith@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the PostgreSQL server did not answer within 30 seconds")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
