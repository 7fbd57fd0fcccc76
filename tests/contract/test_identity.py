"""Accounts, keys, sessions and answers: one contract for dictionaries, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.identity.answers import AnswerTable, MemoryAnswers
from twinsmith.adapters.identity.memory import MemoryAccounts, MemoryKeys, MemorySessions
from twinsmith.adapters.identity.tables import AccountTable, KeyTable, SessionTable
from twinsmith.core.people.account import Account, ApiKey, Session, later
from twinsmith.core.people.answered import LOST_SECONDS, Answered, Asking
from twinsmith.ports import Accounts, Answers, Keys, Sessions

NOW = "2026-11-18T10:00:00.000000+00:00"
ANN = Account(name="ann", roles=("viewer", "approver"), password="$argon2id$", made=NOW)
KEY = ApiKey(
    id="k1", owner="ann", title="ci", digest="d", scopes=("read",), made=NOW, expires="2027"
)
OPEN = Session(id="s1", account="ann", digest="d1", csrf="c", made=NOW, seen=NOW, rotated=NOW)
ASKING = Asking(who="ann", key="k", digest="d")


@dataclass(frozen=True, kw_only=True)
class Stores:
    """All stores of one database."""

    accounts: Accounts
    keys: Keys
    sessions: Sessions
    answers: Answers


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Stores]:
    """Opens the same stores, each time as another server would."""
    if request.param == "memory":
        only = Stores(
            accounts=MemoryAccounts(),
            keys=MemoryKeys(),
            sessions=MemorySessions(),
            answers=MemoryAnswers(),
        )
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: Stores(
        accounts=AccountTable(url),
        keys=KeyTable(url),
        sessions=SessionTable(url),
        answers=AnswerTable(url),
    )


def test_an_account_is_there_for_every_server(opened: Callable[[], Stores]) -> None:
    opened().accounts.save(ANN)
    opened().accounts.save(replace(ANN, name="adam"))
    assert opened().accounts.get("ann") == ANN
    assert opened().accounts.get("eve") is None
    changed = replace(ANN, roles=("admin",), failures=3)
    opened().accounts.save(changed)
    assert [each.name for each in opened().accounts.listed()] == ["adam", "ann"]
    assert opened().accounts.get("ann") == changed


def test_an_account_that_somebody_changed_meanwhile_is_left_as_it_is(
    opened: Callable[[], Stores],
) -> None:
    opened().accounts.save(ANN)
    shut = replace(ANN, disabled=True)
    assert opened().accounts.save(shut, before=ANN)
    assert not opened().accounts.save(replace(ANN, failures=1), before=ANN)
    assert opened().accounts.get("ann") == shut

    def missed(number: int) -> bool:
        return opened().accounts.save(replace(shut, failures=number), before=shut)

    with ThreadPoolExecutor(6) as threads:
        kept = list(threads.map(missed, range(1, 7)))
    assert kept.count(True) == 1
    assert not opened().accounts.save(replace(ANN, name="eve"), before=replace(ANN, name="eve"))


def test_the_first_account_is_one(opened: Callable[[], Stores]) -> None:
    firsts = [replace(ANN, password=str(number)) for number in range(6)]

    def keep_first(account: Account) -> bool:
        return opened().accounts.first(account)

    with ThreadPoolExecutor(6) as threads:
        kept = list(threads.map(keep_first, firsts))
    assert kept.count(True) == 1
    known = opened().accounts.get("ann")
    assert known is not None
    assert known.password == str(kept.index(True))
    assert not opened().accounts.first(replace(ANN, name="eve"))


def test_a_key_is_found_by_its_id_and_stays_when_it_is_revoked(
    opened: Callable[[], Stores],
) -> None:
    opened().keys.save(KEY)
    opened().keys.save(replace(KEY, id="k0", made="2026-11-19"))
    opened().keys.save(replace(KEY, revoked="now"))
    assert opened().keys.get("k1") == replace(KEY, revoked="now")
    assert opened().keys.get("k7") is None
    assert [each.id for each in opened().keys.listed()] == ["k1", "k0"]


def test_a_session_is_found_by_its_token_and_by_the_one_before(
    opened: Callable[[], Stores],
) -> None:
    assert opened().sessions.save(OPEN, new=True)
    turned = replace(OPEN, digest="d2", before="d1")
    assert opened().sessions.save(turned)
    assert opened().sessions.find("d1") == opened().sessions.find("d2") == turned
    assert opened().sessions.find("d3") is None


def test_of_two_servers_one_gives_a_session_its_next_token(opened: Callable[[], Stores]) -> None:
    opened().sessions.save(OPEN, new=True)
    turned = [replace(OPEN, digest=f"n{number}", before="d1") for number in range(6)]

    def save(session: Session) -> bool:
        return opened().sessions.save(session)

    with ThreadPoolExecutor(6) as threads:
        kept = list(threads.map(save, turned))
    assert kept.count(True) == 1
    found = opened().sessions.find("d1")
    assert found is not None
    assert found.digest == f"n{kept.index(True)}"


def test_sessions_end_by_their_ids(opened: Callable[[], Stores]) -> None:
    for name in ("s1", "s2", "s3"):
        opened().sessions.save(replace(OPEN, id=name, digest=name), new=True)
    opened().sessions.save(replace(OPEN, id="s4", digest="s4", account="bob"), new=True)
    opened().sessions.end("s1", "s3", "s9")
    assert [each.id for each in opened().sessions.listed("ann")] == ["s2"]
    assert opened().sessions.find("s1") is None
    assert opened().sessions.find("s4") is not None
    assert not opened().sessions.save(replace(OPEN, digest="s1")), "what is over stays over"
    assert opened().sessions.find("s1") is None


def test_a_request_with_a_key_is_begun_once(opened: Callable[[], Stores]) -> None:
    with ThreadPoolExecutor(6) as threads:
        known = list(threads.map(lambda _: opened().answers.begin(ASKING, NOW), range(6)))
    assert known.count(None) == 1
    assert Answered(digest="d") in known
    given = Answered(digest="d", status=201, kind="text/plain", body="grün", location="/x")
    opened().answers.settle(ASKING, given)
    assert opened().answers.begin(ASKING, NOW) == given
    assert opened().answers.begin(replace(ASKING, who="bob"), NOW) is None


def test_a_request_that_was_lost_with_its_server_may_come_again(
    opened: Callable[[], Stores],
) -> None:
    opened().answers.begin(ASKING, NOW)
    assert opened().answers.begin(ASKING, later(NOW, LOST_SECONDS - 1)) == Answered(digest="d")
    assert opened().answers.begin(ASKING, later(NOW, LOST_SECONDS + 1)) is None
    done = Answered(digest="d", status=200)
    opened().answers.settle(ASKING, done)
    assert opened().answers.begin(ASKING, later(NOW, 3 * LOST_SECONDS)) == done


def test_a_request_that_came_to_nothing_or_is_old_may_come_again(
    opened: Callable[[], Stores],
) -> None:
    opened().answers.begin(ASKING, NOW)
    opened().answers.drop(ASKING)
    assert opened().answers.begin(ASKING, NOW) is None
    opened().answers.forget("2026-11-18T09")
    assert opened().answers.begin(ASKING, NOW) is not None
    opened().answers.forget("2026-11-18T11")
    assert opened().answers.begin(ASKING, NOW) is None
