"""What a scan makes of findings: severities, what blocks, the risk, and no secret in any of it."""

from dataclasses import replace

import pytest

from tests.secrets_planted import TOKENS, some
from tests.service_scripts import CART, PIECES, PLAN
from tests.services import ACCOUNTS, NOTES
from twinsmith.core.masking import Masking
from twinsmith.core.operating.inspected import Risk
from twinsmith.core.operating.licences import USUAL, is_allowed, is_strong_copyleft, licence_told
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import (
    SCAN_KINDS,
    Advised,
    Advisory,
    Policy,
    ScanFinding,
    ScanKind,
    blocking,
    code_findings,
    dependency_findings,
    files_of,
    image_findings,
    inspected,
    licence_findings,
    risk,
    secret_findings,
)
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.program import Program, SourceFile
from twinsmith.core.verdict import Finding
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

NO_MASKING = Masking()


def finding(kind: ScanKind, severity: Risk) -> ScanFinding:
    return ScanFinding(kind=kind, what="it", where="there", evidence="so", severity=severity)


def pin(name: str, version: str = "1.0") -> Pin:
    return Pin(name=name, version=version, lines=(), needed_by=frozenset())


def test_a_policy_says_from_where_on_each_kind_blocks() -> None:
    found = [finding("code", "medium"), finding("secret", "high"), finding("licence", "critical")]
    assert [each.kind for each in blocking(found, Policy())] == ["licence", "secret"]
    lenient = Policy(code="medium", secret="never", licence="critical")
    assert [each.kind for each in blocking(found, lenient)] == ["licence", "code"]
    nothing = Policy(code="never", dependency="never", secret="never", licence="never")
    assert blocking(found, nothing) == ()


@pytest.mark.parametrize(
    ("kind", "lenient"),
    [
        ("code", Policy(code="never")),
        ("dependency", Policy(dependency="never")),
        ("secret", Policy(secret="never")),
        ("licence", Policy(licence="never")),
    ],
)
def test_each_kind_has_a_level_of_its_own(kind: ScanKind, lenient: Policy) -> None:
    found = [finding(each, "critical") for each in SCAN_KINDS]
    assert {each.kind for each in blocking(found, lenient)} == set(SCAN_KINDS) - {kind}


def test_the_risk_is_that_of_the_worst_finding() -> None:
    assert risk([]).level == "low"
    found = [finding("code", "low"), finding("dependency", "high"), finding("licence", "medium")]
    rated = risk(found)
    assert rated.level == "high"
    assert rated.reason == "high dependency: it (there): so"


def test_a_release_reads_lines_the_worst_first_and_each_once() -> None:
    found = [finding("code", "low"), finding("secret", "critical"), finding("code", "low")]
    seen = inspected(found, Policy())
    assert seen.findings == ("critical secret: it (there): so", "low code: it (there): so")
    assert seen.blocking == ("critical secret: it (there): so",)
    assert seen.risk == "critical"


def test_a_line_has_no_line_breaks_of_others() -> None:
    odd = replace(finding("code", "low"), evidence="a\nb\x1b[31m\n  c", where="x\ny")
    assert "\n" not in odd.text()


def test_what_a_reviewer_blocks_is_high_and_what_it_notes_is_low() -> None:
    program = Program(source="int main() { return 0; }\n", language="c", kind="cli")
    reviewed = [
        Finding(what="gcc -Warray-bounds", where="line 1", evidence="out", severity="blocking"),
        Finding(what="cppcheck style", where="line 2", evidence="ugly", severity="note"),
    ]
    found = code_findings(program, reviewed, NO_MASKING)
    assert [(each.kind, each.severity) for each in found] == [("code", "high"), ("code", "low")]


def test_our_own_rules_read_every_file_of_a_python_program() -> None:
    more = SourceFile(name="more.py", text="import os\nos.system(input())\n")
    program = Program(source="print(eval(input()))\n", kind="cli", files=(more,))
    found = code_findings(program, (), NO_MASKING)
    assert {each.where for each in found} == {"solution.py line 1", "more.py line 2"}
    assert {each.severity for each in found} == {"high"}


def test_a_default_secret_is_a_secret_and_is_not_shown() -> None:
    secret = "default-" + some(12)
    source = f"import os\nSECRET_KEY = os.environ.get('SECRET_KEY', '{secret}')\n"
    (found,) = code_findings(Program(source=source, kind="service"), (), NO_MASKING)
    assert (found.kind, found.severity, found.where) == ("secret", "high", "solution.py line 2")
    assert secret not in found.text()


@pytest.mark.parametrize("kind", ["OpenAI", "Anthropic", "Groq"])
def test_a_token_in_a_file_is_critical_and_is_not_shown(kind: str) -> None:
    files = {"solution.py": f"import os\n\nclient = connect({TOKENS[kind]!r})\n"}
    (found,) = secret_findings(files, NO_MASKING)
    assert (found.severity, found.where) == ("critical", "solution.py line 3")
    assert TOKENS[kind][8:20] not in found.text()


def test_a_password_behind_its_name_is_high_and_a_key_over_lines_is_one_finding() -> None:
    password = some(24)
    block = "-----BEGIN PRIVATE KEY-----\n" + some(64) + "\n-----END PRIVATE KEY-----"
    files = {"a.py": f'db_password = "{password}"\n', "b.py": f'key = """{block}"""\n'}
    first, second = secret_findings(files, NO_MASKING)
    assert (first.severity, first.where) == ("high", "a.py line 1")
    assert (second.severity, second.where) == ("critical", "b.py line 1")
    assert password not in first.text()
    assert block.splitlines()[1] not in second.text()


def test_rules_that_others_keep_are_asked_and_the_machines_own_secrets_known() -> None:
    masking = Masking(secrets=("s3cr3t-of-this-machine",), rules=lambda _text: [(4, 9)])
    files = {"a.py": "x = ABCDE\n", "b.py": "y = 's3cr3t-of-this-machine'\n"}
    found = secret_findings(files, masking)
    assert [each.where for each in found] == ["a.py line 1", "b.py line 1"]
    assert "ABCDE" not in found[0].text()
    assert "s3cr3t" not in found[1].text()


def test_honest_programs_have_no_findings() -> None:
    contract = read_contract(PLAN, CART, login="with user accounts")
    framed = assembled(contract, PIECES, kit(FLASK_KIT))
    for program in (framed, *(Program(source=each, kind="service") for each in (ACCOUNTS, NOTES))):
        assert secret_findings(files_of(program), NO_MASKING) == ()
        assert code_findings(program, (), NO_MASKING) == ()


@pytest.mark.parametrize(
    ("licence", "severity"),
    [
        ("MIT", None),
        ("", "medium"),
        ("GPL-3.0-only", "high"),
        ("AGPL-3.0-or-later", "high"),
        ("GNU General Public License v3 (GPLv3)", "high"),
        ("GPLv2", "high"),
        ("MIT OR GPL-3.0-only", None),
        ("MIT AND GPL-3.0-only", "high"),
        ("LGPL-3.0-only", "medium"),
        ("Proprietary", "medium"),
    ],
)
def test_licences_are_judged_by_the_policy(licence: str, severity: Risk | None) -> None:
    found = licence_findings([pin("pkg")], {"pkg==1.0": licence}, Policy())
    assert [each.severity for each in found] == ([severity] if severity else [])
    assert all(each.where == "pkg==1.0" for each in found)


def test_a_licence_of_another_version_is_not_known() -> None:
    (found,) = licence_findings([pin("pkg", "2.0")], {"pkg==1.0": "MIT"}, Policy())
    assert "not known" in found.what


def test_a_policy_may_allow_other_licences() -> None:
    own = Policy(licences=frozenset({"gpl-3.0-only"}))
    licences = {"a==1.0": "GPL-3.0-only", "b==1.0": "MIT"}
    (found,) = licence_findings([pin("a"), pin("b")], licences, own)
    assert found.where == "b==1.0"


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("mit", True),
        ("(MIT OR GPL-2.0-only) AND BSD-3-Clause", True),
        ("MIT AND (GPL-2.0-only OR Apache-2.0)", True),
        ("(MIT OR GPL-2.0-only) AND AGPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("BSD License", True),
        ("BSD License AND MIT", True),
        ("", False),
        ("AND", False),
        ("MIT AND", False),
        ("(MIT", False),
        ("MIT) OR (GPL-3.0-only", False),
    ],
)
def test_expressions_are_read_as_they_mean(licence: str, allowed: bool) -> None:
    assert is_allowed(licence, USUAL) is allowed


def test_lesser_licences_reach_for_themselves_only() -> None:
    lesser = "GNU Lesser General Public License v3 (LGPLv3)"
    assert not any(map(is_strong_copyleft, ("LGPL-2.1-only", lesser, "MPL-2.0", "MIT", "")))


@pytest.mark.parametrize(
    ("expression", "name", "classifiers", "told"),
    [
        ("MIT", "whatever", [], "MIT"),
        ("", "BSD-3-Clause", ["License :: OSI Approved :: BSD License"], "BSD-3-Clause"),
        ("", "", ["Topic :: X", "License :: OSI Approved :: MIT License"], "MIT"),
        ("", "UNKNOWN", ["License :: OSI Approved :: BSD License"], "BSD License"),
        ("", "Permission is hereby granted\nto anybody", [], ""),
        ("", "", [], ""),
    ],
)
def test_metadata_tells_a_licence(
    expression: str, name: str, classifiers: list[str], told: str
) -> None:
    assert licence_told(expression, name, classifiers) == told


def test_a_known_weakness_is_high_and_says_what_mends_it() -> None:
    known = Advisory(
        name="PYSEC-2026-1", aliases=("CVE-2026-1",), fixed_in=("1.1",), summary="reads any file"
    )
    open_one = Advisory(name="PYSEC-2026-2")
    found = dependency_findings(
        [pin("pkg"), pin("other")], Advised(known={"pkg==1.0": (known, open_one)})
    )
    assert [(each.severity, each.where) for each in found] == [("high", "pkg==1.0")] * 2
    assert found[0].evidence == "fixed in 1.1 (CVE-2026-1); reads any file"
    assert found[1].evidence == "not fixed yet"


def test_nobody_to_ask_is_never_clean() -> None:
    pins = [pin("a"), pin("b"), pin("c")]
    (found,) = dependency_findings(
        pins, Advised(unasked={"a==1.0": "no network", "b==1.0": "no network"})
    )
    assert found.severity == "low"
    assert "could not be asked about 2 of 3" in found.what
    assert (found.where, found.evidence) == ("a==1.0, b==1.0", "no network")
    assert dependency_findings(pins, Advised()) == ()


def test_what_is_not_scanned_is_said() -> None:
    (found,) = image_findings()
    assert "not scanned" in found.text()
    assert not Policy().blocks(found)
