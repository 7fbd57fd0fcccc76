import json

import pytest

from twinsmith.adapters.sandbox import seccomp
from twinsmith.core.errors import SandboxError


def test_the_same_rules_in_both_forms() -> None:
    profile = json.loads(seccomp.profile())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    named = {rule["names"][0] for rule in profile["syscalls"]}
    assert named == {rule.call for rule in seccomp.rules()}
    assert {"ptrace", "io_uring_setup", "mount", "keyctl", "unshare", "bpf"} <= named


def test_families_of_sockets_are_refused_by_number() -> None:
    refused = {
        rule["args"][0]["value"]
        for rule in json.loads(seccomp.profile())["syscalls"]
        if rule["names"] == ["socket"] and len(rule["args"]) == 1
    }
    assert refused == {16, *range(16)} - {1, 2, 10}
    both = [r["args"] for r in json.loads(seccomp.profile())["syscalls"] if len(r["args"]) == 2]
    assert {(a["value"], b["valueTwo"]) for a, b in both} == {(2, 2), (2, 3), (10, 2), (10, 3)}


def test_a_masked_comparison_has_the_mask_first() -> None:
    clones = [r for r in json.loads(seccomp.profile())["syscalls"] if r["names"] == ["clone"]]
    assert clones
    assert all(r["args"][0]["value"] == r["args"][0]["valueTwo"] for r in clones)
    stuffing = [r for r in json.loads(seccomp.profile())["syscalls"] if r["names"] == ["ioctl"]]
    assert (stuffing[0]["args"][0]["value"], stuffing[0]["args"][0]["valueTwo"]) == (
        0xFFFFFFFF,
        seccomp.TIOCSTI,
    )


def test_the_filter_is_made_of_whole_instructions() -> None:
    try:
        program = seccomp.program()
    except SandboxError as error:
        pytest.skip(str(error))
    assert len(program) % 8 == 0
    assert len(program) > 8 * len(seccomp.rules())
