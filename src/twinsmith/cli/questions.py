"""`twinsmith questions` and `twinsmith answer`: what runs want to know, and telling them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json

if TYPE_CHECKING:
    from twinsmith.core.people.question import QuestionRecord

QUESTIONS_EXAMPLE = "Example: twinsmith questions (those that are open), twinsmith questions --all"
ANSWER_EXAMPLE = 'Example: twinsmith answer a3f9.1 "only numbers" (or the number of a choice)'


def questions(
    every: Annotated[bool, typer.Option("--all", help="Answered ones, too.")] = False,
    as_json: Json = False,
) -> None:
    """Questions of runs to people, each with what holds where nobody answers in time."""
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.questions import asked_questions

    found = asked_questions(opened_book(), answered=every)
    if as_json:
        typer.echo(json.dumps([_as_json(each) for each in found], ensure_ascii=False))
        return
    if not found:
        typer.echo("no questions" if every else "no open questions")
    for each in found:
        _show(each)


def answer(
    question: Annotated[str, typer.Argument(help="The question, or how its name ends.")],
    text: Annotated[str, typer.Argument(help="The answer, or the number of a choice.")],
    as_json: Json = False,
) -> None:
    """Answer a question of a run; the first answer counts."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.questions import answer as answered

    book = opened_book()
    record = asyncio.run(answered(book, question, text))
    run = record.question.run
    if as_json:
        typer.echo(json.dumps(_as_json(record), ensure_ascii=False))
        return
    given = record.answer.text if record.answer else ""
    typer.echo(f"{record.question.id}: {given}")
    if book.progress(run).state == "waiting":
        goes_on = "a worker goes on with it" if book.workers(serving=True) else ""
        typer.echo(goes_on or f"go on with: twinsmith resume {run}")


def _show(record: "QuestionRecord") -> None:
    from twinsmith.cli.screen import flat
    from twinsmith.core.people.question import numbered

    question = record.question
    typer.echo(f"{question.id}  {flat(question.text)}")
    if question.choices:
        typer.echo(f"    {flat(numbered(question.choices))}")
    if record.answer is not None:
        typer.echo(f"    {flat(record.answer.text)} ({record.answer.by}, {record.answer.at[:16]})")
    else:
        typer.echo(f"    until {record.until[:16]} UTC, then: {flat(question.assumed)}")


def _as_json(record: "QuestionRecord") -> dict[str, object]:
    from dataclasses import asdict

    kept = asdict(record)
    return {**kept.pop("question"), **kept}
