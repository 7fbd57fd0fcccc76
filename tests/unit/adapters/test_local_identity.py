"""Local accounts: what is recognised, for how long, and what a thief gets."""

from dataclasses import dataclass, replace

import pytest

from twinsmith.adapters.identity.local import LocalIdentity, digest_of, hashed
from twinsmith.adapters.identity.memory import MemoryAccounts, MemoryKeys, MemorySessions
from twinsmith.core.people.account import Account, SessionRules, later

PASSWORD = "correct horse battery 9"
START = "2026-11-18T10:00:00.000000+00:00"
HASH = hashed(PASSWORD)


class StillClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> str:
        return self.at

    def seconds(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.at = later(self.at, seconds)


@dataclass(frozen=True, kw_only=True)
class Place:
    accounts: MemoryAccounts
    sessions: MemorySessions
    clock: StillClock
    identity: LocalIdentity

    def passes(self, seconds: float) -> None:
        self.clock.at = later(self.clock.at, seconds)


@pytest.fixture
def place() -> Place:
    accounts, sessions, clock = MemoryAccounts(), MemorySessions(), StillClock()
    accounts.save(Account(name="ann", roles=("developer",), password=HASH))
    rules = SessionRules(idle_seconds=3600, most_seconds=10_000)
    identity = LocalIdentity(accounts, MemoryKeys(), sessions, clock, rules)
    return Place(accounts=accounts, sessions=sessions, clock=clock, identity=identity)


def test_a_session_ends_when_it_is_not_used_and_after_a_while_in_any_case(place: Place) -> None:
    token = place.identity.by_password("ann", PASSWORD, "here").token
    for _ in range(5):
        place.passes(1900)
        found = place.identity.by_session(token)
        assert found is not None
        token = found.token or token
    place.passes(1900)
    assert place.identity.by_session(token) is None
    fresh = place.identity.by_password("ann", PASSWORD, "here").token
    assert len(place.sessions.listed("ann")) == 1, "the one that was over is forgotten"
    place.passes(3601)
    assert place.identity.by_session(fresh) is None


def test_a_token_is_replaced_and_the_old_one_holds_for_a_minute_only(place: Place) -> None:
    old = place.identity.by_password("ann", PASSWORD, "here").token
    place.passes(901)
    found = place.identity.by_session(old)
    assert found is not None
    assert found.token
    assert found.token != old
    place.passes(30)
    again = place.identity.by_session(old)
    assert again is not None
    assert again.token == "", "what was under way is let through, and gets no token of its own"
    place.passes(31)
    assert place.identity.by_session(old) is None
    assert place.identity.by_session(found.token) is not None


def test_waiting_grows_with_wrong_passwords_and_ends_with_a_right_one(place: Place) -> None:
    waits = [place.identity.by_password("ann", "wrong", "here").wait for _ in range(5)]
    assert waits == [0, 0, 0, 0, 30]
    assert place.identity.by_password("ann", PASSWORD, "here").wait == 30
    place.passes(31)
    assert place.identity.by_password("ann", "wrong", "here").wait == 60
    place.passes(61)
    assert place.identity.by_password("ann", PASSWORD, "here").person is not None
    assert place.identity.by_password("ann", "wrong", "here").wait == 0


def test_nobody_signs_in_who_is_shut_was_never_invited_or_has_no_password(place: Place) -> None:
    place.accounts.save(Account(name="new", roles=("admin",)))
    ann = place.accounts.get("ann")
    assert ann is not None
    token = place.identity.by_password("ann", PASSWORD, "here").token
    place.accounts.save(replace(ann, disabled=True))
    assert place.identity.by_password("ann", PASSWORD, "here").person is None
    assert place.identity.by_session(token) is None
    assert place.identity.by_password("new", "", "here").person is None
    assert place.identity.by_password("", "", "here").person is None
    assert place.identity.by_password("ann", "x" * 100_000, "here").person is None


@pytest.mark.parametrize("token", ["", "x", "x" * 10_000, "\udcff", digest_of("x")])
def test_a_made_up_cookie_is_nobody(place: Place, token: str) -> None:
    place.identity.by_password("ann", PASSWORD, "here")
    assert place.identity.by_session(token) is None


def test_the_hash_of_a_token_is_no_token(place: Place) -> None:
    token = place.identity.by_password("ann", PASSWORD, "here").token
    assert place.identity.by_session(digest_of(token)) is None
