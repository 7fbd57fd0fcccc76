"""Local accounts: passwords by argon2id, sessions by cookie, programs by API key."""

import hashlib
import secrets
import threading
from dataclasses import replace

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from twinsmith.core.people.account import (
    GRACE_SECONDS,
    LONGEST_PASSWORD,
    ROTATE_SECONDS,
    Account,
    Login,
    Person,
    Recognised,
    Session,
    SessionRules,
    holds,
    is_over,
    later,
    lock_seconds,
    may,
)
from twinsmith.core.progress import elapsed
from twinsmith.ports import Accounts, Clock, Keys, Sessions

PREFIX = "tws"
"""How every API key begins: secret scanners know it by that."""
AT_ONCE = 2
"""Passwords that are hashed at the same time: each takes 64 MB and a core for 50 ms."""
LONGEST_SECRET = 200

_hasher = PasswordHasher()
_room = threading.BoundedSemaphore(AT_ONCE)


def hashed(password: str) -> str:
    """The argon2id hash of a password."""
    with _room:
        return _hasher.hash(password)


def digest_of(secret: str) -> str:
    """The hash of a secret that was made at random: fast, since nobody can guess it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """A secret that nobody can guess."""
    return secrets.token_urlsafe(32)


class LocalIdentity:
    """Recognises people by what the database keeps."""

    def __init__(
        self,
        accounts: Accounts,
        keys: Keys,
        sessions: Sessions,
        clock: Clock,
        rules: SessionRules,
    ) -> None:
        self._accounts = accounts
        self._keys = keys
        self._sessions = sessions
        self._clock = clock
        self._rules = rules
        # Whoever guesses a name must not see by the time it takes that there is no such account.
        self._nobody = hashed(new_secret())

    def by_password(self, name: str, password: str, where: str) -> Login:
        """What becomes of an attempt to sign in; a session with its token where it is right."""
        with _room:
            # Whoever tries many at once waits here, and finds the account locked when it is.
            now = self._clock.now()
            account = self._accounts.get(name)
            if account is not None and account.locked_until > now:
                return Login(wait=elapsed(now, account.locked_until))
            known = account.password if account and not account.disabled else ""
            right = _is_right(known or self._nobody, password) and bool(known)
            if account is None or not known:
                return Login()
            if not right:
                return self._missed(account, now)
        if account.failures:
            self._accounts.save(replace(account, failures=0, locked_until=""), before=account)
        return self.signed_in(account, where)

    def signed_in(self, account: Account, where: str) -> Login:
        """A new session of an account, with its token."""
        now, token = self._clock.now(), new_secret()
        session = Session(
            id=secrets.token_hex(8),
            account=account.name,
            digest=digest_of(token),
            csrf=new_secret(),
            made=now,
            seen=now,
            rotated=now,
            where=where,
        )
        known = self._sessions.listed(account.name)
        # Nothing else forgets what nobody uses any more.
        self._sessions.end(*(each.id for each in known if is_over(each, now, self._rules)))
        self._sessions.save(session, new=True)
        person = Person(name=account.name, permissions=may(account), session=session)
        return Login(person=person, token=token)

    def by_session(self, token: str) -> Recognised | None:
        """The person with this cookie, with a new token where it is time for one."""
        if not token or len(token) > LONGEST_SECRET:
            return None
        digest, now = digest_of(token), self._clock.now()
        session = self._sessions.find(digest)
        if session is None or is_over(session, now, self._rules):
            return None
        if digest != session.digest and now >= later(session.rotated, GRACE_SECONDS):
            # A token that was replaced long ago comes back: it may have been stolen.
            return None
        account = self._accounts.get(session.account)
        if account is None or account.disabled:
            return None
        session, fresh = self._kept_alive(session, digest, now)
        person = Person(name=account.name, permissions=may(account), session=session)
        return Recognised(person=person, token=fresh)

    def by_key(self, secret: str) -> Person | None:
        """The person with this API key; None where it does not hold, or never did."""
        prefix, _, rest = secret.partition("_")
        name, _, own = rest.partition("_")
        if prefix != PREFIX or not own or len(secret) > LONGEST_SECRET:
            return None
        key, now = self._keys.get(name), self._clock.now()
        if key is None or not secrets.compare_digest(key.digest, digest_of(own)):
            return None
        account = self._accounts.get(key.owner)
        if not holds(key, now) or account is None or account.disabled:
            return None
        if key.used[:16] != now[:16]:
            key = replace(key, used=now)
            self._keys.save(key)
        return Person(name=account.name, permissions=may(account, key.scopes), key=key)

    def still(self, person: Person) -> bool:
        """Whether somebody may still do all that they could when they were recognised."""
        now, account = self._clock.now(), self._accounts.get(person.name)
        if account is None or account.disabled:
            return False
        scopes = None
        if person.key is not None:
            key = self._keys.get(person.key.id)
            if key is None or not holds(key, now):
                return False
            scopes = key.scopes
        if person.session is not None:
            mine = [e for e in self._sessions.listed(account.name) if e.id == person.session.id]
            # Somebody looks at a page all night: what they do not use ends, what is open does not.
            if not mine or now >= later(mine[0].made, self._rules.most_seconds):
                return False
        return person.permissions <= may(account, scopes)

    def _kept_alive(self, session: Session, digest: str, now: str) -> tuple[Session, str]:
        """A session that was used now, and its new token where it is time for one."""
        if digest == session.digest and now >= later(session.rotated, ROTATE_SECONDS):
            fresh = new_secret()
            changed = replace(
                session, digest=digest_of(fresh), before=digest, rotated=now, seen=now
            )
            # Of several requests at once one replaces the token; the old one holds for the others.
            return (changed, fresh) if self._sessions.save(changed) else (session, "")
        if session.seen[:16] != now[:16]:
            session = replace(session, seen=now)
            self._sessions.save(session)
        return session, ""

    def _missed(self, account: Account, now: str) -> Login:
        """Count a wrong password, whatever else was changed of the account meanwhile."""
        known: Account | None = account
        while known is not None:
            failures = known.failures + 1
            wait = lock_seconds(failures)
            until = later(now, wait) if wait else ""
            counted = replace(known, failures=failures, locked_until=until)
            if self._accounts.save(counted, before=known):
                return Login(wait=wait)
            known = self._accounts.get(account.name)
        return Login()


def _is_right(known: str, password: str) -> bool:
    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        return _hasher.verify(known, password)
    except (VerificationError, InvalidHashError):
        return False
