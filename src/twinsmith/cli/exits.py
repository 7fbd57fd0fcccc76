"""Exit codes, and how an error reads on a screen or in a script."""

import json
import sys
from typing import NoReturn

from twinsmith.core import errors

DONE = 0
NO = 1
BAD_INPUT = 2
BROKEN = 3
BUSY = 4
CANCELLED = 5
WAITING = 6
INTERNAL = 70
INTERRUPTED = 130
TERMINATED = 143

MEANING = f"""Exit codes: {DONE} done · {NO} an honest no (not solved, log altered, not ready) ·
{BAD_INPUT} bad input · {BROKEN} model, sandbox or database out of reach, the run is parked ·
{BUSY} another worker drives this run · {CANCELLED} cancelled ·
{WAITING} parked until a question is answered · {INTERNAL} internal error ·
{INTERRUPTED} interrupted (Ctrl-C), {TERMINATED} terminated: the run is parked."""

_CODES: tuple[tuple[type[errors.TwinsmithError], int], ...] = (
    (errors.ConfigError, BAD_INPUT),
    (errors.RunBusy, BUSY),
    (errors.RunCancelled, CANCELLED),
    (errors.Waiting, WAITING),
    (errors.InternalError, INTERNAL),
)


def code_of(error: errors.TwinsmithError) -> int:
    """The exit code that tells a script who has to act."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), BROKEN)


def fail(message: str, code: int, *, as_json: bool) -> NoReturn:
    """Say what is wrong in one line and leave."""
    line = " ".join(message.split())
    if as_json:
        print(json.dumps({"error": line, "exit_code": code}, ensure_ascii=False))
    else:
        print(f"twinsmith: {line}", file=sys.stderr)
    raise SystemExit(code)
