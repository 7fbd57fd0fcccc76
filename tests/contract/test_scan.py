"""Advisories, licences and whole scans on the real things; whom nobody answers is a finding."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.sandboxes import LAYERS, sandbox
from tests.secrets_planted import TOKENS
from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.adapters.packaging.advisories_canned import CannedAdvisories
from twinsmith.adapters.packaging.licences import FILE, as_file, known_licences, licences_in
from twinsmith.adapters.packaging.pip_audit import INSTALL, PipAudit
from twinsmith.adapters.packaging.program_scanner import ProgramScanner
from twinsmith.adapters.sandbox.review import SandboxReviewer
from twinsmith.adapters.secret_rules import SecretRules
from twinsmith.core.masking import Masking
from twinsmith.core.operating.containerfile import packages_of
from twinsmith.core.operating.locked import Pin, needed
from twinsmith.core.operating.scan import NOT_SCANNED, Advisory, Policy, spelled
from twinsmith.core.operating.source import Source
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.program import Program
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit
from twinsmith.ports.scanning import Advisories
from twinsmith.wiring.packaging import inventory, pinned

SOURCE = Source(
    program=assembled(
        read_contract(PLAN, CART, login="with user accounts"), PIECES, kit(FLASK_KIT)
    ),
    packages=("flask", "pyjwt"),
)
BAD = "markupsafe"
WEAK = {
    "id": "PYSEC-2026-1",
    "aliases": ["CVE-2026-1"],
    "summary": "reads any file",
    "affected": [
        {
            "package": {"name": BAD, "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
        }
    ],
}
KNOWN = Advisory(
    name="PYSEC-2026-1", aliases=("CVE-2026-1",), fixed_in=("99.0",), summary="reads any file"
)


class Database(BaseHTTPRequestHandler):
    """Answers as databases of the Open Source Vulnerabilities format do, about one package."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = {"vulns": [WEAK]} if asked["package"]["name"] == BAD else {}
        data = json.dumps(found).encode()
        self.send_response(503 if self.path == "/broken" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Database) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def audit(url: str) -> PipAudit:
    if find_spec("pip_audit") is None:
        pytest.skip(f"pip-audit is not installed; run: {INSTALL}")
    return PipAudit(osv_url=url)


@pytest.fixture(params=["canned", "pip-audit"])
def knowing(request: pytest.FixtureRequest, database: str) -> Advisories:
    if request.param == "canned":
        return CannedAdvisories({BAD: (KNOWN,)})
    return audit(f"{database}/query")


@pytest.fixture(params=["canned", "pip-audit", "pip-audit, refused", "pip-audit, too slow"])
def silent(request: pytest.FixtureRequest, database: str) -> Advisories:
    match request.param:
        case "canned":
            return CannedAdvisories({BAD: (KNOWN,)}, unasked="nobody is there")
        case "pip-audit":
            return audit("http://127.0.0.1:9/query")
        case "pip-audit, refused":
            return audit(f"{database}/broken")
    audit(database)
    return PipAudit(osv_url=f"{database}/query", seconds=0.01)


def some_pins() -> tuple[Pin, ...]:
    """Four, one of them in two versions."""
    return tuple(pin for pin in pinned() if pin.name in (BAD, "jinja2", "numpy"))


async def test_what_is_known_of_a_version_is_told(knowing: Advisories) -> None:
    advised = await knowing.known(some_pins())
    (bad,) = [spelled(pin) for pin in some_pins() if pin.name == BAD]
    assert dict(advised.known) == {bad: (KNOWN,)}
    assert not advised.unasked


async def test_where_nobody_can_be_asked_that_is_told_of_every_package(silent: Advisories) -> None:
    advised = await silent.known(some_pins())
    assert not advised.known
    assert set(advised.unasked) == set(map(spelled, some_pins()))
    assert len(advised.unasked) == 4
    assert all(advised.unasked.values())


async def test_nothing_is_asked_about_nothing(silent: Advisories) -> None:
    advised = await silent.known(())
    assert (advised.known, advised.unasked) == ({}, {})


async def test_licences_are_those_of_the_packages_that_are_installed() -> None:
    sandbox()
    layer = await LAYERS.layer(Program(source="import flask\n", kind="cli"))
    assert layer is not None
    installed, kept = licences_in(layer), known_licences()
    assert len(installed) > 30
    again = "python -m twinsmith.adapters.packaging.licences LOCK"
    assert {name: kept.get(name) for name in installed} == installed, again
    assert set(kept) == set(map(spelled, pinned())), again
    assert FILE.read_text(encoding="utf-8") == as_file(kept)


def test_a_bill_of_materials_names_licences() -> None:
    pins = needed(pinned(), packages_of(SOURCE))
    first, second = (inventory().sbom(SOURCE, pins) for _ in range(2))
    assert first == second
    parts = {each["name"]: each.get("licenses") for each in json.loads(first)["components"]}
    assert parts["flask"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert parts["jinja2"] == [{"license": {"name": "BSD License"}}]
    assert all(parts[pin.name] for pin in pins)
    assert parts["solution.py"] is None
    bound = Source(program=Program(source="import jwt\n", kind="cli"), packages=("cryptography",))
    text = inventory().sbom(bound, needed(pinned(), ["cryptography"]))
    (found,) = [e for e in json.loads(text)["components"] if e["name"] == "cryptography"]
    assert found["licenses"] == [{"expression": "Apache-2.0 OR BSD-3-Clause"}]


def scanner(advisories: Advisories, policy: Policy | None = None) -> ProgramScanner:
    return ProgramScanner(
        reviewer=SandboxReviewer(sandbox()),
        advisories=advisories,
        pins=pinned(),
        licences=known_licences(),
        masking=Masking(rules=SecretRules((Path.home() / ".cache" / "twinsmith",))),
        policy=policy or Policy(),
    )


async def test_a_framed_service_may_be_released() -> None:
    seen = await scanner(CannedAdvisories()).scan(SOURCE)
    assert seen.blocking == ()
    assert seen.risk == "low", seen.findings
    assert any(NOT_SCANNED in each for each in seen.findings)


async def test_without_a_network_it_may_be_released_and_says_so() -> None:
    seen = await scanner(CannedAdvisories(unasked="no network")).scan(SOURCE)
    assert (seen.blocking, seen.risk) == ((), "low")
    assert any("could not be asked" in each and "no network" in each for each in seen.findings)


async def test_each_kind_of_finding_blocks_a_bad_program() -> None:
    token = TOKENS["Stripe"]
    source = (
        "import subprocess\nimport flask\n"
        f"KEY = {token!r}\nSECRET_KEY = 'changeme-now'\n"
        "subprocess.run(input(), shell=True)\n"
    )
    bad = Source(program=Program(source=source, kind="service"), packages=("flask",))
    policy = Policy(licences=frozenset({"MIT"}), licence="medium")
    seen = await scanner(CannedAdvisories({BAD: (KNOWN,)}), policy).scan(bad)
    assert {each.split()[1] for each in seen.blocking} == {
        "code:",
        "secret:",
        "dependency:",
        "licence:",
    }
    assert seen.risk == "critical"
    said = "\n".join(seen.findings)
    assert token not in said
    assert "changeme-now" not in said
    assert any("bandit B602" in each for each in seen.blocking)


async def test_a_program_without_packages_needs_no_licences() -> None:
    plain = Source(
        program=Program(source="int main(void) { return 0; }\n", language="c", kind="cli")
    )
    seen = await scanner(CannedAdvisories(unasked="no network")).scan(plain)
    assert [each for each in seen.findings if NOT_SCANNED not in each] == []
