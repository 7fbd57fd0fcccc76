"""Roles, names, passwords, locks."""

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.people.account import (
    LONGEST_LOCK,
    Account,
    account_name,
    checked_password,
    lock_seconds,
    may,
)
from twinsmith.core.people.role import (
    MEANING,
    PERMISSIONS,
    PERMITTED,
    ROLES,
    permitted,
    roles_in,
    scopes_in,
)


def test_every_permission_has_a_meaning_and_somebody_who_has_it() -> None:
    assert set(MEANING) == set(PERMISSIONS)
    assert set(PERMITTED) == set(ROLES)
    assert permitted(ROLES) == set(PERMISSIONS)
    assert permitted([]) == frozenset()


def test_only_administrators_administer_and_developers_approve_nothing() -> None:
    assert [role for role in ROLES if "administer" in PERMITTED[role]] == ["admin"]
    assert "decide" not in PERMITTED["developer"]
    assert not {"build", "operate", "override"} & set(PERMITTED["approver"])


def test_roles_and_scopes_are_read_in_the_order_of_their_table() -> None:
    assert roles_in(["approver", "viewer"]) == ("viewer", "approver")
    assert scopes_in(["build", "read"]) == ("read", "build")
    for read in (roles_in, scopes_in):
        with pytest.raises(ConfigError, match="'god' is no"):
            read(["god"])
        with pytest.raises(ConfigError, match="nothing is no"):
            read([])


def test_a_key_may_what_both_its_owner_and_its_scopes_permit() -> None:
    ann = Account(name="ann", roles=("viewer",))
    assert may(ann, ("read", "build")) == {"read"}
    assert may(ann) == {"read"}


@pytest.mark.parametrize("name", ["", "Ann", "1a", "a b", "a" * 41, "ä", "../x", "a\n"])
def test_names_that_could_mislead_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no name of a user"):
        account_name(name)


@pytest.mark.parametrize("password", ["short", "a" * 12, "ann-is-the-best", "x" * 300])
def test_a_weak_password_is_refused_without_being_told(password: str) -> None:
    with pytest.raises(ConfigError) as told:
        checked_password(password, "ann")
    assert password not in str(told.value)


def test_locks_grow_to_an_hour() -> None:
    assert [lock_seconds(n) for n in (0, 4, 5, 6, 7)] == [0, 0, 30, 60, 120]
    assert lock_seconds(10_000) == LONGEST_LOCK
