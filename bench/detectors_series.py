"""Simulated apps for detectors: a healthy one under noisy load, and what may go wrong with it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from twinsmith.core.operating.alarm import AlarmKind
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.reading import Reading, Said, Traffic, Usage
from twinsmith.core.operating.watch import MB, Watch

LIMIT = 512 * MB
START = 1_700_000_000.0
LONGEST = 600
Memory = Callable[[float], float]
"""Megabytes that an app holds after so many seconds, without noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How the memory of an app goes, and whether that is an alarm."""

    name: str
    memory: Memory
    seconds: float
    wanted: AlarmKind | None = None
    begins: float = 0.0
    """When the trouble begins."""
    gap: float = 1.0
    """Seconds between two readings."""
    noise: float = 1.0
    """Megabytes, one standard deviation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The first alarm of a course; None where there was none."""

    kind: AlarmKind | None = None
    delay: float = 0.0
    """Seconds from the beginning of the trouble."""
    left: float | None = None
    evidence: str = ""


def healthy(
    seed: int, seconds: float, *, gap: float = 1.0, memory: Memory | None = None, noise: float = 4.0
) -> list[Reading]:
    """An app under a load that swings: up to 40 requests a second, of which 0.5 % fail."""
    random, readings = Random(seed), []
    used, written = 0.0, 0
    for number in range(int(seconds / gap)):
        second = number * gap
        load = random.randint(0, 20) * (1 + math.sin(second / 300)) * gap
        requests = int(load)
        used += gap * (0.05 + 0.002 * requests) * random.uniform(0.5, 1.5)
        written += requests * random.randint(80, 300)
        held = memory(second) if memory else 120 + 10 * math.sin(second / 300)
        usage = Usage(
            state="running",
            cpu_seconds=used,
            memory=int(max(1.0, held + random.gauss(0, noise)) * MB),
            memory_limit=LIMIT,
            descriptors=20 + requests // 2 + random.randint(0, 6),
            descriptor_limit=1024,
            log_bytes=written,
            disk=int(5 * MB + 200 * second),
        )
        readings.append(
            Reading(
                app="shop",
                release=1,
                at=START + second,
                usage=usage,
                status=200 if random.random() > 0.002 else 0,
                probe_seconds=0.01 * random.lognormvariate(0, 0.8),
                traffic=_traffic(random, requests),
            )
        )
    return readings


def _traffic(random: Random, requests: int) -> Traffic:
    if not requests:
        return Traffic()
    return Traffic(
        requests=requests,
        failed=sum(random.random() < 0.005 for _ in range(requests)),
        median=0.04 * random.lognormvariate(0, 0.3),
        slowest=0.12 * random.lognormvariate(0, 0.5),
    )


def course_readings(course: Course, seed: int) -> list[Reading]:
    """The readings of a course."""
    return healthy(seed, course.seconds, gap=course.gap, memory=course.memory, noise=course.noise)


def first_alarm(course: Course, seed: int, watch: Watch, every: int = 1) -> Found:
    """What an operator who looks at each reading, or at every so many, is told first."""
    readings = course_readings(course, seed)
    for end in range(1, len(readings) + 1, every):
        for alarm in alarms(readings[max(0, end - LONGEST) : end], watch):
            delay = alarm.at - START - course.begins
            return Found(
                kind=alarm.kind, delay=delay, left=alarm.seconds_left, evidence=alarm.evidence
            )
    return Found()


def saw(period: float, height: float, floor: float = 80.0) -> Memory:
    """What a garbage collector makes of a steady use."""
    return lambda second: floor + height * (second % period) / period


def warm_up(constant: float, height: float) -> Memory:
    """A growth that flattens, by its time constant."""
    return lambda second: 40 + height * (1 - math.exp(-second / constant))


def cache(seconds: float, height: float) -> Memory:
    """A growth that goes straight up until the cache is full."""
    return lambda second: 60 + height * min(1.0, second / seconds)


def leak(rate: float, *, begins: float = 0.0, floor: float = 60.0) -> Memory:
    """A growth by so many megabytes a second that has no end."""
    return lambda second: floor + rate * max(0.0, second - begins)


def step(height: float) -> Memory:
    """What is loaded once, after five minutes, and kept."""
    return lambda second: 60.0 + height * (second > 300)


def _leaking_saw(second: float) -> float:
    return saw(30, 40)(second) + second / 60


LEAKS = (
    Course(name="10 MB/s from the start", memory=leak(10), seconds=45, wanted="memory leak"),
    Course(
        name="10 MB/s after 400 s",
        memory=leak(10, begins=400),
        seconds=445,
        begins=400,
        wanted="memory leak",
    ),
    Course(
        name="10 MB/s after 400 s, read every 5 s",
        memory=leak(10, begins=400),
        seconds=445,
        begins=400,
        gap=5,
        wanted="memory leak",
    ),
    Course(name="1 MB/s", memory=leak(1), seconds=450, wanted="memory leak"),
    Course(name="0.1 MB/s", memory=leak(0.1), seconds=3600, gap=5, wanted="memory leak"),
    Course(name="1 MB/min", memory=leak(1 / 60), seconds=3600, noise=2, wanted="memory leak"),
    Course(
        name="1 MB/min, read every 5 s",
        memory=leak(1 / 60),
        seconds=3600,
        gap=5,
        noise=2,
        wanted="memory leak",
    ),
    Course(
        name="1 MB/min under a saw of 40 MB",
        memory=_leaking_saw,
        seconds=3600,
        gap=5,
        wanted="memory leak",
    ),
)
HARMLESS = (
    *(
        Course(name=f"saw of {height} MB in {period} s", memory=saw(period, height), seconds=1800)
        for period, height in ((10, 40), (30, 60), (60, 100), (120, 100), (300, 150))
    ),
    *(
        Course(
            name=f"warm-up by {height} MB, constant {constant} s",
            memory=warm_up(constant, height),
            seconds=1800,
        )
        for constant, height in ((2, 100), (5, 100), (20, 100), (60, 150), (200, 100))
    ),
    *(
        Course(
            name=f"cache of {height} MB full after {seconds} s",
            memory=cache(seconds, height),
            seconds=1200,
        )
        for seconds, height in ((30, 40), (60, 150), (120, 100), (300, 100))
    ),
    *(
        Course(
            name=f"step of {height} MB",
            memory=step(height),
            seconds=900,
        )
        for height in (20, 100, 250)
    ),
)
UNDECIDED = (
    Course(name="warm-up by 150 MB, constant 300 s", memory=warm_up(300, 150), seconds=1800),
    Course(name="warm-up by 100 MB, constant 600 s", memory=warm_up(600, 100), seconds=3000),
    Course(name="cache of 60 MB full after 600 s", memory=cache(600, 60), seconds=1200),
    Course(name="saw of 60 MB in 1200 s", memory=saw(1200, 60), seconds=3600),
    Course(name="saw of 100 MB in 10 s", memory=saw(10, 100), seconds=300),
)
"""Courses that nobody can tell from a leak for as long as the growth lasts."""


def failing(readings: Sequence[Reading], share: float, seed: int) -> list[Reading]:
    """Readings of which a share of the requests fails."""
    random = Random(seed)
    changed = []
    for reading in readings:
        failed = sum(random.random() < share for _ in range(reading.traffic.requests))
        changed.append(replace(reading, traffic=replace(reading.traffic, failed=failed)))
    return changed


def slowed(readings: Sequence[Reading], times: float) -> list[Reading]:
    """Readings whose requests take so many times as long."""
    return [
        replace(
            each,
            traffic=replace(
                each.traffic,
                median=each.traffic.median and each.traffic.median * times,
                slowest=each.traffic.slowest and each.traffic.slowest * times,
            ),
        )
        for each in readings
    ]


def saying(reading: Reading, *messages: str) -> Reading:
    """A reading in whose span errors were logged that were never seen before."""
    return replace(reading, said=Said(errors=len(messages), fresh=messages))
