"""Roles and what they permit: one table, and the only place that knows it."""

from collections.abc import Collection
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError

Role = Literal["viewer", "developer", "approver", "operator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
Permission = Literal[
    "read", "build", "teach", "deploy", "decide", "operate", "override", "audit", "administer"
]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)

MEANING: dict[Permission, str] = {
    "read": "see runs, apps, incidents, models and what is known",
    "build": "submit, cancel and resume runs, answer their questions",
    "teach": "add to what is known",
    "deploy": "ask for releases, which go through all gates",
    "decide": "approve, reject and modify what waits for a person's word",
    "operate": "start, stop, restart, roll back and remove apps, close incidents",
    "override": "pause everything, shut out whatever is automatic",
    "audit": "read, verify and export the journal",
    "administer": "add users, give roles, see everybody's keys",
}

PERMITTED: dict[Role, tuple[Permission, ...]] = {
    "viewer": ("read",),
    "developer": ("read", "build", "teach", "deploy"),
    "approver": ("read", "decide", "audit"),
    "operator": ("read", "build", "deploy", "operate", "override", "audit"),
    "admin": PERMISSIONS,
}


def permitted(roles: Collection[Role]) -> frozenset[Permission]:
    """Everything that any of these roles permits."""
    return frozenset(each for role in roles for each in PERMITTED[role])


def roles_in(names: Collection[str]) -> tuple[Role, ...]:
    """The roles of these names, in the table's order; ConfigError where one is none."""
    unknown = [name for name in names if name not in ROLES]
    if unknown or not names:
        told = repr(unknown[0]) if unknown else "nothing"
        raise ConfigError(f"{told} is no role; one of {', '.join(ROLES)}")
    return tuple(role for role in ROLES if role in names)


def scopes_in(names: Collection[str]) -> tuple[Permission, ...]:
    """The permissions of these names, in the table's order; ConfigError where one is none."""
    unknown = [name for name in names if name not in PERMISSIONS]
    if unknown or not names:
        told = repr(unknown[0]) if unknown else "nothing"
        raise ConfigError(f"{told} is no scope; one of {', '.join(PERMISSIONS)}")
    return tuple(each for each in PERMISSIONS if each in names)
