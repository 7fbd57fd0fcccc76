"""What goes over the wire about accounts and keys: what is asked for, and what is answered."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from twinsmith.client.shapes import Asked, Name
from twinsmith.core.people.role import Permission, Role


class NewUser(Asked):
    """An account that is to be."""

    name: Name
    roles: Annotated[list[Role], Field(min_length=1)]


class ChangedUser(Asked):
    """Other roles of an account, or whether it is shut."""

    roles: Annotated[list[Role], Field(min_length=1)] | None = None
    disabled: bool | None = None


class NewKey(Asked):
    """An API key that is to be."""

    title: Annotated[str, Field(min_length=1, max_length=80)]
    scopes: Annotated[list[Permission], Field(min_length=1)]
    days: Annotated[float, Field(gt=0, le=366)] = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UserShown:
    """An account without anything secret."""

    name: str
    roles: tuple[Role, ...]
    permissions: tuple[Permission, ...]
    disabled: bool
    invited: bool
    locked_until: str
    sessions: int
    made: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An account with its one-time link, which is shown this once."""

    name: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShown:
    """An API key without its secret."""

    id: str
    owner: str
    title: str
    scopes: tuple[Permission, ...]
    made: str
    expires: str
    used: str
    revoked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyIssued:
    """An API key with its secret, which is shown this once."""

    key: KeyShown
    secret: str
