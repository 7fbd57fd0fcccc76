"""Bugs put into services that a model built, and mended as incidents: nobody gives a failing check.

What is known is what a monitor would know: which route failed, or how much of a request was kept.
Up to three attempts, as in operation. Whether a fix is right is asked by checks that nobody saw:
every second check that the service was accepted by, what services of its kind promise, and the
hunts of all its other routes, each as far as the service kept it before the bug was put in.

    python -m bench.fixes_seeded RESULT… [--most 10]
"""

import argparse
import ast
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.fixes import BUDGET, passes
from twinsmith.core.operating.alarm import AlarmKind
from twinsmith.core.operating.deliverable import Deliverable, deliverable_in
from twinsmith.core.operating.hunt import hunts
from twinsmith.core.operating.mend import Mend
from twinsmith.core.operating.remedy import HOPELESS, MOST_ATTEMPTS
from twinsmith.core.operating.trouble import Evidence, Trouble
from twinsmith.core.people.actor import Actor
from twinsmith.core.planning.contract import Contract, Operation
from twinsmith.core.planning.patch import functions_in, patched
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program
from twinsmith.core.task import Job, Task
from twinsmith.flow.build.reproduce import whole
from twinsmith.runs.book import Book
from twinsmith.runs.drive import Driver
from twinsmith.runs.submit import RESEED, new_job
from twinsmith.settings import load

KEPT_BYTES = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way in which a function goes wrong; `put` gives the function with it, or nothing."""

    name: str
    alarm: AlarmKind
    put: Callable[[ast.FunctionDef], str]
    growth: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """One bug in one route of a service."""

    kind: Kind
    route: Operation
    program: Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one bug."""

    service: str
    route: str
    bug: str
    fixed: bool
    right: bool | None
    """Whether what nobody saw holds as well; None where nothing was fixed."""
    attempt: int
    reason: str
    tokens: int
    seconds: float


def _begun_with(line: str) -> Callable[[ast.FunctionDef], str]:
    """The function with one more line at its beginning; `{text}` is its first parameter of text."""

    def put(function: ast.FunctionDef) -> str:
        texts = [
            each.arg
            for each in function.args.args
            if isinstance(each.annotation, ast.Name) and each.annotation.id == "str"
        ]
        if "{text}" in line and not texts:
            return ""
        added = ast.parse(line.replace("{text}", texts[0] if texts else "")).body
        return ast.unparse(replace_body(function, [*added, *function.body]))

    return put


def replace_body(function: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    """The same function with another body."""
    made = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made


def _unguarded(function: ast.FunctionDef) -> str:
    """The function that takes a row for granted which it asked for before."""
    for number, statement in enumerate(function.body):
        if isinstance(statement, ast.If) and "404" in ast.unparse(statement):
            asked = [each.id for each in ast.walk(statement.test) if isinstance(each, ast.Name)]
            if asked:
                # Our frame answers None with 404 by itself: only whoever uses the row stumbles.
                used = ast.parse(f"kept = dict({asked[0]})").body
                body = [*function.body[:number], *used, *function.body[number + 1 :]]
                return ast.unparse(replace_body(function, body))
    return ""


def _other_status(function: ast.FunctionDef) -> str:
    """The function that answers 500 where nothing is found."""
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and node.value == 404:
            node.value = 500
            return ast.unparse(function)
    return ""


def _first_of_nothing(function: ast.FunctionDef) -> str:
    """The function that takes for granted that something is kept."""
    for number, statement in enumerate(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if "store.all(" in (
                ast.unparse(value)
            ):
                more = ast.parse(f"newest = {name}[-1]").body
                body = [*function.body[: number + 1], *more, *function.body[number + 1 :]]
                return ast.unparse(replace_body(function, body))
            case ast.Return(value=value) if value and "store.all(" in ast.unparse(value):
                whole = ast.unparse(value)
                call = whole[whole.index("store.all(") :]
                call = call[: call.index(")") + 1]
                more = ast.parse(f"newest = {call}[-1]").body
                body = [*function.body[:number], *more, *function.body[number:]]
                return ast.unparse(replace_body(function, body))
    return ""


KINDS = (
    Kind(name="exception on an input", alarm="errors", put=_begun_with("{text}.encode('ascii')")),
    Kind(name="exception on an empty store", alarm="errors", put=_first_of_nothing),
    Kind(name="missing guard", alarm="errors", put=_unguarded),
    Kind(name="wrong status", alarm="errors", put=_other_status),
    Kind(
        name="growing list",
        alarm="memory leak",
        put=_begun_with(f"KEPT.append(b'x' * {KEPT_BYTES})"),
        growth=KEPT_BYTES,
    ),
    Kind(
        name="connections left open",
        alarm="descriptor leak",
        put=_begun_with("KEPT.append(open('/dev/null'))"),
        growth=1.0,
    ),
)


def seeded(deliverable: Deliverable, contract: Contract) -> Iterator[Seeded]:
    """Every bug that can be put into a service, kinds and routes in turn."""
    program = deliverable.source.program
    names = [each.function for each in contract.pieces]
    parts = functions_in(program.source, names)
    for turn in range(len(names)):
        for place, kind in enumerate(KINDS):
            route = contract.pieces[(turn + place) % len(names)]
            tree = ast.parse(parts[route.function]).body[0]
            assert isinstance(tree, ast.FunctionDef)
            text = kind.put(tree)
            if text:
                source = patched(program.source, {route.function: text})
                if "KEPT" in text:
                    source = source.replace("\ndef ", "\nKEPT = []\n\n\ndef ", 1)
                yield Seeded(kind=kind, route=route, program=replace(program, source=source))


def trouble_of(bug: Seeded, tried: tuple[str, ...] = ()) -> Trouble:
    """What a monitor would know of it."""
    asked = f"{bug.route.method} {bug.route.path.replace('{', '').replace('}', '')}"
    return Trouble(
        incident="bench",
        kind=bug.kind.alarm,
        told=f"{bug.kind.alarm} of {asked}",
        evidence=Evidence(requests=(asked,), growth=bug.kind.growth),
        tried=tried,
    )


async def truth_of(
    deliverable: Deliverable, contract: Contract, bug: Seeded, unseen: Probes
) -> Probes:
    """What the service kept before the bug was put in, and nobody is shown."""
    kinds: tuple[AlarmKind, ...] = ("errors", "memory leak", "descriptor leak")
    found = [
        probe
        for kind in kinds
        for probe in hunts(contract, replace(trouble_of(bug), kind=kind)).checks
    ]
    mend = Mend(program=deliverable.source.program, checks=unseen)
    every = whole(mend, contract, replace(hunts(contract, trouble_of(bug)), checks=tuple(found)))
    kept = [
        probe
        for probe in every.checks
        if await passes(mend.program, replace(every, checks=(probe,)))
    ]
    return replace(every, checks=tuple(kept))


async def mended(name: str, deliverable: Deliverable, bug: Seeded, home: Path) -> Row:
    """One bug, mended in at most three attempts as an incident is."""
    contract, kept = deliverable.contract, deliverable.probes
    assert contract is not None
    truth = await truth_of(deliverable, contract, bug, replace(kept, checks=kept.checks[1::2]))
    # Whoever broke a check that the service was accepted by would not have been released.
    accepted = [
        probe
        for probe in kept.checks[::2]
        if await passes(bug.program, replace(kept, checks=(probe,)))
    ]
    shown = replace(kept, checks=tuple(accepted))
    book = Book(load({**os.environ, "TWINSMITH_HOME": str(home)}), Actor(name="bench"))
    tried: tuple[str, ...] = ()
    tokens, began = 0, time.monotonic()
    for attempt in range(1, MOST_ATTEMPTS + 1):
        job = _job(book, deliverable, bug, shown, tried)
        outcome = await Driver(book).start(job)
        tokens += int(outcome.spent.tokens) if hasattr(outcome, "spent") else 0
        reason = str(getattr(outcome, "reason", ""))
        fixed = bool(getattr(outcome, "solved", False))
        if fixed or reason.startswith(HOPELESS):
            break
        tried = (*tried, f"attempt {attempt} was no fix: {reason}")
    right = None
    if fixed:
        source = (Path(job.out) / "solution.py").read_text()
        right = await passes(replace(bug.program, source=source), truth)
    return Row(
        service=name,
        route=f"{bug.route.method} {bug.route.path}",
        bug=bug.kind.name,
        fixed=fixed,
        right=right,
        attempt=attempt,
        reason=reason[:120],
        tokens=tokens,
        seconds=round(time.monotonic() - began, 1),
    )


def _job(
    book: Book, deliverable: Deliverable, bug: Seeded, shown: Probes, tried: tuple[str, ...]
) -> Job:
    """The next attempt at a bug, as the self-healing agent asks for it."""
    task = Task(
        text=deliverable.source.task, language="python", kind="service", spec=deliverable.spec
    )
    job = new_job(book, task, out=None, seed=1, budget=BUDGET)
    mend = Mend(program=bug.program, checks=shown, trouble=trouble_of(bug, tried))
    return replace(job, seed=job.seed + RESEED * len(tried), mend=mend)


def chosen(services: dict[str, Deliverable], most: int) -> list[tuple[str, Seeded]]:
    """So many bugs, the services and the kinds in turn."""
    lists = {}
    for name, deliverable in services.items():
        assert deliverable.contract is not None
        lists[name] = list(seeded(deliverable, deliverable.contract))
    found: list[tuple[str, Seeded]] = []
    while len(found) < most and any(lists.values()):
        for name, bugs in lists.items():
            if bugs and len(found) < most:
                found.append((name, bugs.pop(0)))
    return found


def main() -> None:
    """Put bugs into the services of the command line, and mend them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=10)
    given = parser.parse_args()
    services = {}
    for folder in given.results:
        files = {
            str(path.relative_to(folder)): path.read_text()
            for path in folder.rglob("*")
            if path.is_file()
        }
        services[folder.parent.name] = deliverable_in(files, str(folder))
    rows = []
    with tempfile.TemporaryDirectory(prefix="twinsmith-fixes-") as home:
        for name, bug in chosen(services, given.most):
            rows.append(asyncio.run(mended(name, services[name], bug, Path(home))))
            print(json.dumps(asdict(rows[-1])), flush=True)
    fixed = [row for row in rows if row.fixed]
    print(
        f"{len(fixed)} of {len(rows)} fixed ({sum(row.attempt == 1 for row in fixed)} at the first "
        f"attempt), {sum(not row.right for row in fixed)} of those wrong; "
        f"{sum(row.tokens for row in rows) / max(1, len(rows)):.0f} tokens and "
        f"{sum(row.seconds for row in rows) / max(1, len(rows)):.0f} s a bug in the mean"
    )


if __name__ == "__main__":
    main()
