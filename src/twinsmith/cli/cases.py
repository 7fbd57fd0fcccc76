"""`twinsmith cases`: tasks that were not solved yet, and another try at them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json, at_least

if TYPE_CHECKING:
    from twinsmith.core.case import Case

LIST_EXAMPLE = "Example: twinsmith cases --json"
REPLAY_EXAMPLE = "Example: twinsmith cases replay (all), twinsmith cases replay a3f9 (one)"

cases = typer.Typer(help="Tasks that were not solved yet, and another try.")


@cases.callback(invoke_without_command=True, epilog=LIST_EXAMPLE)
def list_cases(context: typer.Context, as_json: Json = False) -> None:
    """Tasks whose last run did not solve them; one that is solved leaves the list."""
    if context.invoked_subcommand:
        return
    from twinsmith.cli.book import opened_book
    from twinsmith.cli.screen import fitted, flat

    found = opened_book().cases()
    if as_json:
        typer.echo(json.dumps([_as_json(case) for case in found], ensure_ascii=False))
        return
    if not found:
        typer.echo("no open cases")
    for case in found:
        typer.echo(fitted(f"{case.run}  {case.tries} tries  {flat(case.task.text)}"))
        typer.echo(fitted(f"    {flat(case.reason)}"))


@cases.command("replay", epilog=REPLAY_EXAMPLE)
def replay(
    case: Annotated[str, typer.Argument(help="The run of a case, or how it ends.")] = "",
    most: Annotated[
        int, typer.Option("-n", parser=at_least(1), metavar="N", help="At most so many cases.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Build open cases again with another seed; exit code 1 when one stays open."""
    from functools import partial

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import drive, provide_model
    from twinsmith.cli.outcome import tell
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.outcome import RunOutcome
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.submit import another_try

    book = opened_book()
    driver = Driver(book)
    found = book.cases()
    chosen = [c for c in found if c.run.endswith(case)][:most]
    if case and not chosen:
        runs = ", ".join(c.run for c in found) or "none"
        raise ConfigError(f"case {case!r} is not open; open are: {runs}")
    if chosen:
        provide_model(book.settings, as_json=as_json)
    outcomes = []
    for each in chosen:
        job = another_try(book, each)
        ended = drive(driver, job.run, partial(driver.start, job), as_json=as_json)
        assert isinstance(ended, RunOutcome)
        outcomes.append(ended)
        if not as_json:
            tell(outcomes[-1])
    solved = sum(outcome.solved for outcome in outcomes)
    if as_json:
        rows = [{"run": o.run, "solved": o.solved, "reason": o.reason} for o in outcomes]
        typer.echo(json.dumps(rows, ensure_ascii=False))
    else:
        typer.echo(f"{solved} of {len(outcomes)} cases solved" if chosen else "no open cases")
    raise typer.Exit(exits.DONE if solved == len(outcomes) else exits.NO)


def _as_json(case: "Case") -> dict[str, object]:
    return {
        "run": case.run,
        "task": case.task.text,
        "language": case.task.language,
        "kind": case.task.kind,
        "reason": case.reason,
        "tries": case.tries,
    }
