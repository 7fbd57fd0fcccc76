"""Values as people read them: times, sizes, states, code; what templates are given to use."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from markupsafe import Markup

from twinsmith.core.operating.instance import HOSTS
from twinsmith.core.progress import Progress, elapsed, several

LONGEST_ID = 18
WORKING, WAITS, GOOD, BAD, HELD = ("●", "▲", "✓", "✕", "❚❚")
_KINDS: Mapping[str, tuple[str, str]] = {
    "working": (
        WORKING,
        (
            "driven, fixing, proving, queued, releasing, restarted, restarting, rolling back, "
            "running, seen, trying, working"
        ),
    ),
    "waits": (
        WAITS,
        "waiting, asking, interrupted, escalated, open, needs a person, asks you, in trouble",
    ),
    "good": (GOOD, "solved, done, serving, well, closed, passed, active, approve, met, shown"),
    "bad": (
        BAD,
        "not solved, not met, refused, cancelled, failed, exited, rolled back, unknown, absent",
    ),
    "held": (HELD, "parked, stopped, paused, not watched, replaced"),
}
_SHAPES = {
    name: (shape, kind) for kind, (shape, names) in _KINDS.items() for name in names.split(", ")
}
NOTHING = "\N{EN DASH}"


def state(name: str) -> Markup:
    """A state by shape, colour and word."""
    shape, kind = _SHAPES.get(name, ("○", "plain"))
    return Markup('<span class="state {}"><span aria-hidden="true">{}</span> {}</span>').format(
        kind, shape, name
    )


def when(moment: str | float | None) -> Markup:
    """A time as people say it, the exact one on hover."""
    if not moment:
        return Markup('<span class="faint">{}</span>').format(NOTHING)
    at = (
        datetime.fromtimestamp(moment, UTC)
        if isinstance(moment, int | float)
        else datetime.fromisoformat(moment)
    )
    exact = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), exact, ago((datetime.now(UTC) - at).total_seconds())
    )


def ago(seconds: float) -> str:
    """A span from now, in one unit: past as `5 min ago`, to come as `in 5 min`."""
    told = span(abs(seconds))
    if abs(seconds) < 2:
        return "now"
    return f"{told} ago" if seconds > 0 else f"in {told}"


def span(seconds: float) -> str:
    """A span of time in one unit."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def clock(seconds: float) -> str:
    """A span of time as a clock shows it: 02:41."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def short(name: str) -> Markup:
    """A long identifier shortened in the middle; whole on hover, and copied whole."""
    if len(name) <= LONGEST_ID:
        return Markup('<code class="id">{}</code>').format(name)
    shown = f"{name[:6]}…{name[-8:]}"
    return Markup('<code class="id" title="{}" data-copy="{}">{}</code>').format(name, name, shown)


def tail(run: str) -> Markup:
    """A run by how its name ends, which is enough to name it; whole on hover."""
    return Markup('<code class="id" title="{}" data-copy="{}">{}</code>').format(
        run, run, run.rpartition("-")[2] or run
    )


def number(value: float | None, unit: str = "") -> str:
    """A figure with its unit, with thousands apart."""
    if value is None:
        return NOTHING
    told = f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"
    return f"{told} {unit}".rstrip()


def usd(value: float) -> str:
    """Money."""
    return f"{value:,.2f} USD" if value >= 0.01 or not value else f"{value:.4f} USD"


def person(signature: str) -> str:
    """Somebody by their name alone."""
    return signature.removeprefix("user:")


@lru_cache(maxsize=512)
def code(text: str, language: str) -> Markup:
    """A text with its syntax marked; no markup of its own survives."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        return Markup('<div class="code" tabindex="0"><pre>{}</pre></div>').format(text)
    # Pygments escapes what it is given.
    made = highlight(text, lexer, HtmlFormatter(cssclass="code", wrapcode=False))
    focusable = made.replace('<div class="code">', '<div class="code" tabindex="0">', 1)
    return Markup(focusable)  # noqa: S704


def marked_lines(lines: Sequence[str], name: str) -> list[Markup]:
    """Lines of a file with their syntax marked, by what its name says it is."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [Markup.escape(line) for line in lines]
    # Pygments escapes what it is given, and ends at a line's end what it began in it.
    made = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True)).split("\n")
    found = [Markup(line) for line in made[: len(lines)]]  # noqa: S704
    return found + [Markup()] * (len(lines) - len(found))


def took(progress: Progress) -> float:
    """The seconds that a run has taken so far."""
    now = datetime.now(UTC).isoformat()
    return elapsed(progress.started, now if progress.state == "running" else progress.updated)


def several_of(count: int, word: str) -> str:
    """A count with its word."""
    return several(count, word)


FILTERS: Mapping[str, Callable[..., object]] = {
    "state": state,
    "when": when,
    "span": span,
    "clock": clock,
    "short": short,
    "tail": tail,
    "number": number,
    "usd": usd,
    "person": person,
    "code": code,
}
GLOBALS: Mapping[str, object] = {
    "several": several_of,
    "took": took,
    "between": elapsed,
    "hosts": HOSTS,
}
