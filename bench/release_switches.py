"""Requests lost in switches, and how long switches, rollbacks, releases and overrides take."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.release_load import Asked, Load, Tally, first_answer, last_other, tally
from bench.release_yard import Place, Told

MARGIN_SECONDS = 0.5
"""Requests go on for so long before and after a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One switch under load: who commanded it, what its clients saw."""

    kind: str
    told: Told
    mark: str
    """The version that serves afterwards."""
    asked: Sequence[Asked]

    @property
    def begins(self) -> float:
        """The moment from which it counts: its stage, else the command itself."""
        return self.told.stages["switch"][0] if "switch" in self.told.stages else self.told.began


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Switches of one kind, as medians and as what was worst."""

    count: int
    tally: Tally
    first_seconds: float | None
    """From the beginning of the switch to the first answer by the new version; none where it
    answered before already, as a canary."""
    old_seconds: float
    """From there to the last request that the old version still got, at worst."""
    stage_seconds: float | None
    command_seconds: float


def under_load(where: Place, kind: str, act: Callable[[], Told], mark: str) -> Switch:
    """Do something while clients ask, a little before and after it as well."""
    with Load(where.port) as clients:
        time.sleep(MARGIN_SECONDS)
        told = act()
        time.sleep(MARGIN_SECONDS)
    return Switch(kind=kind, told=told, mark=mark, asked=clients.asked)


def loaded(where: Place, count: int, prefix: str) -> list[Switch]:
    """Releases under load, each taken back again: by a rollback, or by a person's override.

    Every second release is one without a canary, so that its first answer tells of the switch.
    """
    home, done = where.deploy(f"{prefix}0"), []
    for number in range(1, count + 1):
        canary = number % 2 == 1
        where.yard.command.env["TWINSMITH_DEPLOY_CANARY_SHARE"] = "10" if canary else "0"
        mark = f"{prefix}{number}"
        kind = "deploy, canary of 10 %" if canary else "deploy, no canary"
        done.append(under_load(where, kind, _deploying(where, mark), mark))
        back = where.mark(home.release)
        if canary:
            act = _returning(where, home.release)
            done.append(under_load(where, "rollback", act, back))
        else:
            done.append(under_load(where, "override rollback", where.override, back))
    where.yard.command.env["TWINSMITH_DEPLOY_CANARY_SHARE"] = "10"
    return done


def quiet(where: Place, home: int, count: int, prefix: str) -> dict[str, list[Told]]:
    """The same while nobody asks: releases, rollbacks, overrides, and the command's own start."""
    found: dict[str, list[Told]] = {"deploy": [], "rollback": [], "override rollback": []}
    for number in range(1, count + 1):
        there = where.deploy(f"{prefix}{number}")
        found["deploy"].append(there)
        found["rollback"].append(where.rollback(home))
        found["rollback"].append(where.rollback(there.release))
        found["override rollback"].append(where.override())
    for hangs in (False, True):
        kind = f"override rollback, a deploy {'hangs' if hangs else 'is'} in its canary"
        # So that there is something to go back to.
        where.rollback(home + 1)
        with where.busy(f"{prefix}-{'hung' if hangs else 'busy'}", hangs=hangs):
            found[kind] = [where.override()]
    found["start: twinsmith --version"] = [where.started() for _ in range(5)]
    return found


def seen(switches: Sequence[Switch]) -> Seen:
    """Switches of one kind in figures."""
    firsts = [first_answer(each.asked, each.mark, each.begins) for each in switches]
    known = [each for each in firsts if each is not None]
    at = [each.told.stages["switch"] for each in switches if "switch" in each.told.stages]
    canary = any("canary of" in each.kind for each in switches)
    return Seen(
        count=len(switches),
        tally=tally([asked for each in switches for asked in each.asked]),
        first_seconds=statistics.median(known) if known and not canary else None,
        old_seconds=max(last_other(each.asked, each.mark, each.begins) for each in switches),
        stage_seconds=statistics.median(end - began for began, end in at) if at else None,
        command_seconds=statistics.median(each.told.seconds for each in switches),
    )


def by_kind(switches: Sequence[Switch]) -> dict[str, Seen]:
    """Switches in figures, kind by kind, and all of them together."""
    kinds = dict.fromkeys(each.kind for each in switches)
    return {kind: seen([each for each in switches if each.kind == kind]) for kind in kinds}


def stage_medians(told: Sequence[Told]) -> dict[str, float]:
    """The seconds of each stage, those of the command's start and end among them."""
    names = dict.fromkeys(name for each in told for name in each.stages)
    spans = {name: [each.stages[name] for each in told if name in each.stages] for name in names}
    return {name: statistics.median(end - at for at, end in spans[name]) for name in names}


def _deploying(where: Place, mark: str) -> Callable[[], Told]:
    return lambda: where.deploy(mark)


def _returning(where: Place, release: int) -> Callable[[], Told]:
    return lambda: where.rollback(release)
