"""Detectors on simulated apps and on labelled metrics: what is caught, how late, what is false."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.detectors_nab import Score, ewma, ours, score, series_in, three_sigma
from bench.detectors_series import (
    HARMLESS,
    LEAKS,
    LONGEST,
    UNDECIDED,
    Course,
    course_readings,
    failing,
    first_alarm,
    healthy,
    slowed,
)
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.watch import Watch

SHARED = Path(__file__).parents[2] / "shared" / "data" / "nab"
HELD_BACK = 5000
"""Seeds from here on were never looked at while thresholds were chosen."""
TURNS = 300


def courses(title: str, chosen: Sequence[Course], seeds: int, watch: Watch) -> None:
    """One line a course: in how many seeds it was found, after how long, how long was left."""
    print(f"\n{title}, {seeds} seeds each")
    for course in chosen:
        every = 1 if course.seconds < 500 else 3
        seen = range(HELD_BACK, HELD_BACK + seeds)
        found = [first_alarm(course, seed, watch, every) for seed in seen]
        hits = [each for each in found if each.kind]
        line = f"  {course.name:40} alarms {len(hits)} of {seeds}"
        if hits:
            late = sorted(each.delay for each in hits)
            line += f", after {late[0]:.0f} to {late[-1]:.0f} s"
            left = [each.left for each in hits if each.left is not None]
            line += f", {median(left):.0f} s left" if left else ""
        print(line)


def load(hours: int, watch: Watch) -> None:
    """False alarms of healthy apps, and how soon trouble in their requests is found."""
    false: list[str] = []
    for seed in range(HELD_BACK, HELD_BACK + hours):
        readings = healthy(seed, 3600)
        ends = range(1, len(readings) + 1, 2)
        told = {each.kind for end in ends for each in alarms(_window(readings, end), watch)}
        false += sorted(told)
    print(f"\nhealthy noisy load, {hours} h of 1 reading a second: false alarms {false or 'none'}")
    for share in (0.1, 0.3, 1.0):
        late = [_late(share, 1.0, seed, watch) for seed in range(HELD_BACK, HELD_BACK + 10)]
        print(f"  {share:.0%} of requests fail (20 a second): {_told(late)}")
    for times in (3.0, 10.0):
        late = [_late(0.005, times, seed, watch) for seed in range(HELD_BACK, HELD_BACK + 10)]
        print(f"  answers take {times:.0f} times as long: {_told(late)}")


def nab(data: Path, more: Path | None, watch: Watch) -> None:
    """Labelled series: ours beside a rule of three deviations and an exponential mean."""
    archive, labels = data / "aws-and-artificial.tar.gz", data / "windows.json"
    if not archive.is_file():
        print(f"\nNAB: skipped, there is no {archive}; name a folder with --nab")
        return
    print("\nNAB: anomalies caught / alarms outside, after NAB's probation of 15 %")
    print(f"  {'series':46} anomalies   ours   3 sigma   EWMA")
    scores: list[tuple[int, list[Score]]] = []
    for series in series_in(archive, labels, more):
        rules = (ours(series, watch), three_sigma(series.values), ewma(series.values))
        row = [score(series, found) for found in rules]
        scores.append((len(series.windows), row))
        figures = "  ".join(f"{each.caught:3}/{each.outside:<3}" for each in row)
        print(f"  {series.name.partition('/')[2]:46} {len(series.windows):5}     {figures}")
    caught = [sum(row[rule].caught for _, row in scores) for rule in range(3)]
    outside = [sum(row[rule].outside for _, row in scores) for rule in range(3)]
    calm = [sum(row[rule].outside for count, row in scores if not count) for rule in range(3)]
    print(
        f"  of {sum(count for count, _ in scores)} anomalies caught: {caught}; outside: {outside}"
    )
    without = sum(not count for count, _ in scores)
    print(f"  on the {without} series without an anomaly: {calm}")
    if not more:
        print("  NAB's five artificial series without an anomaly are not there; see --calm")


def cost(watch: Watch) -> None:
    """Processor time of one call with the longest window."""
    print(f"\nprocessor time of one call with {LONGEST} readings")
    for course in (None, LEAKS[5]):
        readings = course_readings(course, 1) if course else healthy(1, LONGEST + TURNS)
        began = time.process_time()
        for turn in range(TURNS):
            alarms(readings[turn : turn + LONGEST], watch)
        spent = (time.process_time() - began) / TURNS
        print(f"  {course.name if course else 'healthy'}: {spent * 1e3:.2f} ms")


def _window(readings: Sequence[Reading], end: int) -> Sequence[Reading]:
    return readings[max(0, end - LONGEST) : end]


def _late(share: float, times: float, seed: int, watch: Watch) -> float | None:
    """Seconds until the trouble that begins after five minutes is told of."""
    readings = healthy(seed, 420)
    readings[300:] = slowed(failing(readings[300:], share, seed), times)
    for end in range(301, len(readings) + 1):
        if alarms(_window(readings, end), watch):
            return readings[end - 1].at - readings[300].at
    return None


def _told(late: Sequence[float | None]) -> str:
    found = sorted(each for each in late if each is not None)
    if not found:
        return f"found in 0 of {len(late)}"
    return f"found in {len(found)} of {len(late)} after {found[0]:.0f} to {found[-1]:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nab", type=Path, default=SHARED, help="folder of the archive")
    parser.add_argument("--calm", type=Path, help="folder of more series without an anomaly")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--hours", type=int, default=5)
    chosen = parser.parse_args()
    watch = Watch()
    cost(watch)
    courses("Leaks", LEAKS, chosen.seeds, watch)
    courses("Harmless", HARMLESS, chosen.seeds, watch)
    courses("Undecided while the growth lasts", UNDECIDED, chosen.seeds, watch)
    load(chosen.hours, watch)
    nab(chosen.nab, chosen.calm, watch)


if __name__ == "__main__":
    main()
