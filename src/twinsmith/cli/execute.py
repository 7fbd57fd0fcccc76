"""`twinsmith exec`: run a file as if a model had written it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.files import files_in, text_of
from twinsmith.cli.options import Json, at_least

if TYPE_CHECKING:
    from twinsmith.core.execution import Execution, Limits
    from twinsmith.core.program import Program
    from twinsmith.settings import Settings

EXAMPLE = "Example: twinsmith exec --language c sort.c --stdin numbers.txt --arg -r --cpu 2"
LARGEST_OUTPUT = 4 << 20
# A program that only waits is given up this long after its processor time would be spent.
SLACK_SECONDS = 5


def execute(
    file: Annotated[Path, typer.Argument(help="The program.")],
    language: Annotated[
        str, typer.Option(help="Its language; without it the file's ending tells.")
    ] = "",
    stdin: Annotated[Path | None, typer.Option(help="A file it reads as standard input.")] = None,
    arg: Annotated[
        list[str] | None, typer.Option(help="One argument of the program; may be repeated.")
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option("--with", help="One more file of it, as seen from its folder; repeatable."),
    ] = None,
    cpu: Annotated[
        int | None,
        typer.Option(parser=at_least(1), metavar="S", help="Seconds of processor time."),
    ] = None,
    memory: Annotated[
        int | None, typer.Option(parser=at_least(16), metavar="MB", help="Memory in megabytes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a program in the sandbox; exit code 0 when its own is 0, else 1."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.core.probe import Command
    from twinsmith.runs.outside import execute as executed

    book = opened_book()
    program = _program(file, beside or (), language)
    limits = _limits(book.settings, cpu, memory)
    command = Command(args=tuple(arg or ()), stdin=text_of(stdin) if stdin else "")
    execution, isolation = asyncio.run(
        executed(book, program, command, limits, lambda line: typer.echo(line, err=True))
    )
    if as_json:
        typer.echo(json.dumps(_row(program, execution, isolation), ensure_ascii=False))
    else:
        _show(execution, isolation)
    passed = bool(execution.results) and execution.results[0].outcome == "passed"
    raise typer.Exit(exits.DONE if passed else exits.NO)


def _program(file: Path, beside: Sequence[str], language: str) -> "Program":
    from twinsmith.core.errors import BadReply, ConfigError
    from twinsmith.core.program import Program

    try:
        return Program(
            source=text_of(file),
            language=language or _guessed(file),
            kind="cli",
            files=files_in(file.parent, beside),
        )
    except BadReply as error:
        raise ConfigError(f"{error}; give another --with") from None


def _limits(settings: "Settings", cpu: int | None, memory: int | None) -> "Limits":
    from dataclasses import replace

    from twinsmith.wiring.sandbox import limits_of

    limits = replace(limits_of(settings), output_bytes=LARGEST_OUTPUT)
    if cpu is not None:
        limits = replace(limits, cpu_seconds=float(cpu), probe_seconds=float(cpu + SLACK_SECONDS))
    return limits if memory is None else replace(limits, memory_mb=memory)


def _guessed(file: Path) -> str:
    from twinsmith.adapters.sandbox.languages import LANGUAGES
    from twinsmith.core.errors import ConfigError

    for language in LANGUAGES.values():
        if file.suffix == language.suffix:
            return language.name
    raise ConfigError(
        f"{file}: no language ends in {file.suffix!r}; give --language, one of "
        f"{', '.join(LANGUAGES)}"
    )


def _show(execution: "Execution", isolation: str) -> None:
    if not execution.results:
        typer.echo(f"twinsmith: {execution.problem}", err=True)
        return
    (result,) = execution.results
    sys.stdout.write(result.output)
    sys.stdout.flush()
    sys.stderr.write(result.errors)
    code = "" if result.exit_code is None else f" (exit code {result.exit_code})"
    word = "done" if result.outcome == "passed" else f"{result.outcome}: {result.detail}"
    typer.echo(
        f"[{word}{code}, {result.cpu_seconds:.2f} s of processor, {result.peak_mb:g} MB, "
        f"{isolation}]",
        err=True,
    )


def _row(program: "Program", execution: "Execution", isolation: str) -> dict[str, object]:
    row: dict[str, object] = {
        "language": program.language,
        "isolation": isolation,
        "problem": execution.problem,
    }
    if execution.results:
        (result,) = execution.results
        row |= {
            "outcome": result.outcome,
            "detail": result.detail,
            "exit_code": result.exit_code,
            "stdout": result.output,
            "stderr": result.errors,
            "cpu_seconds": result.cpu_seconds,
            "peak_mb": result.peak_mb,
        }
    return row
