"""`twinsmith exec`: run a file as if a model had written it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.build import Json, at_least

if TYPE_CHECKING:
    from twinsmith.core.execution import Execution
    from twinsmith.core.program import Program

EXAMPLE = "Example: twinsmith exec --language c sort.c --stdin numbers.txt --arg -r --cpu 2"
LARGEST_FILE = 4 << 20
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
    from dataclasses import replace

    from twinsmith.app import App
    from twinsmith.core.probe import Command
    from twinsmith.core.program import Program
    from twinsmith.sandbox_choice import limits_of
    from twinsmith.settings import load

    settings = load()
    program = Program(source=_text(file), language=language or _guessed(file), kind="cli")
    limits = replace(limits_of(settings), output_bytes=LARGEST_OUTPUT)
    if cpu is not None:
        limits = replace(limits, cpu_seconds=float(cpu), probe_seconds=float(cpu + SLACK_SECONDS))
    if memory is not None:
        limits = replace(limits, memory_mb=memory)
    command = Command(args=tuple(arg or ()), stdin=_text(stdin) if stdin else "")
    execution, isolation = asyncio.run(
        App(settings).execute(program, command, limits, lambda line: typer.echo(line, err=True))
    )
    if as_json:
        typer.echo(json.dumps(_row(program, execution, isolation), ensure_ascii=False))
    else:
        _show(execution, isolation)
    passed = bool(execution.results) and execution.results[0].outcome == "passed"
    raise typer.Exit(exits.DONE if passed else exits.NO)


def _text(path: Path) -> str:
    from twinsmith.core.errors import ConfigError

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path} is too large; at most {LARGEST_FILE >> 20} MB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; name another file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text; name another file") from None


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
