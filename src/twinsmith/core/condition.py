"""The condition of every part of the system, decided from what is known of it just now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from twinsmith.core.anatomy import ENSEMBLES, PARTS, Kind, PartName, of
from twinsmith.core.model import ROLES, Role
from twinsmith.core.motion import LIT_SECONDS, Deed, Motion
from twinsmith.core.progress import elapsed, several

ConditionKind = Literal["idle", "working", "waits", "failing", "held"]
FAILING_SECONDS = 900.0
"""After so long a failure that nothing followed says little about how things are."""
KINDS: Mapping[Role, Kind] = {"slow": "slow", "coder": "coder", "critic": "critic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How a part stands: in a kind, a count, and words."""

    kind: ConditionKind = "idle"
    count: int = 0
    words: str = ""
    """What it is busy with, waits for, or lacks; empty where there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is known of the whole system just now, in numbers."""

    asked: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """The questions under way, by ensemble and role."""
    trying: int = 0
    """The runs in which no model is asked just now: programs are run."""
    approvals: int = 0
    questions: int = 0
    held: tuple[str, ...] = ()
    """The names of the apps that people hold, or `all`."""
    acting: int = 0
    """The actions that are being done."""
    queued: int = 0
    """The actions that wait for their turn."""
    serving: int = 0
    """The apps that should serve."""
    watched: bool = False
    """Whether a monitor looks after them."""
    healing: int = 0
    """The incidents about which something is still done by itself."""
    escalated: int = 0
    """The incidents that were handed to a person."""


ASKED: tuple[PartName, ...] = ("models", "manager")
LOOKED_UP: tuple[PartName, ...] = ("retriever", "vectors", "graph", "log", "behaviour")
IDLE = Condition()
USED = Condition(kind="working", words="used a moment ago")


def conditions(now: Circumstances, motion: Motion, at: str) -> dict[PartName, Condition]:
    """The condition of every part at a moment."""
    found = dict.fromkeys(PARTS, IDLE)
    found |= _ensembles(now, motion, at)
    found |= _access(now, motion, at)
    found |= _operation(now, motion, at)
    found |= _people(now)
    return found


def _ensembles(now: Circumstances, motion: Motion, at: str) -> dict[PartName, Condition]:
    found: dict[PartName, Condition] = {}
    for number in ENSEMBLES:
        for role in ROLES:
            name, asked = of(KINDS[role], number), now.asked.get((number, role), 0)
            busy = _working(asked, f"{several(asked, 'question')} under way")
            found[name] = _failing(name, motion, at) or busy
        execution = of("execution", number)
        tries = now.trying or int(_is_fresh(motion.last.get(execution), at))
        found[execution] = _working(tries, f"programs of {several(tries, 'run')} are tried")
    return found


def _access(now: Circumstances, motion: Motion, at: str) -> dict[PartName, Condition]:
    """Models, what is known, and the log: busy as long as something passed lately."""
    asked = sum(now.asked.values())
    found: dict[PartName, Condition] = {}
    for name in ASKED:
        busy = _working(asked, f"{several(asked, 'question')} under way")
        found[name] = _failing(name, motion, at) or busy
    for name in LOOKED_UP:
        fresh = _is_fresh(motion.last.get(name), at)
        found[name] = _failing(name, motion, at) or (USED if fresh else IDLE)
    return found


def _operation(now: Circumstances, motion: Motion, at: str) -> dict[PartName, Condition]:
    troubled = now.healing + now.escalated
    serve = f"{several(now.serving, 'app')} to serve" if now.serving else "no app yet"
    if now.acting:
        containers = _working(now.acting, f"{several(now.acting, 'action')} under way")
    elif troubled:
        told = several(troubled, "incident")
        containers = Condition(kind="failing", count=troubled, words=f"{told} not closed")
    else:
        containers = _failing("containers", motion, at) or Condition(words=serve)
    monitor = Condition(words=serve)
    if now.serving and now.watched:
        monitor = _working(now.serving, f"{several(now.serving, 'app')} watched")
    elif now.serving:
        lacks = f"nobody watches {several(now.serving, 'app')}: start twinsmith monitor"
        monitor = Condition(kind="failing", count=now.serving, words=lacks)
    return {"containers": containers, "monitor": monitor, "healer": _healer(now)}


def _healer(now: Circumstances) -> Condition:
    if now.escalated:
        told = f"{several(now.escalated, 'incident')} handed to a person"
        return Condition(kind="waits", count=now.escalated, words=told)
    return _working(now.healing, f"{several(now.healing, 'incident')} being healed")


def _people(now: Circumstances) -> dict[PartName, Condition]:
    wanted = now.approvals + now.questions
    asks = " and ".join(
        several(count, word)
        for count, word in ((now.approvals, "approval"), (now.questions, "question"))
        if count
    )
    approvals = Condition(kind="waits", count=wanted, words=asks) if wanted else IDLE
    held = Condition(kind="held", count=len(now.held), words=f"held: {', '.join(now.held)}")
    busy = now.acting + now.queued
    told = f"{several(now.acting, 'action')} under way, {now.queued} waiting for their turn"
    return {
        "approvals": approvals,
        "override": held if now.held else IDLE,
        "queue": _working(busy, told),
    }


def _working(count: int, words: str) -> Condition:
    return Condition(kind="working", count=count, words=words) if count else IDLE


def _failing(name: PartName, motion: Motion, at: str) -> Condition | None:
    """The failure that was the last thing to happen at a part, if it was lately."""
    deed = motion.last.get(name)
    if deed is None or not deed.failed or elapsed(deed.at, at) > FAILING_SECONDS:
        return None
    return Condition(kind="failing", words=deed.text)


def _is_fresh(deed: Deed | None, at: str) -> bool:
    return deed is not None and elapsed(deed.at, at) <= LIT_SECONDS
