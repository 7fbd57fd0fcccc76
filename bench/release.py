"""Releases in figures: requests lost, time to switch and to roll back, what the proxy costs.

Everything goes through the real command, on quick terms, with a service whose versions say which
they are; clients ask from beside, 200 times a second by a fixed schedule. Beside it stand the bare
service in the same run, the same image released by hand with an engine's command, and what other
tools document.

    python -m bench.release [--host local|docker|podman] [--seconds 3] [--switches 5] [--json]
"""

import argparse
import json
import os
import signal
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import get_args

import pytest

from bench.release_documented import STEPS, WHO, documented
from bench.release_hand import WAYS, ByHand, by_hand
from bench.release_load import RATE, Tally, longest_silence, tally
from bench.release_overhead import Beside, overhead
from bench.release_switches import Seen, by_kind, loaded, quiet, seen, stage_medians
from bench.release_yard import Place, Told, engine_of, place
from tests.engines import absent, serving
from twinsmith.adapters.proxy.caddy import why_not_caddy
from twinsmith.core.operating.instance import HostName

PARTS = ("switches", "small", "hand", "documented")
GOALS = {"rollback": 3.0, "override rollback": 2.0}
QUIET = 3


@dataclass
class Report:
    """All that was measured, part by part."""

    host: HostName
    switches: dict[str, Seen] = field(default_factory=dict)
    stages: dict[str, dict[str, float]] = field(default_factory=dict)
    quiet: dict[str, list[Told]] = field(default_factory=dict)
    overhead: list[Beside] = field(default_factory=list)
    hand: list[ByHand] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    load: list[str] = field(default_factory=list)

    def note_load(self, part: str) -> None:
        """Keep how busy the machine is: others may work on it, too."""
        self.load.append(f"{part} {os.getloadavg()[0]:.1f}")


def measured_switches(report: Report, where: Place, count: int, seconds: float) -> None:
    """Switches under load and without, and the proxy beside the bare service."""
    report.note_load("before")
    proxy = "Caddy" if not why_not_caddy() else "small"
    done = loaded(where, count, "a")
    report.switches |= {f"{proxy}: {kind}": each for kind, each in by_kind(done).items()}
    report.switches[f"{proxy}: all"] = seen(done)
    report.stages["deploy under load"] = stage_medians(
        [each.told for each in done if each.kind.startswith("deploy")]
    )
    report.note_load("under load")
    report.overhead += overhead(where, proxy, 1, seconds)
    report.note_load("proxy")
    report.quiet = quiet(where, 1, QUIET, "b")
    for kind in ("deploy", "rollback"):
        report.stages[f"{kind}, nobody asks"] = stage_medians(report.quiet[kind])
    report.note_load("quiet")


def measured_small(report: Report, where: Place, seconds: float) -> None:
    """Two releases and the cost of the small proxy."""
    done = loaded(where, 2, "s")
    report.switches["small: all"] = seen(done)
    report.overhead += overhead(where, "small", 1, seconds)
    report.note_load("small proxy")


def measured_hand(report: Report, address: str, count: int) -> None:
    """The same by hand, where there is an engine."""
    engine = engine_of(report.host)
    try:
        report.hand = by_hand(engine, address, count)
    except pytest.skip.Exception as why:
        report.skipped.append(f"by hand: {why}")
    report.note_load("by hand")


def shown(report: Report) -> list[str]:
    """The report as lines of text."""
    lines = [f"host {report.host}, {RATE} requests/s by schedule, half over kept connections"]
    lines.append(f"{os.cpu_count()} cores; load average: {', '.join(report.load)}")
    if report.switches:
        lines += ["", *switch_lines(report.switches), "", *stage_lines(report.stages)]
        lines += ["", *time_lines(report.quiet)]
    if report.overhead:
        lines += ["", *overhead_lines(report.overhead)]
    if report.hand:
        lines += ["", *hand_lines(engine_of(report.host), report.hand)]
    return [*lines, *(f"skipped: {why}" for why in report.skipped)]


def switch_lines(switches: dict[str, Seen]) -> list[str]:
    """Requests lost, kind by kind."""
    head = f"{'switches under load':<36}{'n':>3}{'asked':>8}{'lost':>6}{'late':>6}{'p50 ms':>8}"
    head += f"{'p99 ms':>8}{'most ms':>9}{'lag ms':>8}{'first s':>9}{'old till':>10}"
    lines = [f"{head}{'stage s':>9}{'command s':>11}"]
    for kind, each in switches.items():
        told = f"{kind:<36}{each.count:>3}{counts(each.tally)}{each.tally.lag_ms:>8.0f}"
        told += f"{_or_dash(each.first_seconds):>9}{each.old_seconds:>10.2f}"
        lines.append(f"{told}{_or_dash(each.stage_seconds):>9}{each.command_seconds:>11.2f}")
        lines += [f"    lost {count} x {why}" for why, count in each.tally.why.items()]
    return lines


def counts(each: Tally) -> str:
    """Requests in columns: asked, lost, late, and their times."""
    told = f"{each.asked:>8}{each.lost:>6}{each.late:>6}{each.median_ms:>8.1f}"
    return f"{told}{each.p99_ms:>8.0f}{each.longest_ms:>9.0f}"


def stage_lines(stages: dict[str, dict[str, float]]) -> list[str]:
    """The seconds of each stage."""
    lines = ["stages, median seconds"]
    for kind, found in stages.items():
        told = ", ".join(f"{name} {seconds:.2f}" for name, seconds in found.items())
        lines.append(f"  {kind}: {told}; in all {sum(found.values()):.2f}")
    return lines


def time_lines(found: dict[str, list[Told]]) -> list[str]:
    """Whole commands where nobody asks, beside the start of the command alone."""
    start = statistics.median(each.seconds for each in found["start: twinsmith --version"])
    head = f"{'whole commands, nobody asks':<50}{'n':>3}{'median s':>10}{'worst s':>9}{'CPU s':>7}"
    lines = [f"{head}{'x start':>9}  goal"]
    for kind, told in found.items():
        took = [each.seconds for each in told]
        middle = statistics.median(took)
        goal = next((limit for name, limit in GOALS.items() if kind.startswith(name)), 0.0)
        said = f"{goal:g} s: {'met' if middle <= goal else 'MISSED'}" if goal else ""
        cpu = statistics.median(each.cpu for each in told)
        told_line = f"{kind:<50}{len(took):>3}{middle:>10.2f}{max(took):>9.2f}{cpu:>7.2f}"
        lines.append(f"{told_line}{middle / start:>9.1f}  {said}".rstrip())
    return lines


def overhead_lines(found: Sequence[Beside]) -> list[str]:
    """Each proxy beside the bare service."""
    head = f"{'proxy beside the bare socket':<32}{'p50 ms':>16}{'x':>6}{'p99 ms':>16}{'x':>6}"
    lines = [f"{head}{'answers/s':>16}{'x':>6}{'lost':>6}"]
    for each in found:
        name = f"{each.proxy}, connections {'kept' if each.kept else 'new'}"
        one, other, (p50, p99, rate) = each.through, each.bare, each.ratios
        told = f"{name:<32}{_pair(one.median_ms, other.median_ms, 1)}{p50:>6.2f}"
        told += f"{_pair(one.p99_ms, other.p99_ms, 1)}{p99:>6.2f}"
        told += f"{_pair(one.per_second, other.per_second, 0)}{rate:>6.2f}"
        lines.append(f"{told}{one.lost + other.lost:>6}")
    return lines


def hand_lines(engine: str, found: Sequence[ByHand]) -> list[str]:
    """Releases by hand, way by way."""
    head = f"{'by hand: ' + engine + ' run':<36}{'n':>3}{'asked':>8}{'lost':>6}{'late':>6}"
    lines = [
        f"{head}{'p50 ms':>8}{'p99 ms':>8}{'most ms':>9}{'first s':>9}{'silent s':>10}{'all s':>8}"
    ]
    for way in WAYS:
        some = [each for each in found if each.way == way]
        if not some:
            continue
        both = tally([asked for each in some for asked in each.asked])
        firsts = [each.first_seconds for each in some if each.first_seconds is not None]
        silent = statistics.median(longest_silence(each.asked) for each in some)
        took = statistics.median(each.seconds for each in some)
        told = f"{way:<36}{len(some):>3}{counts(both)}"
        told += f"{_or_dash(statistics.median(firsts) if firsts else None):>9}"
        lines.append(f"{told}{silent:>10.2f}{took:>8.2f}")
        lines += [f"    lost {count} x {why}" for why, count in both.why.items()]
    return lines


def figures(report: Report) -> dict[str, object]:
    """The report as JSON tells it, without the single requests."""
    return {
        "host": report.host,
        "load": report.load,
        "switches": {kind: asdict(each) for kind, each in report.switches.items()},
        "stages": report.stages,
        "commands": {
            kind: [{"seconds": each.seconds, "cpu": each.cpu} for each in told]
            for kind, told in report.quiet.items()
        },
        "overhead": [{**asdict(each), "ratios": each.ratios} for each in report.overhead],
        "hand": [
            {
                "way": each.way,
                "first_seconds": each.first_seconds,
                "seconds": each.seconds,
                "silent_seconds": longest_silence(each.asked),
                **asdict(tally(each.asked)),
            }
            for each in report.hand
        ],
        "documented": {what: dict(zip(WHO, said, strict=True)) for what, said in STEPS.items()},
        "skipped": report.skipped,
    }


def _pair(one: float, other: float, digits: int) -> str:
    return f"{f'{one:.{digits}f} / {other:.{digits}f}':>16}"


def _or_dash(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"


def _ended(*_: object) -> None:
    raise KeyboardInterrupt


def measured(args: argparse.Namespace) -> Report:
    """Measure the parts that were asked for; what was started is ended, also when interrupted."""
    report = Report(host=args.host)
    with ExitStack() as engines:
        why = absent(engine_of(args.host))
        if why and args.host != "local":
            raise SystemExit(why)
        wants = args.host != "local" or "hand" in args.only
        address = "" if why or not wants else engines.enter_context(serving(engine_of(args.host)))
        if "switches" in args.only:
            with place(args.host, address) as where:
                measured_switches(report, where, args.switches, args.seconds)
        if "small" in args.only:
            with place(args.host, address, proxy="small") as where:
                measured_small(report, where, args.seconds)
        if "hand" in args.only:
            if why:
                report.skipped.append(f"by hand: {why}")
            else:
                measured_hand(report, address, args.by_hand)
    return report


def main() -> None:
    """All parts on one host, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", choices=get_args(HostName), default="local")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each way to the service")
    parser.add_argument("--switches", type=int, default=5, help="releases under load")
    parser.add_argument("--by-hand", type=int, default=3, help="releases by hand, each way")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, _ended)
    began = time.monotonic()
    report = measured(args)
    if args.json:
        print(json.dumps(figures(report)))
        return
    print("\n".join(shown(report)))
    if "documented" in args.only:
        print("", *documented(), sep="\n")
    print(f"\n{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
