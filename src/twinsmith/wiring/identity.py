"""From settings to who people are: accounts, keys, sessions, and what recognises them."""

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.people.account import SessionRules
from twinsmith.ports import Accounts, Answers, Identity, Keys, Sessions
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url


def accounts_of(settings: Settings) -> Accounts:
    """The accounts of the database that all share."""
    from twinsmith.adapters.identity.tables import AccountTable

    return AccountTable(shared_url(settings))


def keys_of(settings: Settings) -> Keys:
    """The API keys of the database that all share."""
    from twinsmith.adapters.identity.tables import KeyTable

    return KeyTable(shared_url(settings))


def sessions_of(settings: Settings) -> Sessions:
    """Who is signed in, in the database that all share."""
    from twinsmith.adapters.identity.tables import SessionTable

    return SessionTable(shared_url(settings))


def answers_of(settings: Settings) -> Answers:
    """Answers to requests that may come twice, in the database that all share."""
    from twinsmith.adapters.identity.answers import AnswerTable

    return AnswerTable(shared_url(settings))


def identity_of(settings: Settings) -> Identity:
    """What recognises people: local accounts."""
    from twinsmith.adapters.identity.local import LocalIdentity

    return LocalIdentity(
        accounts_of(settings),
        keys_of(settings),
        sessions_of(settings),
        SystemClock(),
        rules_of(settings),
    )


def rules_of(settings: Settings) -> SessionRules:
    """How long sessions hold."""
    given = settings.values.server
    return SessionRules(idle_seconds=given.idle_seconds, most_seconds=given.session_seconds)
