"""A real Neo4j 5 from its Maven artifacts, in a temporary folder, for as long as a block lasts."""

import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = Path(
    os.environ.get("TWINSMITH_TEST_NEO4J", Path.home() / ".cache" / "twinsmith-tests" / "neo4j")
)
VERSION = "5.26.30"
OLDEST_JAVA = 17
USER, PASSWORD = "neo4j", "a password of tests"
INSTALL = "apt-get install -y default-jre-headless maven"
FETCH_SECONDS = 600
_PROJECT = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>tests</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""
_SETTINGS = """server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=32m
dbms.usage_report.enabled=false
"""


def class_path() -> str:
    """Where its classes lie, fetched once for all test runs; skips where they cannot be had."""
    missing = [command for command in ("java", "mvn") if shutil.which(command) is None]
    if missing:
        pytest.skip(f"Neo4j needs {' and '.join(missing)}; run: {INSTALL}")
    if _java() < OLDEST_JAVA:
        pytest.skip(f"Neo4j needs Java {OLDEST_JAVA}, this is {_java()}; install a newer one")
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = FOLDER / f"classes-{VERSION}"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not known.exists():
            _fetch(known)
    return known.read_text().strip()


@contextmanager
def serving() -> Iterator[str]:
    """Start a server on a free loopback port; yields its address with the user."""
    classes = class_path()
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-neo4j-"))
    port = _free_port()
    (folder / "neo4j.conf").write_text(_SETTINGS.format(port=port))
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes]
    home = [f"--home-dir={folder}", f"--config-dir={folder}"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*java, "org.neo4j.server.CommunityEntryPoint", *home], stdout=log, stderr=log
        )
    try:
        _wait(port, server, folder / "log")
        _set_password(f"bolt://127.0.0.1:{port}")
        yield f"bolt://{USER}@127.0.0.1:{port}"
    finally:
        # At once: nobody reads again what it would write down in order.
        server.kill()
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def _fetch(known: Path) -> None:
    """150 MB; Maven compares every file with its checksum, and the list is written last."""
    (FOLDER / "pom.xml").write_text(_PROJECT)
    line = ["mvn", "--batch-mode", "--quiet", "--strict-checksums", "-f", str(FOLDER / "pom.xml")]
    line += [f"-Dmaven.repo.local={FOLDER / 'artifacts'}", "dependency:build-classpath"]
    line += ["-DincludeScope=runtime", f"-Dmdep.outputFile={known}"]
    try:
        subprocess.run(line, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS)
    except (subprocess.SubprocessError, OSError) as error:
        said = str(getattr(error, "stdout", "") or error).strip().splitlines()
        pytest.skip(f"Neo4j {VERSION} cannot be fetched by Maven here: {said[0][:200]}")


def _java() -> int:
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else 0


def _wait(port: int, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, f"Neo4j did not start: {log.read_text()[-500:]}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("Neo4j did not answer within a minute")


def _set_password(address: str) -> None:
    """A new server lets its first user in only to change the password."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(address, auth=(USER, USER)) as driver:
        driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
            {"old": USER, "new": PASSWORD},
            database_="system",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
