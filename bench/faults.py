"""Faults in figures: when each is seen, when the app serves again, what was lost, by which remedy.

A monitor runs beside an app of two versions; the second does what it is told: it crashes, hangs,
fails, slows down or leaks. A client asks twenty times a second all along. Beside every fault stands
what Docker's restart policy, Kubernetes' probes and Kamal do about it, by their own documents.

    python -m bench.faults [--host local|docker|podman] [--runs 1] [--fault NAME] [--calm SECONDS]
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import get_args

from bench.faults_injected import FAULTS, SERVICE, WAIT_SECONDS, Bench, Fault
from bench.release_yard import place
from tests.delivered import asked, result
from tests.engines import absent, serving
from twinsmith.core.operating.instance import HostName

STEADY_SECONDS = 3.0
PAUSE = 0.05
PATIENCE = 1.0
"""Seconds until the client gives a request up."""
KNOWING = ("errors", "slow", "monitor killed", "log flood")
"""Faults that are told by what was usual before."""
RULES = {"TWINSMITH_MONITOR_FIX": "false"}
"""What models mend is measured by `bench.fixes_seeded`."""
TOLD = "a person was told"
DEEDS = ("restart", "rollback", "hand over", TOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of one fault."""

    fault: str
    host: str
    detected: float | None
    """Seconds until it was known; None: never, or nobody had to know."""
    serving: float | None
    """Seconds until the app answered again and went on to; None: never."""
    lost: int
    """Requests of the client that failed, of so many."""
    asked: int
    remedy: str
    right: bool


@contextmanager
def monitored(bench: Bench) -> Iterator[None]:
    """A monitor beside the app."""
    bench.watcher = bench.yard.command.start("monitor")
    time.sleep(4)
    try:
        yield
    finally:
        bench.watcher.terminate()
        bench.watcher.communicate(timeout=60)


def suffered(bench: Bench, fault: Fault) -> Seen:
    """One fault from before it to the end of what is done about it."""
    known = {each.id for each in bench.incidents()}
    answers: list[tuple[float, int]] = []

    def look(until: Callable[[], bool], seconds: float) -> bool:
        deadline = time.time() + seconds
        while time.time() < deadline:
            began = time.time()
            patience = 10.0 if fault.name == "slow" else PATIENCE
            status = asked(bench.where.port, "/work", seconds=patience)
            # Whoever got no answer knows that only now.
            answers.append((began if status == 200 else time.time(), status))
            if until():
                return True
            time.sleep(max(0.0, PAUSE - (time.time() - began)))
        return False

    look(lambda: False, 30.0 if fault.name in KNOWING else 3.0)
    began = time.time()
    fault.inject(bench)

    def over() -> bool:
        fresh = [each for each in bench.incidents() if each.id not in known]
        acted = not fault.right or any(
            step.did.startswith(fault.right) for each in fresh for step in each.steps
        )
        late = [status for at, status in answers if at > time.time() - STEADY_SECONDS]
        return acted and time.time() - began > 2 * STEADY_SECONDS and set(late) == {200}

    look(over, WAIT_SECONDS)
    fresh = [each for each in bench.incidents() if each.id not in known]
    steps = [step.did.partition(":")[0] for each in fresh for step in each.steps]
    deeds = [each for each in steps if each.startswith(DEEDS)]
    bad = [at for at, status in answers if at >= began and status != 200]
    well = (bad[-1] - began if bad else 0.0) if answers[-1][1] == 200 else None
    remedy = ", ".join(deeds) or "none of ours"
    return Seen(
        fault=fault.name,
        host=bench.yard.host,
        detected=round(fresh[0].opened - began, 1) if fresh else None,
        serving=None if well is None else round(well, 1),
        lost=len(bad),
        asked=sum(at >= began for at, _ in answers),
        remedy=remedy,
        right=well is not None and is_right(fault.right, deeds),
    )


def is_right(wanted: str, deeds: Sequence[str]) -> bool:
    """Whether what was done begins with what is right; that a person was told is never wrong."""
    acts = [each for each in deeds if not each.startswith(TOLD)]
    if wanted == TOLD:
        return bool(deeds) and not acts
    return acts[0].startswith(wanted) if wanted and acts else not wanted and not acts


def story(host: HostName, address: str, fault: Fault) -> Seen:
    """One fault on a fresh app of two versions."""
    with place(host, address) as where:
        where.yard.command.env |= {"TWINSMITH_MONITOR_STEADY_SECONDS": "5", **RULES}
        bench = Bench(where)
        for number in (1, 2):
            edit = (lambda text: text + SERVICE) if number == 2 else _working
            folder = result(where.folder / f"v{number}", mark=str(number), edit=edit)
            where.yard.deploy(folder)
        with monitored(bench):
            seen = suffered(bench, fault)
    print(json.dumps(asdict(seen)), flush=True)
    return seen


def _working(text: str) -> str:
    return f'{text}\n\n@app.get("/work")\ndef route_work():\n    return jsonify(ok=True)\n'


def calm(host: HostName, address: str, seconds: float) -> int:
    """The incidents of an app under a healthy, uneven load: every one is a false alarm."""
    with place(host, address) as where:
        bench = Bench(where)
        folder = result(where.folder / "v1", mark="1", edit=_working)
        where.yard.deploy(folder)
        with monitored(bench):
            until = time.time() + seconds
            while time.time() < until:
                for number in range(1 + int(time.time()) % 7):
                    asked(where.port, "/work" if number % 3 else "/health")
                time.sleep(0.05 + (int(time.time()) % 5) / 20)
            return len(bench.incidents())


def table(rows: list[Seen]) -> str:
    """What was seen as a table, and beside it what others would have done."""
    head = ("fault", "host", "runs", "seen after", "serves after", "lost", "right")
    others = ("Docker --restart", "Kubernetes", "Kamal")
    lines = [f"| {' | '.join((*head, *others))} |", f"|{'---|' * len((*head, *others))}"]
    for fault in FAULTS:
        for host in get_args(HostName):
            mine = [each for each in rows if (each.fault, each.host) == (fault.name, host)]
            if not mine:
                continue
            detected = [each.detected for each in mine if each.detected is not None]
            serving_ = [each.serving for each in mine if each.serving is not None]
            lost = f"{sum(e.lost for e in mine)} of {sum(e.asked for e in mine)}"
            cells = [
                *(fault.name, host, str(len(mine)), _middle(detected), _middle(serving_), lost),
                f"{sum(each.right for each in mine)} of {len(mine)}",
                *fault.elsewhere,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _middle(values: list[float]) -> str:
    return f"{statistics.median(values):.1f} s" if values else "-"


def main() -> None:
    """Run the faults that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", choices=get_args(HostName), default="local")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--calm", type=float, default=0.0)
    given = parser.parse_args()
    with ExitStack() as stack:
        address = ""
        if given.host != "local":
            why = absent(given.host)
            if why:
                sys.exit(why)
            address = stack.enter_context(serving(given.host))
        mine = [each for each in FAULTS if given.host in each.only]
        wanted = [each for each in mine if not given.fault or each.name in given.fault]
        rows = [story(given.host, address, fault) for fault in wanted for _ in range(given.runs)]
        print(table(rows))
        if given.calm:
            false = calm(given.host, address, given.calm)
            print(f"{given.calm:g} s of healthy, uneven load: {false} false alarms")


if __name__ == "__main__":
    main()
