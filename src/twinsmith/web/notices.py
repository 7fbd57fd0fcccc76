"""How a command went, told once on the next page that a person sees, whichever server makes it."""

from dataclasses import replace

from twinsmith.core.people.account import Session
from twinsmith.ports import Sessions

LONGEST = 600


class Notices:
    """Notices of sessions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def put(self, session: Session | None, text: str) -> None:
        """Keep a notice for the next page of a session."""
        if session is not None:
            self._sessions.save(replace(session, notice=" ".join(text.split())[:LONGEST]))

    def taken(self, session: Session) -> None:
        """Forget a notice that was shown."""
        self._sessions.save(replace(session, notice=""))
