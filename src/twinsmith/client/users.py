"""Accounts and keys of a server, for those who may give rights."""

from collections.abc import Sequence

from twinsmith.client.user_shapes import (
    ChangedUser,
    Invited,
    KeyIssued,
    KeyShown,
    NewKey,
    NewUser,
    UserShown,
)
from twinsmith.client.wire import Wire, named
from twinsmith.core.people.role import Permission, Role


class Users:
    """Everybody who may sign in."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def listed(self) -> tuple[UserShown, ...]:
        """Every account, by name."""
        return self._wire.get("users", tuple[UserShown, ...])

    def get(self, user: str) -> UserShown:
        """One account."""
        return self._wire.get(f"users/{named(user)}", UserShown)

    def add(self, name: str, roles: Sequence[Role]) -> Invited:
        """Add an account; the link by which its owner chooses a password is shown this once."""
        return self._wire.post("users", Invited, NewUser.of(name=name, roles=list(roles)))

    def change(
        self, user: str, *, roles: Sequence[Role] | None = None, disabled: bool | None = None
    ) -> UserShown:
        """Give an account other roles, or shut it; its sessions end."""
        wanted = ChangedUser.of(roles=list(roles) if roles is not None else None, disabled=disabled)
        return self._wire.patch(f"users/{named(user)}", UserShown, wanted)

    def invite(self, user: str) -> Invited:
        """A new one-time link for an account; its password and its sessions end."""
        return self._wire.post(f"users/{named(user)}/invite", Invited)

    def sign_out(self, user: str) -> UserShown:
        """End all sessions of an account."""
        return self._wire.post(f"users/{named(user)}/sign-out", UserShown)


class Keys:
    """API keys: one's own, everybody's for administrators."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def listed(self) -> tuple[KeyShown, ...]:
        """Every key without its secret."""
        return self._wire.get("keys", tuple[KeyShown, ...])

    def issue(self, title: str, scopes: Sequence[Permission], *, days: float = 90.0) -> KeyIssued:
        """A new key of one's own, of no more rights than one has; its secret is shown this once."""
        wanted = NewKey.of(title=title, scopes=list(scopes), days=days)
        return self._wire.post("keys", KeyIssued, wanted)

    def revoke(self, key: str) -> KeyShown:
        """Revoke a key at once."""
        return self._wire.delete(f"keys/{named(key)}", KeyShown)
