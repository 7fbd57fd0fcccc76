"""Programs that runs made: one passage each, found by what was asked for."""

import asyncio
import hashlib
from collections.abc import Mapping

from twinsmith.adapters.knowledge.ingest import Ingest
from twinsmith.adapters.knowledge.store import Documents
from twinsmith.core.knowing.knowledge import BUILT, MEANING_ENDS, Built, Document, Piece

MOST_PROGRAMS = 2000
LONGEST_PROGRAM = 8000
LONGEST_TASK = 1000
"""More of a task the default embedder does not read."""
LICENCE = "own"


async def keep_program(made: Built, store: Documents, ingest: Ingest) -> str:
    """Keep a program instead of less sure ones for its task; in words, what became of it."""
    if len(made.source) > LONGEST_PROGRAM:
        return f"not kept: it has {len(made.source)} characters; at most {LONGEST_PROGRAM}"
    known = await asyncio.to_thread(store.known, BUILT)
    rivals = same_task(known, made)
    surer = next((run for run, sure in rivals.items() if sure > _rounded(made)), "")
    if surer:
        return f"not kept: run {surer} was surer of its program for this task"
    if known.get(made.run) != version_of(made):
        await ingest.keep([(document_of(made), (_piece(made),))])
    others = [run for run in known if run not in rivals and run != made.run]
    too_many = max(len(others) + 1 - MOST_PROGRAMS, 0)
    for run in (*rivals, *others[:too_many]):
        await asyncio.to_thread(store.drop, BUILT, run)
    return "kept"


def same_task(known: Mapping[str, str], made: Built) -> dict[str, float]:
    """How sure other runs were of their programs for the very same task."""
    versions = {run: version.split() for run, version in known.items() if run != made.run}
    asked = [_task_digest(made)]
    return {run: float(parts[1]) for run, parts in versions.items() if parts[:1] == asked}


def version_of(made: Built) -> str:
    """Which task a program answers, how surely, and what it is."""
    return f"{_task_digest(made)} {_rounded(made):.3f} {_digest(made.source)}"


def document_of(made: Built) -> Document:
    """A program as it is kept: behind the words of its task, in one line."""
    asked = " ".join(made.task.split())[:LONGEST_TASK]
    return Document(
        source=BUILT,
        path=made.run,
        text=f"{asked}\n{MEANING_ENDS}\n{made.source}",
        digest=version_of(made),
        language=made.language,
        licence=LICENCE,
    )


def _piece(made: Built) -> Piece:
    text = document_of(made).text
    return Piece(text=text, symbol=made.entry, first_line=1, last_line=text.count("\n") + 1)


def _rounded(made: Built) -> float:
    return round(made.confidence, 3)


def _task_digest(made: Built) -> str:
    return _digest(f"{made.language}\n{' '.join(made.task.split())}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]
