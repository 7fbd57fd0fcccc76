"""Runs behind a server, as commands show them: begun, followed to their ends, fetched."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from twinsmith.cli.follow import follow_to_the_end
from twinsmith.cli.outcome import finish, tell
from twinsmith.cli.wish import Manner
from twinsmith.core.errors import ConfigError
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import ENDED, Progress, stands_still, unfinished
from twinsmith.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twinsmith.client import Client
    from twinsmith.client.shapes import Begun
    from twinsmith.core.events import Entry
    from twinsmith.core.people.question import QuestionRecord
    from twinsmith.runs.ended import Outcome

LOOK_SECONDS = 0.5
IDLE_SECONDS = 1.0


class There:
    """A run of a server; its result is brought to this machine."""

    pause = LOOK_SECONDS

    def __init__(self, client: "Client", run: str, out: Path | None = None) -> None:
        self.run = run
        self.goes_on = True
        self._client = client
        self._out = out

    async def look(self) -> tuple[Progress, bool]:
        """How far it has come, and whether it stands still."""
        return await asyncio.to_thread(self.seen)

    def events(self) -> "Iterator[Entry]":
        """Its events as they come, until it stands still."""
        last = False
        for entry in self._client.runs.watched(self.run, idle=IDLE_SECONDS):
            if entry is not None:
                yield entry
            elif last:
                return
            else:
                # Once more: what came before it stood still is seen.
                _, last = self.seen()

    async def questions(self) -> "Sequence[QuestionRecord]":
        """Everything that is asked just now, by whatever run."""
        return await asyncio.to_thread(self._client.people.questions)

    async def answer(self, question: str, text: str) -> None:
        """Answer a question; ConfigError where somebody else was faster."""
        await asyncio.to_thread(self._client.people.answer, question, text)

    async def outcome(self) -> "Outcome":
        """Its outcome, with its result on this machine; an error says why there is none."""
        from dataclasses import replace

        why_not = unfinished(self._client.runs.get(self.run))
        if why_not is not None:
            raise why_not
        ended = self._client.runs.outcome(self.run).outcome
        if not isinstance(ended, RunOutcome) or not ended.out:
            return ended
        return replace(ended, out=str(await brought(self._client, self.run, self._out)))

    def seen(self) -> tuple[Progress, bool]:
        """How far it has come, and whether it stands still."""
        progress = self._client.runs.get(self.run)
        last = stands_still(progress, lambda: self._client.ready().workers > 0)
        self.goes_on = not last
        return progress, last


def ended(client: "Client", run: str, *, as_json: bool, out: Path | None = None) -> "Outcome":
    """Follow a run to its end; the command ends where it stands still without one."""
    return follow_to_the_end(There(client, run, out), load(), as_json=as_json)


def see_through(client: "Client", run: str, *, detach: bool, as_json: bool) -> None:
    """Follow a run to its end, with which the command ends, too; or only tell its name."""
    if detach:
        _told(client, run, as_json=as_json)
    else:
        finish(ended(client, run, as_json=as_json), as_json=as_json)


def build(client: "Client", begin: "Callable[[], Begun]", manner: Manner) -> None:
    """Let a server begin a run, see it to its end, and deploy what came of it."""
    from twinsmith.adapters.outbox.folder import check_folder
    from twinsmith.client.shapes import NewApp

    out, as_json = manner.out, manner.as_json
    if manner.detach and out is not None:
        raise ConfigError("--out needs the end of the run; without --detach, or fetch it then")
    if out is not None:
        check_folder(out.expanduser().absolute())
    run = begin().run
    if manner.detach:
        _told(client, run, as_json=as_json)
        return
    outcome = ended(client, run, as_json=as_json, out=out)
    assert isinstance(outcome, RunOutcome)
    if not manner.deploy or not outcome.solved:
        if manner.deploy:
            typer.echo("not deployed: only what is solved is", err=True)
        finish(outcome, as_json=as_json)
    tell(outcome)
    begun = client.apps.deploy(NewApp(run=run, name=manner.name))
    see_through(client, begun.run, detach=False, as_json=as_json)


def resume(client: "Client", run: str, *, as_json: bool) -> NoReturn:
    """Let workers go on with a run; one that has ended is told as it ended."""
    known = client.runs.get(run)
    if known.state not in ENDED:
        client.runs.resume(known.run)
    finish(ended(client, known.run, as_json=as_json), as_json=as_json)


async def brought(client: "Client", run: str, out: Path | None) -> Path:
    """The folder on this machine in which the result of a run lies now."""
    from twinsmith.adapters.outbox.folder import FolderOutbox

    folder = (out or load().home / "runs" / run / "result").expanduser().absolute()
    await FolderOutbox().publish(run, str(folder), client.runs.files(run))
    return folder


def _told(client: "Client", run: str, *, as_json: bool) -> None:
    """The name of a run that is left alone."""
    if as_json:
        typer.echo(json.dumps({"run": run, "state": client.runs.get(run).state}))
        return
    typer.echo(run)
    if not client.ready().workers:
        typer.echo("no worker takes runs yet; start one with: twinsmith worker", err=True)
