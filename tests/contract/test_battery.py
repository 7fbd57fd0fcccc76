"""Good services withstand the battery in the real sandbox; each hole is found by its probe."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

import pytest

from tests import contracts
from tests.attacked import CONTRACT, DEADLY, HOLES, IN_PLAIN, ONE_AT_A_TIME, SERVICE, Change
from tests.sandboxes import sandbox
from tests.service_scripts import CART, PIECES, PLAN
from tests.services import ACCOUNTS, NOTES, NOTES_IN_PIECES
from twinsmith.core.execution import Limits
from twinsmith.core.operating.battery import ATTACKS, MARKED_PASSWORD, attack_of, battery
from twinsmith.core.operating.containerfile import PORT, started
from twinsmith.core.operating.source import Source
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import MODULE, Program, SourceFile
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

CART_CONTRACT = read_contract(PLAN, CART, login="with user accounts")
LIMITS = Limits(probe_seconds=PROBE_SECONDS, cpu_seconds=CPU_SECONDS)
SLOW = "slow clients"
# Flask's own server, made for development, grows until it is killed by a chunk that ends too early.
DEVELOPMENT = """app.run(host="127.0.0.1", port=int(os.environ["PORT"]))"""
THREADED = """
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

make_server("127.0.0.1", int(os.environ["PORT"]), app, Server).serve_forever()
"""
SERVED = """
import runpy, sys
sys.argv = {words!r}
runpy.run_module("gunicorn", run_name="__main__")
"""


def service(source: str) -> Program:
    return Program(source=source, kind="service")


def served(program: Program) -> Program:
    """A framed service as its image starts it."""
    *words, app = started(Source(program=program))[2:]
    own = ["--bind", f"127.0.0.1:{PORT}", app.replace(MODULE, "framed")]
    main = SERVED.format(words=[*words, *own])
    files = (*program.files, SourceFile(name="framed.py", text=program.source))
    return replace(program, source=main, files=files, requires=("flask", "pyjwt"))


def with_changes(source: str, changes: Iterable[Change]) -> str:
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} stands there {source.count(old)} times"
        source = source.replace(old, new)
    return source


async def failed(program: Program, probes: Probes) -> dict[str, str]:
    execution = await sandbox().run(program, probes, LIMITS)
    assert len(execution.results) == len(probes.checks), execution.problem
    return {r.name: f"{r.outcome}: {r.detail}" for r in execution.results if r.outcome != "passed"}


def only(probes: Probes, kinds: Iterable[str]) -> Probes:
    """The probes of some kinds of attacks, known by any name of such a probe."""
    wanted = {attack_of(kind) for kind in kinds}
    return replace(probes, checks=tuple(p for p in probes.checks if attack_of(p.name) in wanted))


GOOD: Mapping[str, tuple[Program, Contract]] = {
    "all there is": (service(SERVICE), CONTRACT),
    "accounts": (service(ACCOUNTS.replace(DEVELOPMENT, THREADED)), contracts.ACCOUNTS),
    "notes": (service(NOTES), contracts.NOTES),
    "framed, started by hand": (
        assembled(contracts.NOTES, NOTES_IN_PIECES, kit(FLASK_KIT)),
        contracts.NOTES,
    ),
    "framed, as its image starts it": (
        served(assembled(CART_CONTRACT, PIECES, kit(FLASK_KIT))),
        CART_CONTRACT,
    ),
}


@pytest.mark.parametrize("name", GOOD)
async def test_a_good_service_withstands_everything(name: str) -> None:
    program, contract = GOOD[name]
    assert await failed(program, battery(contract)) == {}


async def test_a_battery_can_be_tried_twice_on_one_service() -> None:
    probes = only(battery(CONTRACT), [each for each in ATTACKS if each != SLOW])
    twice = replace(probes, checks=(*probes.checks, *probes.checks))
    assert await failed(service(SERVICE), twice) == {}


@pytest.mark.parametrize("hole", HOLES)
async def test_each_hole_is_found_by_its_probes_and_no_others(hole: str) -> None:
    changes, names = HOLES[hole]
    probes = only(battery(CONTRACT), names)
    found = await failed(service(with_changes(SERVICE, changes)), probes)
    assert tuple(found) == names, found


@pytest.mark.parametrize("hole", DEADLY)
async def test_what_ends_a_service_is_found_by_its_probe(hole: str) -> None:
    change, name = DEADLY[hole]
    probes = only(battery(CONTRACT), [name])
    found = await failed(service(with_changes(SERVICE, [change])), probes)
    assert next(iter(found)) == name, found
    assert "no longer answers" in found[name]


async def test_a_server_for_development_is_ended_by_a_chunk() -> None:
    found = await failed(service(ACCOUNTS), only(battery(contracts.ACCOUNTS), ["body bombs"]))
    assert list(found) == ["body bombs: garbage in chunks"]


async def test_a_server_that_waits_for_each_client_is_stopped_by_slow_ones() -> None:
    waiting = service(with_changes(SERVICE, [ONE_AT_A_TIME]))
    found = await failed(waiting, only(battery(CONTRACT), [SLOW]))
    assert list(found) == ["slow clients: of headers", "slow clients: of bodies"]


async def test_a_secret_is_known_by_its_digest_wherever_it_is_shown() -> None:
    digest = sha256(b"s3cr3t-of-the-app").hexdigest()
    health = '        return 200, {"status": "ok"}'
    told = '        return 200, {"status": "ok", "build": "s3cr3t-of-the-app"}'
    shows = service(with_changes(SERVICE, [(health, told)]))
    probes = only(battery(CONTRACT, hidden=[digest]), ["secrets in answers"])
    found = await failed(shows, probes)
    assert list(found) == ["secrets in answers: GET /health"]


async def test_what_all_users_share_may_be_read_by_all() -> None:
    changes, names = HOLES["notes of others are read"]
    shared = with_changes(SERVICE, changes)
    assert await failed(service(shared), only(battery(CONTRACT), names))
    probes = only(battery(CONTRACT, shared=["/notes"]), ["missing authentication", *names])
    assert await failed(service(shared), probes) == {}


@pytest.mark.parametrize(("changes", "kept"), [((), ""), ((IN_PLAIN,), "service.db")])
async def test_the_marked_password_reaches_what_keeps_it_in_plain(
    changes: tuple[Change, ...], kept: str
) -> None:
    probes = battery(CONTRACT)
    looks = f"assert stored({MARKED_PASSWORD!r}).endswith({kept!r})"
    if not kept:
        looks = f"assert not stored({MARKED_PASSWORD!r})"
    left = only(probes, ["plain passwords"]).checks
    checks = (*left, Probe(name="on the disk", origin="plan", source=looks))
    plain = with_changes(SERVICE, changes)
    if changes:
        plain = with_changes(plain, [("hashed(password, found[0][0])", "password")])
    assert len(checks) == 2
    assert await failed(service(plain), replace(probes, checks=checks)) == {}


def test_every_kind_of_attack_has_a_service_that_falls_to_it() -> None:
    names = {name for _, several in HOLES.values() for name in several}
    names |= {name for _, name in DEADLY.values()}
    assert {*map(attack_of, names), SLOW, "plain passwords"} == set(ATTACKS)
    assert {attack_of(each.name) for each in battery(CONTRACT).checks} == set(ATTACKS)


async def test_our_frame_refuses_what_it_cannot_take_and_says_why() -> None:
    program, contract = GOOD["framed, started by hand"]
    deep = """
headers = {"Content-Type": "application/json"}
reply = http("POST", "/notes", body="[" * 20_000, headers=headers)
assert reply.status == 400 and "less deep" in reply.text
"""
    chunks = r"""
head = "POST /notes HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST
said = spoken(head.encode() + b"0\r\n\r\n")
assert b" 411 " in said and b"Content-Length" in said, said
"""
    checks = [
        Probe(name=f"{n}", origin="plan", source=each) for n, each in enumerate((deep, chunks))
    ]
    assert await failed(program, replace(battery(contract), checks=tuple(checks))) == {}
