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
from twinsmith.core.operating.containerfile import PORT, VENV, started
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
    subprocess.run([str(venv / "bin/pip"), "install", *options, "-r", lock], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        word.replace(VENV, str(venv)).replace(f"0.0.0.0:{PORT}", f"127.0.0.1:{port}")
        for word in started(SOURCE)
    ]
    served = subprocess.Popen(
        words,
        cwd=folder / "app",
        env={"DATABASE": str(tmp_path / "data.db"), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert _asked(f"http://127.0.0.1:{port}/health") == 200
        assert _asked(f"http://127.0.0.1:{port}/nothing%22here") == 404
    finally:
        served.send_signal(signal.SIGTERM)
        out, _ = served.communicate(timeout=40)
    assert served.returncode == 0, out
    told = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert [(each["method"], each["status"]) for each in told] == [("GET", 200), ("GET", 404)]


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
