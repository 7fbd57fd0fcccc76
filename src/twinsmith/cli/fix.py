"""`twinsmith fix`: both ensembles mend a deployed service, by a check that fails on it."""

from pathlib import Path
from typing import Annotated

import typer

from twinsmith.cli import options
from twinsmith.cli.files import text_of
from twinsmith.cli.wish import Manner, Wish

EXAMPLE = "Example: twinsmith fix shop --tests ./crash.py --deploy"


def fix(
    name: options.App,
    tests: Annotated[
        Path, typer.Option(metavar="FILE", help="Checks that fail on it: asserts or test_… .")
    ],
    release: Annotated[
        int | None,
        typer.Option(parser=options.at_least(1), metavar="N", help="Else the one that serves."),
    ] = None,
    told: Annotated[str, typer.Option(help="What was seen, in words.")] = "",
    budget_seconds: options.Seconds = None,
    budget_tokens: options.Tokens = None,
    deploy: options.Deploy = False,
    as_json: options.Json = False,
) -> None:
    """Exchange the function of a deployed service that fails a check; all else stays as it is."""
    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import see_through
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.probe import read_tests
    from twinsmith.runs.fixing import fixing

    if deploy and as_json:
        raise ConfigError("--deploy follows the fix to its end; without --json, or in two commands")
    book = opened_book()
    source = text_of(tests, option="--tests ")
    if not read_tests(source, file=tests.name).checks:
        raise ConfigError(f"{tests} holds no check; write asserts or test_… functions that fail")
    wish = Wish(seconds=budget_seconds, tokens=budget_tokens)
    budget = wish.budget(book.settings.values.build)
    job = fixing(book, name, source, budget=budget, release=release or 0, told=told)
    see_through(book, job, Manner(name=name, deploy=deploy, as_json=as_json))
