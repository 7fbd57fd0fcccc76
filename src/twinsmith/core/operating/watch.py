"""When an app's readings are called an alarm: every threshold of the detectors."""

from dataclasses import dataclass

MB = 1024 * 1024
HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The thresholds by which an app is watched; durations in seconds, shares from 0 to 1."""

    longest_gap: float = 120.0
    """A longer pause between two readings tells nothing about how much time went by."""

    crash_remembered: float = 30.0
    """How long a crash is told of after it."""
    loop_restarts: int = 3
    """So many restarts within `loop_seconds` are a crash loop."""
    loop_seconds: float = 120.0
    """The span in which restarts are counted."""
    gone_after: float = 1.0
    """An instance that was absent for so long has nobody who would bring it back."""
    down_after: float = 5.0
    """An instance that was exited for so long does not come back by itself."""
    restarting_after: float = 60.0
    """An instance that was about to restart for so long does not come back by itself."""

    boot: float = 5.0
    """What failing probes mean nothing for, after a start that was seen."""
    probes_failing: int = 3
    """So many failing probes in a row are an alarm."""
    probes_slow: int = 5
    """Of so many probes the middle one is called how long a probe takes."""
    probe_slow: float = 1.0
    """A probe that takes less is never slow."""
    probe_slower: float = 3.0
    """A slow probe takes so many times as long as usual."""
    hang_after: float = 5.0
    """Probes without any answer for so long may be a hang, if the processor tells the same."""
    hang_idle: float = 0.02
    """A process that hangs and waits uses at most this share of one processor."""
    hang_busy: float = 0.9
    """A process that hangs and spins uses at least this share of one processor."""

    error_spans: tuple[float, ...] = (5.0, 30.0, 120.0)
    """The last seconds in which failed requests are counted: short for many, long for few."""
    errors_fewest: int = 4
    """Fewer failed requests are never an alarm."""
    errors_share: float = 0.05
    """A smaller share of failed requests is never an alarm."""
    errors_more: float = 2.0
    """An alarming share of failed requests is so many times the usual one."""
    errors_usual: float = 0.01
    """The share of requests that may fail in an app of which nothing is known yet."""
    errors_tolerated: float = 0.2
    """A higher share of failed requests never becomes usual, however long it lasts."""
    errors_known: int = 50
    """So many requests tell what is usual."""
    errors_severe: float = 0.2
    """From this share of failed requests on the alarm is critical."""
    chance: float = 1e-5
    """What chance alone would bring about more often than this is no shift."""

    latency_slower: float = 2.0
    """Slow is so many times the usual time of an answer."""
    latency_slack: float = 0.05
    """Slow is so many seconds more than the usual time of an answer."""
    latency_readings: int = 8
    """So many readings have to be slow, most of them one after the other."""
    latency_seconds: float = 5.0
    """The readings have to be slow for so long."""
    latency_known: int = 20
    """So many readings before tell what is usual."""
    latency_usual: float = 0.05
    """Slow readings that were at least this share before are usual."""
    latency_severe: float = 5.0
    """From so many times the usual time on the alarm is critical."""
    tail_requests: int = 10
    """The 95th percentile of fewer requests in one reading tells nothing."""

    growth_readings: int = 6
    """A growth shows in at least so many readings."""
    growth_reach: float = 1.5
    """A growth that was seen for one second is believed to last so many seconds more."""
    growth_soon: float = 60.0
    """A limit that is reached within this leaves no time to look on."""
    growth_reach_soon: float = 7.0
    """`growth_reach` for memory whose limit is reached soon."""
    warm_up: float = 20.0
    """A process that was just started grows: so long nothing but `growth_reach` is believed."""
    growth_seen: float = 540.0
    """A growth that was seen for so long is believed in any case."""
    growth_share: float = 0.015
    """A growth by a smaller share of the limit is none."""
    growth_steady: float = 0.8
    """A growth whose later half is slower than this share of the whole comes to its end."""
    growth_horizon: float = DAY
    """A limit that is reached later is left alone."""
    growth_severe: float = HOUR / 4
    """A limit that is reached within this makes the alarm critical."""
    disk_limit: int = 10 * 1024 * MB
    """Bytes that the data volume may hold; whoever knows how much is free says so here."""

    flood_rate: float = 1.0 * MB
    """Fewer bytes of log a second are never a flood."""
    flood_more: float = 10.0
    """A flood is so many times the usual bytes a second."""
    flood_seconds: float = 5.0
    """A flood lasts at least so long."""

    fresh_remembered: float = 30.0
    """How long errors that were never seen before are told of."""

    certificate_days: float = 14.0
    """So many days before its end a certificate is an alarm."""
    certificate_severe_days: float = 2.0
    """So many days before its end a certificate is a critical alarm."""
    end_of_life_days: float = 90.0
    """So many days before its end of life a dependency is an alarm."""

    quiet: float = 300.0
    """An alarm that was not found for so long is over; what comes earlier is the same one."""
