"""pip-audit's output as advisories: whatever it could not ask about is told."""

import json
from pathlib import Path

from twinsmith.adapters.packaging.licences import as_file, download_args
from twinsmith.adapters.packaging.pip_audit import audit_args, read_audit, rounds
from twinsmith.core.operating.locked import Pin

PINS = [
    Pin(name=name, version="1.0", lines=(), needed_by=frozenset())
    for name in ("good", "bad", "odd")
]
BAD = {
    "id": "PYSEC-2026-1",
    "fix_versions": ["1.1", "2.0"],
    "aliases": ["CVE-2026-1"],
    "description": "reads\nany file",
}


def said(*rows: object) -> str:
    return json.dumps({"dependencies": rows, "fixes": []})


def test_what_it_knows_and_what_it_could_not_ask() -> None:
    out = said(
        {"name": "good", "version": "1.0", "vulns": []},
        {"name": "bad", "version": "1.0", "vulns": [BAD]},
        {"name": "odd", "skip_reason": "not found " + "x" * 999},
    )
    advised = read_audit(out, "", PINS)
    assert list(advised.known) == ["bad==1.0"]
    (advisory,) = advised.known["bad==1.0"]
    assert (advisory.name, advisory.fixed_in) == ("PYSEC-2026-1", ("1.1", "2.0"))
    assert (advisory.aliases, advisory.summary) == (("CVE-2026-1",), "reads any file")
    assert list(advised.unasked) == ["odd==1.0"]
    assert len(advised.unasked["odd==1.0"]) == 200


def test_a_package_that_it_does_not_mention_was_not_asked_about() -> None:
    advised = read_audit(said({"name": "good", "version": "1.0", "vulns": []}), "", PINS)
    assert set(advised.unasked) == {"bad==1.0", "odd==1.0"}


def test_whatever_else_it_writes_means_that_nobody_was_asked() -> None:
    for out in ("", "{", "[]", "{}", '{"dependencies": 5}', '{"dependencies": [1]}', said({})):
        advised = read_audit(out, "first\nConnectionError: no network\n", PINS)
        assert set(advised.unasked) == {"good==1.0", "bad==1.0", "odd==1.0"}
        assert not advised.known
    bad = said({"name": "bad", "vulns": [{"no": "id"}]})
    assert "failed" in read_audit(bad, "", PINS).unasked["good==1.0"]


def test_a_package_in_two_versions_is_asked_about_in_two_rounds() -> None:
    other = Pin(name="bad", version="2.0", lines=(), needed_by=frozenset())
    assert rounds([*PINS, other]) == [PINS, [other]]
    assert rounds(()) == []


def test_it_is_asked_about_pins_and_installs_nothing() -> None:
    words = audit_args(Path("r.txt"), Path("cache"))
    assert words[:5] == ["-P", "-m", "pip_audit", "--requirement", "r.txt"]
    assert {"--no-deps", "--disable-pip"} < set(words)
    assert "--osv-url" not in words
    other = audit_args(Path("r.txt"), Path("cache"), osv_url="http://127.0.0.1:1/q")
    assert other[-4:] == ["--vulnerability-service", "osv", "--osv-url", "http://127.0.0.1:1/q"]


def test_licences_are_fetched_by_pin_and_kept_in_order() -> None:
    words = download_args(PINS[0], Path("there"))
    assert words[:3] == ["-m", "pip", "download"]
    assert (words[-3:-1], words[-1]) == (["--dest", "there"], "good==1.0")
    assert as_file({"b==1": "MIT", "a==1": "ISC"}) == '{\n "a==1": "ISC",\n "b==1": "MIT"\n}\n'
