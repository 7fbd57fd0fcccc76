"""Journals of made-up runs, by seed: what models take and do is told day by day, and may change.

For benchmarks and tests of the analysis: every figure in them is drawn here, so it is known. The
lines are sealed as those of real runs are.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from twinsmith.core.events import GENESIS, SYSTEM, Event, Json, seal, to_line

FIRST = datetime(2026, 9, 1, 8, tzinfo=UTC)
LANGUAGES = ("python", "go", "rust")
TEMPLATES = {"slow": "clarify", "coder": "code", "critic": "checks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """How models behave on a day."""

    model: str = "openai:gpt-4o-mini"
    version: str = "2024-07-18"
    template_version: str = "aaaaaaaaaaaa"
    settings: str = "111111111111"
    seconds: float = 2.0
    usd: float = 0.004
    unusable: float = 0.04
    cut: float = 0.02
    right: float = 0.6
    services: float = 0.2
    """The share of services among functions; their calls take three times as long."""


Shape = Callable[[int], Levels]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a journal is about."""

    shape: Shape
    days: int = 30
    runs: int = 12
    """Runs a day."""
    seed: int = 0
    folder: Path = Path()
    answers: int = 3
    """Answers of coders in a run."""


@dataclass(slots=True)
class _Chain:
    """The lines of a chain so far."""

    lines: list[str] = field(default_factory=list)
    prev: str = GENESIS

    def add(self, event: Event, at: str) -> None:
        entry = seal(event, seq=len(self.lines) + 1, at=at, prev=self.prev)
        self.lines.append(to_line(entry))
        self.prev = entry.hash


def day_of(number: int) -> str:
    """The day of a number, as the journal writes it."""
    return f"{FIRST + timedelta(days=number):%Y-%m-%d}"


def write(plan: Plan) -> int:
    """Write a journal below a folder; how many lines it has."""
    (plan.folder / "runs").mkdir(parents=True, exist_ok=True)
    system, count = _Chain(), 0
    for name, lines in chains(plan, system):
        (plan.folder / "runs" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        count += len(lines)
    (plan.folder / "system.jsonl").write_text("\n".join(system.lines) + "\n")
    return count + len(system.lines)


def chains(plan: Plan, system: _Chain | None = None) -> Iterator[tuple[str, list[str]]]:
    """Each run with its lines; the system's are added to its own chain."""
    rng, system = random.Random(plan.seed), system or _Chain()
    released = 0
    for day in range(plan.days):
        levels = plan.shape(day)
        for number in range(plan.runs):
            at = FIRST + timedelta(days=day, seconds=number * 60_000 // max(plan.runs, 1))
            run = _Run(f"{at:%Y%m%d}-{number:04}", levels, rng, at, system)
            run.happen(plan.answers)
            yield run.name, run.chain.lines
            if run.solved and rng.random() < 0.2:
                released += 1
                action = _Run(f"{run.name}-d", levels, rng, run.now, system)
                action.deploy(run.name, released, bad=rng.random() < 0.25)
                yield action.name, action.chain.lines


class _Run:
    """One run, told as it happens."""

    def __init__(
        self, name: str, levels: Levels, rng: random.Random, at: datetime, system: _Chain
    ) -> None:
        self.name, self.now, self.chain, self.solved = name, at, _Chain(), False
        self._levels, self._rng, self._system = levels, rng, system
        service = rng.random() < levels.services
        self._kind = "service" if service else "function"
        self._language = LANGUAGES[rng.randrange(3)]
        self._slow = 3.0 if service else 1.0

    def happen(self, answers: int) -> None:
        rng = self._rng
        started: dict[str, Json] = {
            "task": "double a number",
            "language": self._language,
            "kind": self._kind,
            "settings": self._levels.settings,
            "app": "",
            "run": self.name,
        }
        self._tell("run.started", started)
        self._tell_system("run.started", started)
        self._call("slow", 0, 1)
        for nth in range(answers):
            self._call("coder", nth, 1 + nth % 2)
        self._call("critic", 0, 1)
        good = [rng.random() < self._levels.right for _ in range(answers)]
        for nth in range(answers):
            self._candidate(nth)
        self._judged(good, answers - 1)
        if rng.random() < 0.5:
            told: dict[str, Json] = {
                "source": 1,
                "to": 2,
                "kind": "counterexamples",
                "lines": ["x"],
            }
            self._tell("insights.crossed", told)
        self._candidate(answers, ensemble=2, nth=answers - 1)
        good.append(rng.random() < self._levels.right)
        self._judged(good, answers)
        self.solved = any(good)
        winner = good.index(True) + 1 if self.solved else None
        ended: dict[str, Json] = {
            "state": "solved" if self.solved else "not solved",
            "winner": winner,
            "confidence": round(min(1.0, max(0.0, sum(good) / len(good))), 3),
        }
        self._tell("run.ended", ended)
        self._tell_system("run.ended", {**ended, "run": self.name})

    def deploy(self, build: str, release: int, *, bad: bool) -> None:
        app = f"app{release % 7}"
        started: dict[str, Json] = {"kind": "deploy", "app": app, "from": build, "run": self.name}
        self._tell("run.started", started)
        self._tell_system("run.started", started)
        done: dict[str, Json] = {
            "state": "done",
            "app": app,
            "action": "deploy",
            "release": release,
        }
        self._tell("run.ended", done)
        kind = "crash loop" if bad else "advisory"
        told: dict[str, Json] = {"incident": f"i{release}", "app": app, "release": release}
        self._tell_system("incident.told", {**told, "stage": "seen", "text": f"{kind}: so it is"})
        self._tell_system("incident.told", {**told, "stage": "closed", "text": "over"})

    def _call(self, role: str, nth: int, ensemble: int) -> None:
        rng, levels = self._rng, self._levels
        asked: dict[str, Json] = {
            "role": role,
            "nth": nth,
            "ensemble": ensemble,
            "retry": 0,
            "template": TEMPLATES[role],
            "template_version": levels.template_version,
            "prompt_sha256": f"{rng.getrandbits(256):064x}",
        }
        self._tell("model.asked", asked)
        cached = rng.random() < 0.05
        seconds = levels.seconds * self._slow * rng.lognormvariate(0, 0.5)
        read = role != "slow"
        failed: list[Json] = []
        if rng.random() < 0.03:
            failed = ["google:gemini-2.5-pro: refused: its content filter stopped the answer"]
        bad = rng.random() < levels.unusable
        replied: dict[str, Json] = {
            **asked,
            "model": levels.model,
            "version": levels.version,
            "tokens_in": rng.randrange(100, 900),
            "tokens_out": rng.randrange(20, 500),
            "first_token_seconds": round(seconds / 5, 3),
            "seconds": round(seconds, 3),
            "usd": 0.0 if cached else round(levels.usd * rng.lognormvariate(0, 0.3), 6),
            "cached": cached,
            "cut": rng.random() < levels.cut,
            "failed_attempts": failed,
        }
        if read:
            replied["unusable"] = "it holds no program" if bad else ""
            replied["repairs"] = ["fence"] if not bad and rng.random() < 0.1 else []
        self.now += timedelta(seconds=seconds)
        self._tell("model.replied", replied)

    def _candidate(self, number: int, ensemble: int = 0, nth: int | None = None) -> None:
        written: dict[str, Json] = {
            "candidate": number + 1,
            "ensemble": ensemble or 1 + number % 2,
            "problem": "it does not build" if self._rng.random() < 0.05 else "",
            "files": [{"name": "solution.py", "text": "def double(n):\n    return n * 2\n"}],
            "shares": [{"nth": number if nth is None else nth, "ensemble": 1}],
        }
        self._tell("candidate.written", written)

    def _judged(self, good: list[bool], last: int) -> None:
        known: list[Json] = [
            {"number": 1, "name": "given", "given": True, "by": "person", "ensembles": []},
            {"number": 2, "name": "proposed", "given": False, "by": "critic", "ensembles": [1]},
        ]
        same = [number + 1 for number, each in enumerate(good) if each]
        other = [number + 1 for number, each in enumerate(good) if not each]
        clusters: list[Json] = [list[Json](each) for each in (same, other) if each]
        cells: dict[str, Json] = {
            str(n + 1): ("p" if each else "f") + "pf."[self._rng.randrange(3)]
            for n, each in enumerate(good)
        }
        told: dict[str, Json] = {
            "columns": [1, 2],
            "cells": cells,
            "clusters": clusters,
            "winner": (same or other)[0],
            "confidence": round(len(same) / (last + 1), 3),
            "checks": known,
        }
        self._tell("candidates.judged", told)

    def _tell(self, kind: str, data: Mapping[str, Json]) -> None:
        self.chain.add(Event(run=self.name, kind=kind, who="user:ann", data=data), self._at())

    def _tell_system(self, kind: str, data: Mapping[str, Json]) -> None:
        self._system.add(Event(run=SYSTEM, kind=kind, who="user:ann", data=data), self._at())

    def _at(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S.%f}+00:00"
