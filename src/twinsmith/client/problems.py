"""A problem that a server tells, as the error of ours that it was there."""

import json
from collections.abc import Mapping

from httpx2 import Response

from twinsmith.core import errors
from twinsmith.core.errors import (
    ConfigError,
    Conflict,
    EngineError,
    Forbidden,
    InternalError,
    TwinsmithError,
    Unknown,
)

PROBLEM = "application/problem+json"
KIND = "urn:twinsmith:error:"
"""Before the name of an error in the `type` of a problem."""
NO_KEY = (
    "no key was given, or it does not hold any more; 'twinsmith keys add USER TITLE --scope read' "
    "makes one on the server: give it as key=…, to the command as TWINSMITH_KEY in the environment"
)
LONGEST = 2000
_STATUSES: Mapping[int, type[TwinsmithError]] = {
    400: ConfigError,
    401: ConfigError,
    403: Forbidden,
    404: Unknown,
    405: ConfigError,
    409: Conflict,
    412: Conflict,
    413: ConfigError,
    415: ConfigError,
    421: ConfigError,
    422: ConfigError,
    500: InternalError,
}


def problem_in(answer: Response, server: str) -> TwinsmithError:
    """The error that an answer tells; its body has been read."""
    told = _members(answer)
    detail = " ".join(str(told.get("detail", "")).split())[:LONGEST]
    number = str(told.get("number", ""))[:40]
    if answer.status_code == 401:
        detail = NO_KEY
    if not detail:
        detail = f"{server} answered {answer.status_code}; is that a twinsmith server?"
    return _kind(answer.status_code, str(told.get("type", "")))(
        f"{detail} (number {number})" if number else detail
    )


def _members(answer: Response) -> dict[str, object]:
    if not answer.headers.get("content-type", "").startswith(PROBLEM):
        return {}
    try:
        told = json.loads(answer.content)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _kind(status: int, told: str) -> type[TwinsmithError]:
    """The class of an error: the one that it was there, else what its status says."""
    known = getattr(errors, told.removeprefix(KIND), None) if told.startswith(KIND) else None
    if isinstance(known, type) and issubclass(known, TwinsmithError):
        return known
    return _STATUSES.get(status, EngineError)
