"""Accounts, API keys and sessions in dictionaries: the fakes."""

from twinsmith.core.people.account import Account, ApiKey, Session


class MemoryAccounts:
    """Accounts in a dictionary."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}

    def get(self, name: str) -> Account | None:
        """The account of that name."""
        return self._accounts.get(name)

    def listed(self) -> tuple[Account, ...]:
        """Every account, by name."""
        return tuple(self._accounts[name] for name in sorted(self._accounts))

    def save(self, account: Account, *, before: Account | None = None) -> bool:
        """Keep an account; with `before`, only where it still stands so."""
        if before is not None and self._accounts.get(account.name) != before:
            return False
        self._accounts[account.name] = account
        return True

    def first(self, account: Account) -> bool:
        """Keep an account where there is none at all; False where somebody was faster."""
        if self._accounts:
            return False
        return self.save(account)


class MemoryKeys:
    """API keys in a dictionary."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    def get(self, name: str) -> ApiKey | None:
        """The key of that id."""
        return self._keys.get(name)

    def listed(self) -> tuple[ApiKey, ...]:
        """Every key, oldest first."""
        return tuple(sorted(self._keys.values(), key=lambda each: (each.made, each.id)))

    def save(self, key: ApiKey) -> None:
        """Keep a key; one of the same id is replaced."""
        self._keys[key.id] = key


class MemorySessions:
    """Sessions in a dictionary."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def find(self, digest: str) -> Session | None:
        """The session with a token of this hash, or whose token before had it."""
        known = self._sessions.values()
        return next((each for each in known if digest in (each.digest, each.before)), None)

    def save(self, session: Session, *, new: bool = False) -> bool:
        """Keep a session; False where its token was replaced or it was ended meanwhile."""
        known = self._sessions.get(session.id)
        if known is None and not new:
            return False
        if known is not None and known.digest not in (session.digest, session.before):
            return False
        self._sessions[session.id] = session
        return True

    def end(self, *names: str) -> None:
        """End the sessions of these ids."""
        for name in names:
            self._sessions.pop(name, None)

    def listed(self, account: str) -> tuple[Session, ...]:
        """The sessions of an account, oldest first."""
        mine = [each for each in self._sessions.values() if each.account == account]
        return tuple(sorted(mine, key=lambda each: each.made))
