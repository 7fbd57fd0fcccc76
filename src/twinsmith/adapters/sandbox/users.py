"""User ids for rooms, one each: the kernel's limits for a user are not shared between rooms.

Pipes, watches, locked memory and, without a user namespace, processes are counted so.
"""

import secrets
from itertools import count

FIRST_USER, USERS = 64001, 900


class Users:
    """User ids that own no file, one after the other from a random start."""

    def __init__(self) -> None:
        self._numbers = count(secrets.randbelow(USERS))

    def next(self) -> int:
        """The user id for one more room."""
        return FIRST_USER + next(self._numbers) % USERS
