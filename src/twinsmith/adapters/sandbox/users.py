"""A user id for each room: rooms of one user share what the kernel allows a user.

Pipes, watches, locked memory and, without a user namespace, processes are counted so.
"""

import secrets
from itertools import count

FIRST_USER, USERS = 64001, 900


class Users:
    """Ids that nobody owns a file with, one after the other from a place of chance."""

    def __init__(self) -> None:
        self._numbers = count(secrets.randbelow(USERS))

    def next(self) -> int:
        """The id for one more room."""
        return FIRST_USER + next(self._numbers) % USERS
