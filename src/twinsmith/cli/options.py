"""Options that commands share, and those of `build`: what is typed, read and refused."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


def at_least(least: int) -> "Callable[[str], int]":
    """A reader of whole numbers that refuses those below `least`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a whole number") from None
        if number < least:
            raise typer.BadParameter(f"{number} is too small; at least {least}")
        return number

    return parse


def _money(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not an amount of money") from None
    if not 0 < amount < 1_000_000:
        raise typer.BadParameter(f"{text} is not an amount of money; for example 0.50")
    return amount


Language = Annotated[
    str, typer.Option(help="python, perl, rust, go, c or cpp; else what the task says.")
]
Kind = Annotated[
    str, typer.Option(help="function, library, cli or service; else what the task says.")
]
Tests = Annotated[Path | None, typer.Option(help="A file with checks that the result must pass.")]
Spec = Annotated[
    Path | None,
    typer.Option(help="An OpenAPI document (YAML or JSON) that a service has to keep to."),
]
Out = Annotated[Path | None, typer.Option(help="A new folder for the result.")]
Seed = Annotated[
    int | None,
    typer.Option(parser=at_least(0), metavar="N", help="The same seed, the same result."),
]
Seconds = Annotated[
    int | None,
    typer.Option(parser=at_least(1), metavar="N", help="Seconds of work it may take."),
]
Tokens = Annotated[
    int | None,
    typer.Option(parser=at_least(1), metavar="N", help="Tokens it may use, in and out."),
]
Dollars = Annotated[
    float | None, typer.Option(parser=_money, metavar="X", help="US dollars it may cost.")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Leave the run to workers and print its name.")
]
Order = Annotated[str, typer.Option(help="high, normal or low: what workers take first.")]
Key = Annotated[
    str | None, typer.Option(help="The same key gives the same run, however often it is asked.")
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="WORD",
        help="In another way than the settings say: build.votes=2, coder=openai:gpt-4o-mini or "
        "prompt.code=FILE; may be told many times.",
    ),
]
Like = Annotated[
    str,
    typer.Option(metavar="RUN", help="Build a run again: its task, seed and versions of then."),
]
Near = Annotated[
    bool, typer.Option("--near", help="With --like: where versions of then are gone, go on.")
]
Deploy = Annotated[bool, typer.Option("--deploy", help="Deploy the service when it is solved.")]
Name = Annotated[str, typer.Option(help="The name of the app; else after the run or its folder.")]
App = Annotated[str, typer.Argument(help="The name of the app.")]
