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


def refused(call: str) -> list[list[dict[str, int | str]]]:
    """The arguments that a call is refused with, rule by rule."""
    rules = json.loads(seccomp.profile())["syscalls"]
    return [rule["args"] for rule in rules if rule["names"] == [call]]


def test_families_of_sockets_are_refused_by_number() -> None:
    alone = [rule[0] for rule in refused("socket") if len(rule) == 1]
    assert {rule["value"] for rule in alone if rule["op"] == "SCMP_CMP_EQ"} == {*range(10)} - {1, 2}
    assert [rule["value"] for rule in alone if rule["op"] == "SCMP_CMP_GT"] == [10]
    assert [rule[0]["op"] for rule in refused("socketpair")] == ["SCMP_CMP_NE"]


@pytest.mark.parametrize("family", [2, 10])
def test_of_the_internet_only_tcp_is_left(family: int) -> None:
    pairs = [rule for rule in refused("socket") if len(rule) == 2 and rule[0]["value"] == family]
    kinds = {rule[1]["valueTwo"] for rule in pairs if rule[1]["index"] == 1}
    assert kinds == {*range(16)} - {1}
    protocols = [rule[1] for rule in pairs if rule[1]["index"] == 2]
    assert [(rule["op"], rule["value"]) for rule in protocols] == [
        *(("SCMP_CMP_EQ", n) for n in range(1, 6)),
        ("SCMP_CMP_GT", 6),
    ]


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
    assert len(seccomp.program(seccomp.uncounted)) % 8 == len(program) % 8 == 0
    assert len(program) > 8 * len(seccomp.rules())
