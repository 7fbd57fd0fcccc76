"""Detectors of a shift against what was usual: more failed requests, slower answers."""

import math
from collections.abc import Sequence
from itertools import islice, pairwise

from twinsmith.core.operating.alarm import Alarm, Severity
from twinsmith.core.operating.watch import Watch
from twinsmith.core.operating.window import Window, middle

BLOCKS = 4
"""What is usual is the calmest of so many parts: trouble that lasts does not become usual."""
CALM_AGAIN = 3
"""So many readings in a row that are not slow end a slow stretch."""
MOSTLY_SLOW = 0.75
Answered = tuple[int, float]
"""The index of a reading, and how long its requests took."""


def errors(window: Window, watch: Watch) -> Alarm | None:
    """A share of failed requests that the usual share and chance do not explain."""
    for span in watch.error_spans:
        first = max(window.release, window.within(span))
        asked, failed = _counted(window, first, len(window.readings))
        if failed < watch.errors_fewest or failed < watch.errors_share * asked:
            continue
        usual_asked, usual_failed = _usual(window, first, watch)
        usual_failed = min(usual_failed, int(watch.errors_tolerated * usual_asked))
        usual = usual_failed / usual_asked if usual_asked else watch.errors_usual
        likely = chance_of(
            failed, asked, 0.5 + usual_failed, 0.5 / watch.errors_usual + usual_asked - usual_failed
        )
        if failed < watch.errors_more * usual * asked or likely > watch.chance:
            continue
        compared = f"{usual:.1%} of {usual_asked} before" if usual_asked else "nothing known before"
        severe = failed >= watch.errors_severe * asked
        return window.alarm(
            "errors",
            next(
                at
                for at in range(first, len(window.readings))
                if window.readings[at].traffic.failed
            ),
            f"{failed / asked:.0%} of {asked} requests fail, {compared}",
            min(0.99, 1 - likely),
            "critical" if severe else "warning",
        )
    return None


def latency(window: Window, watch: Watch) -> Alarm | None:
    """Answers that take much longer than usual, by the median or by the slowest of them."""
    traffics = [reading.traffic for reading in window.readings]
    typical = [each.median for each in traffics]
    found = _slower(window, typical, "the median of answers", watch)
    if found:
        return found
    enough = watch.tail_requests
    slowest = [each.slowest if each.requests >= enough else None for each in traffics]
    return _slower(window, slowest, "the 95th percentile of answers", watch)


def chance_of(failed: int, asked: int, alpha: float, beta: float) -> float:
    """How likely at least so many of the asked fail, the share being Beta(alpha, beta).

    The Beta-binomial's tail: a share of which little is known yet makes much likely.
    """
    term = math.exp(
        math.lgamma(asked + 1)
        - math.lgamma(failed + 1)
        - math.lgamma(asked - failed + 1)
        + math.lgamma(failed + alpha)
        + math.lgamma(asked - failed + beta)
        - math.lgamma(asked + alpha + beta)
        + math.lgamma(alpha + beta)
        - math.lgamma(alpha)
        - math.lgamma(beta)
    )
    tail = 0.0
    for more in range(failed, asked + 1):
        tail += term
        if more == asked or term < 1e-9 * tail:
            break
        term *= (asked - more) / (more + 1) * (more + alpha) / (beta + asked - more - 1)
    return min(1.0, tail)


def _counted(window: Window, first: int, end: int) -> tuple[int, int]:
    """Requests and failed ones of some readings, as far as there was somebody to answer them.

    What fails while nothing runs is told by its end, and is no fault of the release's answers.
    """
    asked = sum(reading.traffic.requests for reading in window.readings[first:end])
    failing = [at for at in range(first, end) if window.readings[at].traffic.failed]
    failed = dict.fromkeys((True, False), 0)
    for at in failing:
        failed[_was_there(window, at)] += window.readings[at].traffic.failed
    return asked - failed[False], failed[True]


def _was_there(window: Window, at: int) -> bool:
    """Whether one process ran from the reading before to this one."""
    now, before = window.readings[at], window.readings[max(0, at - 1)]
    if before.release != now.release:
        return now.usage.state == "running"
    ran = now.usage.state == before.usage.state == "running"
    return ran and now.usage.restarts == before.usage.restarts


def _usual(window: Window, end: int, watch: Watch) -> tuple[int, int]:
    """Requests and failed ones in the calmest part before `end`, of this release or the last."""
    edges = [end * part // BLOCKS for part in range(BLOCKS + 1)]
    parts = [_counted(window, *pair) for pair in pairwise(edges)]
    known = [part for part in parts if part[0] >= watch.errors_known]
    if known:
        return min(known, key=lambda part: part[1] / part[0])
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


def _slower(window: Window, times: Sequence[float | None], what: str, watch: Watch) -> Alarm | None:
    """An alarm for a stretch of slow readings at the end, where such were rare before."""
    known = (seconds for seconds in reversed(times) if seconds is not None)
    recent = middle(islice(known, watch.latency_readings))
    if recent < watch.latency_slack:
        return None
    answers = [(index, seconds) for index, seconds in enumerate(times) if seconds is not None]
    usual = _calm([seconds for _, seconds in answers[: -watch.latency_readings]], watch)
    slow = max(watch.latency_slower * usual, usual + watch.latency_slack)
    if not usual or recent < slow:
        return None
    begin = _stretch(window, answers, slow)
    stretch, before = answers[begin:], answers[:begin]
    many = sum(seconds >= slow for _, seconds in stretch)
    rare = sum(seconds >= slow for _, seconds in before)
    if many < max(watch.latency_readings, MOSTLY_SLOW * len(stretch)):
        return None
    if len(before) < watch.latency_known or rare > watch.latency_usual * len(before):
        return None
    if window.ago(stretch[0][0]) < watch.latency_seconds:
        return None
    now = middle(seconds for _, seconds in stretch)
    likely = chance_of(many, len(stretch), 0.5 + rare, 0.5 + len(before) - rare)
    if likely > watch.chance:
        return None
    severity: Severity = "critical" if now >= watch.latency_severe * usual else "warning"
    evidence = (
        f"{what} is {now:.3f} s in {len(stretch)} readings, {usual:.3f} s is usual "
        f"and {rare} of {len(before)} before were as slow"
    )
    return window.alarm("latency", stretch[0][0], evidence, min(0.99, 1 - likely), severity)


def _calm(times: Sequence[float], watch: Watch) -> float:
    """The usual time of an answer: the median of the fastest part; 0 where too little is known."""
    parts = min(BLOCKS, len(times) // watch.latency_known)
    edges = [len(times) * part // parts for part in range(parts + 1)] if parts else []
    return min((middle(times[begin:end]) for begin, end in pairwise(edges)), default=0.0)


def _stretch(window: Window, answers: Sequence[Answered], slow: float) -> int:
    """Where the slow stretch at the end begins; it lies within the serving release."""
    begin, calm = len(answers), 0
    for at in range(len(answers) - 1, -1, -1):
        index, seconds = answers[at]
        if index < window.release or calm >= CALM_AGAIN:
            break
        begin, calm = (at, 0) if seconds >= slow else (begin, calm + 1)
    return begin
