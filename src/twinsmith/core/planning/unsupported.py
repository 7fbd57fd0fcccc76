"""What services that are built here cannot do, and what that means for what was asked."""

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
"""What has a name, and how it is written: a task that does not write it does not want it."""
MEANT = {
    "e-mail": "mail",
    "payment provider": "",
    "other service": "",
    "window": "",
    "timer": "",
    "file upload": "file",
}
"""What a task may want in many words; where there is a second one, the task has to hold it."""


def unsupported_in(reply: str, task: str) -> str:
    """What a reply says that a task wants and cannot have; nothing where it can have all of it."""
    line = next(iter(reply.strip().splitlines()), "").strip(" .\"'`*").lower()
    for known, written in (NAMED | MEANT).items():
        if line == known.lower():
            return known if written in task.lower() else ""
    return ""


def without_unsupported(asked: Asked, what: str) -> Asked:
    """With the requirements that name it as not met; one is added where none does.

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
