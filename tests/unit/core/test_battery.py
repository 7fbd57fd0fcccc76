"""Which attacks a contract calls for, and what the passwords left behind are found by."""

import ast
import base64
import hashlib
from collections import Counter
from dataclasses import replace

import pytest

from tests import contracts
from tests.attacked import CONTRACT
from twinsmith.core.operating.battery import (
    ATTACKS,
    MARKED_PASSWORD,
    Attack,
    attack_of,
    battery,
    password_findings,
)
from twinsmith.core.planning.contract import Contract
from twinsmith.core.probe import Probes
from twinsmith.core.services.http_words import PASSWORD_MARK


def routes(probes: Probes, attack: Attack) -> list[str]:
    names = [each.name for each in probes.checks if attack_of(each.name) == attack]
    return [name.partition(": ")[2] for name in names]


def test_every_attack_is_tried_where_there_is_something_to_try_it_on() -> None:
    probes = battery(CONTRACT)
    guarded = [f"{each.method} {each.path}" for each in CONTRACT.operations if each.login]
    assert routes(probes, "missing authentication") == guarded
    of_one = [each for each in guarded if each.endswith("{id}")]
    assert routes(probes, "objects of others") == of_one
    taking = ["POST /register", *guarded, "GET /files/{name}", "POST /sums"]
    assert routes(probes, "SQL injection") == [*taking, "logging in"]
    assert routes(probes, "path traversal") == [*taking, "paths that were never offered"]
    assert routes(probes, "code injection") == taking
    every = [f"{each.method} {each.path}" for each in CONTRACT.operations]
    assert set(every) < set(routes(probes, "secrets in answers"))
    assert set(every) < set(routes(probes, "verbose errors"))
    counted = Counter(attack_of(each.name) for each in probes.checks)
    assert (counted["header bombs"], counted["body bombs"], counted["slow clients"]) == (4, 4, 2)
    assert counted["plain passwords"] == 1


def test_where_nobody_logs_in_nobody_is_kept_out() -> None:
    kinds = {attack_of(each.name) for each in battery(contracts.NOTES).checks}
    missing = {"missing authentication", "objects of others", "plain passwords"}
    assert kinds == set(ATTACKS) - missing


def test_where_nobody_can_register_strangers_are_still_kept_out() -> None:
    rest = (each for each in CONTRACT.operations if each.part != "register")
    probes = battery(replace(CONTRACT, operations=tuple(rest)))
    assert routes(probes, "missing authentication")
    assert not routes(probes, "objects of others")
    assert routes(probes, "SQL injection") == ["GET /files/{name}", "POST /sums"]


@pytest.mark.parametrize("shared", [(), ("/notes",)])
def test_things_that_all_share_belong_to_nobody(shared: tuple[str, ...]) -> None:
    assert bool(routes(battery(CONTRACT, shared=shared), "objects of others")) is not bool(shared)


def test_what_anybody_may_make_belongs_to_nobody() -> None:
    create = next(each for each in CONTRACT.operations if each.function == "create_note")
    rest = (each for each in CONTRACT.operations if each is not create)
    public = replace(CONTRACT, operations=(*rest, replace(create, login=False)))
    assert routes(battery(public), "objects of others") == []


@pytest.mark.parametrize(
    "contract", [CONTRACT, contracts.ACCOUNTS, contracts.NOTES, contracts.SHORTENER]
)
def test_attacks_are_code_that_starts_nothing_and_ends_with_a_look_at_the_service(
    contract: Contract,
) -> None:
    probes = battery(contract)
    ast.parse(probes.setup)
    assert len({each.name for each in probes.checks}) == len(probes.checks)
    for each in probes.checks:
        ast.parse(each.source)
        assert each.source.endswith("\nalive()")
        assert not each.fresh
        assert set(each.functions) <= {known.function for known in contract.operations}


def test_the_words_know_the_routes_and_nothing_of_the_secrets() -> None:
    digest = hashlib.sha256(b"s3cr3t").hexdigest()
    space = {}
    for node in ast.parse(battery(CONTRACT, hidden=[digest]).setup).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                space[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    assert [each["what"] for each in space["AIMS"]] == [
        f"{each.method} {each.path}" for each in CONTRACT.operations
    ]
    assert space["ENTERING"] == ("username",)
    assert space["HIDDEN"] == (digest,)
    assert space["MARK"] == PASSWORD_MARK
    assert "solution.py" in space["OWN_FILES"]


def test_a_probe_of_another_kind_is_no_attack() -> None:
    with pytest.raises(ValueError, match="names no attack"):
        attack_of("registers a new user")


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (b"ann|Canary!7-somebody-pw|", "in plain"),
        (base64.b64encode(MARKED_PASSWORD.encode()), "as good as plain"),
        (MARKED_PASSWORD.encode().hex().encode(), "as good as plain"),
        (hashlib.md5(MARKED_PASSWORD.encode()).hexdigest().encode(), "as good as plain"),
        (hashlib.sha256(MARKED_PASSWORD.encode()).digest(), "as good as plain"),
    ],
)
def test_a_password_is_found_in_what_a_service_keeps(text: bytes, how: str) -> None:
    (finding,) = password_findings({"service.db": b"\0\0" + text + b"\0", "other": b"nothing"})
    assert (finding.where, finding.severity) == ("service.db", "blocking")
    assert how in finding.evidence
    assert PASSWORD_MARK not in finding.evidence


def test_a_salted_slow_hash_is_no_password() -> None:
    slow = hashlib.scrypt(MARKED_PASSWORD.encode(), salt=b"salt", n=2, r=1, p=1)
    assert password_findings({"service.db": slow + slow.hex().encode()}) == ()
