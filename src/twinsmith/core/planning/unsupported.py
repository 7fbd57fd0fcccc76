"""Features that services built here cannot have, and what that means for the requirements."""

from dataclasses import replace

from twinsmith.core.planning.requirement import Requirement
from twinsmith.core.planning.standing import Asked, Standing

NAMED = {
    "SMS": "sms",
    "WebSocket": "websocket",
    "cookies": "cookie",
    "OAuth": "oauth",
    "GraphQL": "graphql",
    "gRPC": "grpc",
}
"""Unsupported features with a name, and the word for each that a task must hold to want it."""
MEANT = {
    "e-mail": "mail",
    "payment provider": "",
    "other service": "",
    "window": "",
    "timer": "",
    "file upload": "file",
}
"""Unsupported features that tasks put in many words; a task must hold the second word, if any."""


def unsupported_in(reply: str, task: str) -> str:
    """The unsupported feature that a reply names and the task wants; empty where there is none."""
    line = next(iter(reply.strip().splitlines()), "").strip(" .\"'`*").lower()
    for known, written in (NAMED | MEANT).items():
        if line == known.lower():
            return known if written in task.lower() else ""
    return ""


def without_unsupported(asked: Asked, what: str) -> Asked:
    """The requirements with those that name an unsupported feature as not met.

    What is only meant is told, and judged by what ran like everything else.
    """
    if what not in NAMED:
        return asked
    why = f"not supported: {what}"
    stands = [
        replace(each, shown=(), why=why) if _names(each, NAMED[what]) else each
        for each in asked.standings
    ]
    if not any(each.why == why for each in stands):
        number = len(stands) + 1
        stands.append(
            Standing(requirement=Requirement(number=number, what=what, quote=what), why=why)
        )
    return replace(asked, standings=tuple(stands))


def _names(standing: Standing, written: str) -> bool:
    return written in standing.requirement.quote.lower()
