"""`twinsmith questions` and `twinsmith answer`: what runs want to know, and telling them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.core.people.question import QuestionRecord

QUESTIONS_EXAMPLE = "Example: twinsmith questions (those that are open), twinsmith questions --all"
ANSWER_EXAMPLE = 'Example: twinsmith answer a3f9.1 "only numbers" (or the number of a choice)'


def questions(
    every: Annotated[bool, typer.Option("--all", help="Answered ones, too.")] = False,
    as_json: Json = False,
) -> None:
    """Questions of runs to people, each with what holds where nobody answers in time."""
    found = _asked(answered=every)
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
    record, waits, served = _answered(question, text)
    if as_json:
        typer.echo(json.dumps(_as_json(record), ensure_ascii=False))
        return
    given = record.answer.text if record.answer else ""
    typer.echo(f"{record.question.id}: {given}")
    if waits:
        then = f"go on with: {command()} resume {record.question.run}"
        typer.echo("a worker goes on with it" if served else then)


def _asked(*, answered: bool) -> "tuple[QuestionRecord, ...]":
    """Questions that are open; with `answered`, all that were ever asked."""
    client = server()
    if client is not None:
        return client.people.questions(every=answered)
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.questions import asked_questions

    return asked_questions(opened_book(), answered=answered)


def _answered(question: str, text: str) -> "tuple[QuestionRecord, bool, bool]":
    """A question that was answered, whether its run still waits, whether a worker goes on."""
    client = server()
    if client is not None:
        record = client.people.answer(question, text)
        waits = client.runs.get(record.question.run).state == "waiting"
        return record, waits, client.ready().workers > 0
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.questions import answer as answered

    book = opened_book()
    record = asyncio.run(answered(book, question, text))
    waits = book.progress(record.question.run).state == "waiting"
    return record, waits, bool(book.workers(serving=True))


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
