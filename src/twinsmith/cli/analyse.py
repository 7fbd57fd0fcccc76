"""`twinsmith analyse`: how models, roles, prompts and runs behave, what changed, and why."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from twinsmith.client import Client
    from twinsmith.client.analysis import Analyses
    from twinsmith.core.behaviour.drift import Drift
    from twinsmith.core.behaviour.figures import Read, Row, Wanted
    from twinsmith.core.behaviour.report import Comparison, Report
    from twinsmith.core.behaviour.trust import Trust
    from twinsmith.runs.analyse import Analysis

EXAMPLE = "Example: twinsmith analyse models --since 2026-11-01 --html behaviour.html"
MOST_ROWS = 40
TIMES = "\N{MULTIPLICATION SIGN}"
LINKS = re.compile(r"</?a\b[^>]*>")
Pair = tuple[str, str]


def analyse(
    view: Annotated[str, typer.Argument(help="models, roles, prompts or runs.")],
    since: Annotated[str, typer.Option(help="From this day on (UTC): 2026-11-01.")] = "",
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Two of them side by side: models, versions, prompts …"),
    ] = None,
    by: Annotated[
        str,
        typer.Option(help="What is told apart, with commas: model,version,language,kind,day …"),
    ] = "",
    as_json: Json = False,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file, too.")] = None,
) -> None:
    """What calls took, what became of the answers, how confidence held, and what changed."""
    from twinsmith.core.behaviour.figures import Wanted, dimensions_in, view_in
    from twinsmith.runs.analyse import since_in

    wanted = Wanted(view=view_in(view), by=dimensions_in(by), since=since_in(since))
    if html is not None:
        _writable(html)
    report, both = _read(server(), wanted, compare, alone=html is None and compare is not None)
    if html is not None and report is not None:
        html.write_text(_page(report, both))
    if as_json:
        from dataclasses import asdict

        told = both or report
        assert told is not None
        typer.echo(json.dumps(asdict(told), ensure_ascii=False))
    elif both is not None:
        _comparison(both)
    elif report is not None:
        _report(report)
    if html is not None and not as_json:
        typer.echo(f"written: {html}")


def _read(
    client: "Client | None", wanted: "Wanted", compare: Pair | None, *, alone: bool
) -> "tuple[Report | None, Comparison | None]":
    """What is told, from a server or from the journal here; a comparison alone needs no report."""
    told: Analyses | Analysis = client.analysis if client is not None else _here()
    report = None if alone else told.report(wanted)
    both = told.compare(wanted.view, *compare, wanted.since) if compare else None
    return report, both


def _here() -> "Analysis":
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.analyse import Analysis

    return Analysis(opened_book())


def _report(report: "Report") -> None:
    if not report.rows:
        when = f" from {report.since} on" if report.since else ""
        typer.echo(f'no model was asked{when}; every build counts: {command()} build "…"')
    else:
        _calls(report)
        _became(report)
        _trusts(report.trust)
        _drifts(report)
    _skipped(report.read)


def _calls(report: "Report") -> None:
    head = (
        "calls", "cached", "first s", "mean s", "p50 s", "p95 s", "tokens in",
        "tokens out", "USD", "in vain", "refused", "nobody", "unusable", "mended", "cut",
    )  # fmt: skip
    _table(report, head, _call)


def _call(row: "Row") -> list[str]:
    calls = row.calls
    return [
        f"{calls.answered:,}",
        f"{calls.cached:,}",
        _seconds(calls.first.mean),
        _seconds(calls.whole.mean),
        _seconds(calls.whole.p50),
        _seconds(calls.whole.p95),
        f"{calls.tokens_in:,}",
        f"{calls.tokens_out:,}",
        f"{calls.usd:,.4f}" + ("+?" if calls.unpriced else ""),
        f"{calls.tries:,}",
        f"{calls.refused:,}",
        f"{calls.unanswered:,}",
        _part(calls.unusable, calls.read),
        _part(calls.repaired, calls.read),
        _part(calls.cut, calls.answered),
    ]


def _became(report: "Report") -> None:
    head = (
        "solved", "candidates", "broken", "by outcome", "by tests", "in operation",
        "checks agreed", "exchange",
    )  # fmt: skip
    typer.echo()
    _table(report, head, _work)


def _work(row: "Row") -> list[str]:
    work, part = row.work, row.part
    return [
        _part(part.solved, part.runs),
        f"{work.written:,}",
        _part(work.broken, work.written),
        _part(work.accepted, work.ended),
        _part(work.right, work.tested),
        _part(work.held, work.released),
        _part(row.checks.agreed, row.checks.judged),
        _part(part.changed, part.told),
    ]


def _table(report: "Report", head: "Iterable[str]", figures: "Callable[[Row], list[str]]") -> None:
    from twinsmith.cli.screen import fitted, flat

    names = len(report.by)
    rows = [[*_key(row, report), *figures(row)] for row in report.rows[:MOST_ROWS]]
    total = ["all", *[""] * (names - 1), *figures(report.total)]
    lines = [[each.replace("_", " ") for each in (*report.by, *head)], *rows, total]
    told = [[flat(each) for each in line] for line in lines]
    wide = [max(len(line[place]) for line in told) for place in range(len(told[0]))]
    for line in told:
        cells = [
            each.ljust(width) if place < names else each.rjust(width)
            for place, (each, width) in enumerate(zip(line, wide, strict=True))
        ]
        typer.echo(fitted("  ".join(cells).rstrip()))
    if len(report.rows) > MOST_ROWS:
        typer.echo(f"and {len(report.rows) - MOST_ROWS} more; --json has all")


def _key(row: "Row", report: "Report") -> list[str]:
    """What a row is about; what was deployed before, and small edits, no model wrote."""
    absent = ["no model" if name == "model" else "-" for name in report.by]
    return [each or other for each, other in zip(row.key, absent, strict=True)]


def _trusts(trusts: "tuple[Trust, ...]") -> None:
    truths = {"outcome": "solved", "tests": "given checks", "operation": "in operation"}
    for each in trusts:
        if each.model:
            continue
        typer.echo(
            f"\nconfidence against {truths[each.truth]}: Brier {each.brier:.3f}, "
            f"{each.results:,} results"
        )
        for line in each.table:
            typer.echo(
                f"  said {line.least:.1f} to {line.most:.1f}: {line.results:>6,} results, "
                f"{line.said:.2f} on average, so in {line.held:.2f}"
            )


def _drifts(report: "Report") -> None:
    typer.echo()
    if not report.examined:
        typer.echo("changes: too few days and calls to tell (six days and sixty calls at least)")
    elif not report.drifts:
        typer.echo(f"changes: none in {report.examined} courses over days")
    for drift in report.drifts:
        _drift(drift)


def _drift(drift: "Drift") -> None:
    from twinsmith.cli.screen import flat
    from twinsmith.core.behaviour.drift import in_words

    whose = f" of {', '.join(drift.key)}" if drift.key else ""
    typer.echo(flat(f"{drift.day}: {drift.figure}{whose}: {in_words(drift)}"))
    for cause in drift.causes:
        typer.echo(flat(f"  likely cause: {cause.name}: {cause.gone}; {cause.came}"))
    if not drift.causes:
        typer.echo("  nothing that the journal knows of changed with it")
    if drift.runs:
        typer.echo(flat(f"  shown by {', '.join(drift.runs)}"))


def _comparison(both: "Comparison") -> None:
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.web.console.models import compared

    for role in compared(both):
        typer.echo(f"as {role.role}")
        if role.only:
            typer.echo(flat(f"  only {role.only} answered"))
            continue
        wide = max(len(name) for name, *_ in role.figures)
        typer.echo(fitted(flat(f"{'':<{wide + 2}}  {both.a}  against  {both.b}")))
        for name, one, other, unit in role.figures:
            times = f"  {TIMES} {other / one:.2f}" if one and other is not None else ""
            typer.echo(
                fitted(f"  {name:<{wide}}  {_number(one):>12}  {_number(other):>12} {unit}{times}")
            )
    _skipped(both.read)


def _skipped(read: "Read") -> None:
    if read.torn or read.altered:
        typer.echo(
            f"left out: {read.altered:,} altered and {read.torn:,} unreadable of {read.lines:,} "
            f"lines of the journal; {command()} log --verify names them",
            err=True,
        )


def _page(report: "Report", both: "Comparison | None") -> str:
    """The report as one page of HTML that needs nothing else; links lead nowhere in a file."""
    from importlib.resources import files

    from twinsmith.web.console.behaviour import both_part, parts_of
    from twinsmith.web.pages import part

    style = files("twinsmith.web").joinpath("static/style.css").read_text()
    parts = [*([both_part(both)] if both else []), *parts_of(report).values()]
    when = f"from {report.since} on" if report.since else "of all days"
    return part(
        "analysis_file",
        title=f"how {report.view} behave",
        told=f"{when}; {report.read.lines:,} lines of the journal were read",
        style=style,
        parts=[LINKS.sub("", each) for each in parts],
    )


def _writable(path: Path) -> None:
    from twinsmith.core.errors import ConfigError

    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError(f"{path} cannot be written: name a file in a folder that is there")


def _part(count: int, whole: int) -> str:
    return f"{count:,}/{whole:,} {100 * count / whole:.0f}%" if whole else "-"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
