"""The real command with a plug: it kills itself right before or right after one of its writes.

    PLUG_NOTES=FILE python -m tests.faults build "…"
    PLUG_AT="step publish" PLUG_WHEN=after python -m tests.faults build "…"

The first notes the name of every write, one a line; the second is killed after the named one.
Nothing in the product knows of this: what writes is wrapped before the command begins. With
`--serve`, commands are read from standard input and run in forks of one process that has imported
everything already: a tenth of the time.
"""

import functools
import importlib
import inspect
import json
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from twinsmith.core.anchor import Anchor
from twinsmith.core.events import SYSTEM, Event
from twinsmith.core.knowing.knowledge import BUILT, Document
from twinsmith.core.model import Prompt

LONGEST_SECONDS = 300
When = Literal["before", "after"]
Named = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A function that writes something that has to last.

    `named` tells what, from its arguments; nothing where it is not part of a run.
    """

    kind: str
    module: str
    path: str
    named: Named


def _event(_journal: object, event: Event) -> str:
    # In the system's chain a key names its run, which has another name each time.
    return f"system {event.kind}" if event.run == SYSTEM else event.key or event.kind


def _head(_heads: object, chain: str, _before: object, after: Anchor) -> str:
    return f"{'system' if chain == SYSTEM else 'run'} {after.lines}"


def _question(_owner: object, prompt: Prompt, *_: object) -> str:
    return prompt.key.partition("/")[2]


def _call(_cache: object, _key: str, _reply: object, call: str) -> str:
    return call.partition("/")[2]


def _step(_database: object, result: Mapping[str, object], **_: object) -> str:
    return str(result["function_name"])


def _program(_store: object, document: Document, *_: object, **__: object) -> str:
    return "program" if document.source == BUILT else ""


def _fixed(name: str) -> Named:
    return lambda *_, **__: name


def _target(_path: Path, target: object, *_: object) -> str:
    return Path(str(target)).name


ENGINE, FOLDER = "dbos._sys_db", "twinsmith.adapters.outbox.folder"
MODELS, GRAPH = "twinsmith.adapters.models", "twinsmith.adapters.knowledge.graph_ladybug"
WRITES = (
    Write(kind="move", module="pathlib", path="Path.rename", named=_target),
    Write(
        kind="journal",
        module="twinsmith.adapters.journal.chained",
        path="ChainedJournal.append",
        named=_event,
    ),
    Write(
        kind="head",
        module="twinsmith.adapters.journal.heads",
        path="DatabaseHeads.move",
        named=_head,
    ),
    Write(
        kind="record",
        module="twinsmith.adapters.durable.runs",
        path="RunTable.save",
        named=_fixed("run"),
    ),
    *(
        Write(
            kind="lease",
            module="twinsmith.adapters.durable.driving",
            path=f"DrivingTable.{name}",
            named=_fixed(name),
        )
        for name in ("submit", "claim", "leave")
    ),
    Write(
        kind="engine",
        module=ENGINE,
        path="SystemDatabase.init_workflow",
        named=_fixed("begins the run"),
    ),
    Write(
        kind="engine",
        module=ENGINE,
        path="SystemDatabase.resume_workflows",
        named=_fixed("goes on with the run"),
    ),
    Write(
        kind="engine",
        module=ENGINE,
        path="SystemDatabase.update_workflow_outcome",
        named=_fixed("ends the run"),
    ),
    Write(
        kind="step",
        module=ENGINE,
        path="SystemDatabase.record_operation_result",
        named=_step,
    ),
    Write(kind="bill", module=f"{MODELS}.scripted", path="ScriptedModel._charge", named=_question),
    Write(kind="cache", module=f"{MODELS}.reply_cache", path="ReplyCache.put", named=_call),
    Write(
        kind="cache",
        module=f"{MODELS}.reply_cache",
        path="ReplyCache.note_version",
        named=_fixed("version"),
    ),
    Write(
        kind="transcript",
        module=f"{MODELS}.transcripts",
        path="Transcripts.keep",
        named=_question,
    ),
    Write(kind="outbox", module=FOLDER, path="_write", named=_fixed("files")),
    Write(kind="outbox", module=FOLDER, path="_sync", named=_fixed("folder")),
    Write(kind="graph", module=GRAPH, path="LadybugGraph.upsert_nodes", named=_fixed("nodes")),
    Write(kind="graph", module=GRAPH, path="LadybugGraph.upsert_edges", named=_fixed("edges")),
    Write(
        kind="library",
        module="twinsmith.adapters.knowledge.sqlite_store",
        path="SqliteStore.put",
        named=_program,
    ),
)


# What the command imports when it needs it, and everything that drives a run does.
IMPORTED = (
    "twinsmith.cli.main",
    "twinsmith.cli.live",
    "twinsmith.runs.drive",
    "twinsmith.runs.presence",
    "twinsmith.adapters.durable.workers",
    "twinsmith.adapters.messages",
    "twinsmith.flow.pipeline",
    "twinsmith.adapters.durable.dbos_engine",
    "twinsmith.adapters.models.gateway",
    "twinsmith.adapters.knowledge.graph_masked",
    "twinsmith.adapters.sandbox.bubblewrap",
    "twinsmith.adapters.sandbox.review",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    "sqlalchemy.dialects.sqlite",
)


class Plug:
    """Names writes as they come, and pulls itself at one of them."""

    def __init__(self, *, at: str = "", when: str = "before", notes: str = "") -> None:
        self._at, self._when, self._notes = at, when, notes
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def begins(self, what: str) -> str:
        """A write begins; gives its name, which no other write of this process has."""
        with self._lock:
            self._seen[what] += 1
            name = what if self._seen[what] == 1 else f"{what} ({self._seen[what]})"
            if self._notes:
                with Path(self._notes).open("a", encoding="utf-8") as file:
                    file.write(f"{name}\n")
        self._pull(name, "before")
        return name

    def ended(self, name: str) -> None:
        """A write is through."""
        self._pull(name, "after")

    def _pull(self, name: str, when: When) -> None:
        if (name, when) == (self._at, self._when):
            os.kill(os.getpid(), signal.SIGKILL)


def watch(write: Write, plug: Plug) -> None:
    """Tell the plug of every call of a function."""
    owner: Any = importlib.import_module(write.module)
    *outer, name = write.path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    real = getattr(owner, name)

    @functools.wraps(real)
    def plugged(*args: object, **kwargs: object) -> object:
        name = write.named(*args, **kwargs)
        begun = plug.begins(f"{write.kind} {name}") if name else ""
        done = real(*args, **kwargs)
        plug.ended(begun)
        return done

    @functools.wraps(real)
    async def plugged_async(*args: object, **kwargs: object) -> object:
        begun = plug.begins(f"{write.kind} {write.named(*args, **kwargs)}")
        done = await real(*args, **kwargs)
        plug.ended(begun)
        return done

    setattr(owner, name, plugged_async if inspect.iscoroutinefunction(real) else plugged)


def command(args: list[str]) -> None:
    """The command itself, watched where the environment says so."""
    at, notes = os.environ.pop("PLUG_AT", ""), os.environ.pop("PLUG_NOTES", "")
    if at or notes:
        plug = Plug(at=at, when=os.environ.pop("PLUG_WHEN", "before"), notes=notes)
        for write in WRITES:
            watch(write, plug)
    from twinsmith.cli.main import run

    sys.argv = ["twinsmith", *args]
    run()


def serve() -> None:
    """Run commands from standard input, each in a fork; answers with their exit codes."""
    for module in (*IMPORTED, *(write.module for write in WRITES)):
        importlib.import_module(module)
    assert threading.active_count() == 1
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(asked)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(asked: dict[str, Any]) -> None:
    code = 70
    # One that hangs is ended by its own alarm: nobody else waits for it.
    signal.alarm(LONGEST_SECONDS)
    try:
        os.environ.clear()
        os.environ.update(asked["env"])
        for name, number in (("out", 1), ("err", 2)):
            file = os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        command(asked["args"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        command(sys.argv[1:])
