"""A package as its owner uses it: packages by hash, the server as its image starts it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.operating.containerfile import VENV, started
from twinsmith.core.operating.source import Source
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.flow.deliver.package import packaged
from twinsmith.kits import kit
from twinsmith.wiring.packaging import inventory, pinned

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
SOURCE = Source(
    program=assembled(CONTRACT, PIECES, kit(FLASK_KIT)), run="r-1", packages=("flask", "pyjwt")
)


HOSTILE = ["/a%22b", "/a%0ab", "/%0d%0a{", '/a"b', "/a\\q", "/a\\"]


def put(folder: Path) -> Path:
    for name, text in packaged(SOURCE, pinned(), inventory()).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_bill_of_materials_names_every_file_and_package_and_is_the_same_each_time() -> None:
    first, second = (packaged(SOURCE, pinned(), inventory())["sbom.json"] for _ in range(2))
    assert first == second
    bom = json.loads(first)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    names = {each["name"] for each in bom["components"]}
    assert {"solution.py", "kit.py", "contract.py", "flask", "pyjwt", "gunicorn"} <= names
    assert "numpy" not in names
    (flask,) = [each for each in bom["components"] if each["name"] == "flask"]
    assert flask["purl"].startswith("pkg:pypi/flask@")
    needs = {each["ref"]: each.get("dependsOn", []) for each in bom["dependencies"]}
    assert any(each.startswith("pypi:jinja2@") for each in needs[flask["bom-ref"]])


def test_a_service_serves_from_its_package_logs_json_and_drains(tmp_path: Path) -> None:
    folder = put(tmp_path / "package")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    options = ("-q", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:")
    lock = str(folder / "requirements.lock")
    pip = [str(venv / "bin/pip"), "install", "--no-deps", *options, "-r", lock]
    subprocess.run(pip, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = subprocess.Popen(
        [word.replace(VENV, str(venv)) for word in started(SOURCE)],
        cwd=folder / "app",
        env={
            "DATABASE": str(tmp_path / "data.db"),
            "GUNICORN_CMD_ARGS": f"--bind 127.0.0.1:{port}",
            "PATH": os.environ["PATH"],
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert _asked(f"http://127.0.0.1:{port}/health") == 200
        for path in HOSTILE:
            assert _raw(port, path) == 404
    finally:
        served.send_signal(signal.SIGTERM)
        out, _ = served.communicate(timeout=40)
    assert served.returncode == 0, out
    told = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert sorted(each["status"] for each in told) == [200, *[404] * len(HOSTILE)]
    assert sorted(each["path"] for each in told) == sorted(["/health", *HOSTILE])
    assert set(told[0]) == {"at", "from", "method", "path", "status", "bytes", "microseconds"}
    assert "hush" not in out


def _raw(port: int, path: str) -> int:
    """The status of an answer to a path that no honest client would send as it is."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(f"GET {path}?token=hush HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return int(plain.recv(100).split()[1])


def _asked(url: str) -> int:
    for _ in range(100):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("it never answered")
