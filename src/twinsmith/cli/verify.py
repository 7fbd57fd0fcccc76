"""`twinsmith verify`: a finished service once more in the sandbox, check by check."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.files import files_in
from twinsmith.cli.options import Json

if TYPE_CHECKING:
    from twinsmith.core.execution import Execution
    from twinsmith.core.probe import Probes
    from twinsmith.core.program import Program

EXAMPLE = "Example: twinsmith verify a3f9"


def verify(
    result: Annotated[
        str, typer.Argument(help="A run, how its name ends, or a folder; else the latest run.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Start a finished service in the sandbox and run its own checks; exit code 1 if one fails."""
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.core.services.http_checks import severity_of
    from twinsmith.runs.outside import verify as verified

    book = opened_book()
    folder = Path(result).expanduser()
    if not result or not folder.is_dir():
        run = result or next(iter(reversed(book.journal.runs())), "")
        folder = Path(book.progress(book.find(run)).out)
    program, probes = _read(folder)
    execution = asyncio.run(verified(book, program, probes))
    hard = {probe.name for probe in probes.checks if severity_of(probe) == "blocking"}
    failed = [r for r in execution.results if r.outcome != "passed" and r.name in hard]
    if as_json:
        rows = [asdict(each) for each in execution.results]
        typer.echo(json.dumps({"problem": execution.problem, "results": rows}, ensure_ascii=False))
    else:
        _shown(execution, len(failed))
    raise typer.Exit(exits.NO if failed or execution.problem else exits.DONE)


def _shown(execution: "Execution", failed: int) -> None:
    if execution.problem:
        typer.echo(execution.problem)
    for each in execution.results:
        passed = each.outcome == "passed"
        detail = "" if passed else f": {' '.join(each.detail.split())[:160]}"
        typer.echo(f"  {'✓' if passed else '✗'} {each.name}{detail}")
    typer.echo(f"{len(execution.results)} checks over HTTP, {failed} failed that count")


def _read(folder: Path) -> "tuple[Program, Probes]":
    """The program and its checks in a result folder; they run in the sandbox only."""
    from twinsmith.core.errors import BadReply, ConfigError
    from twinsmith.core.operating.deliverable import CHECKS, checks_in
    from twinsmith.core.program import FILE_NAMES, Program

    try:
        found = [each for each, name in FILE_NAMES.items() if (folder / name).exists()]
        language = found[0] if found else "python"
        text = (folder / CHECKS).read_text(encoding="utf-8")
        raw = json.loads(text)
        program = Program(
            source=(folder / FILE_NAMES[language]).read_text(encoding="utf-8"),
            language=language,
            kind="service",
            files=files_in(folder, map(str, raw.get("files", ()))),
        )
        return program, checks_in(text, str(folder))
    except (OSError, ValueError, AttributeError, BadReply) as error:
        raise ConfigError(
            f"{folder} holds no finished service ({type(error).__name__}: {error}); "
            "name a run that was solved, or its folder"
        ) from None
