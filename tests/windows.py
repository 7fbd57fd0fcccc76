"""Stories of the real command that are cut off at a write, and what has to be true afterwards.

A window is a write and whether the process dies right before or right after it. Whatever the
window, the run that goes on ends as if nothing had been: the same outcome and files, every call
paid once and counted as paid, every event once, every hash of the log, and nothing left behind.
"""

import hashlib
import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeVar, cast

from tests.conftest import CHECKS, DOUBLE, PROFILE, RIGHT, ROOT, SHORT, WRONG, Command, script
from tests.models import FOLDER
from tests.wire import Received, Turn, WireServer
from twinsmith.core.knowing.knowledge import BUILT

T = TypeVar("T")
LATE_SECONDS = 3
UNKNOWN = {"lease"}
"""All that may be left of a run that died before anybody was told of it."""
_SECONDS = re.compile(r"(?<=tokens, )\d+ s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A write by its name, and on which side of it the process dies."""

    write: str
    when: str

    @property
    def kind(self) -> str:
        """What is written: a step, an event, an answer in the cache, …"""
        return self.write.partition(" ")[0]

    def __str__(self) -> str:
        return f"{self.when} {self.write}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended; -9 when it was killed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is built, and who answers: a script, or a provider on the loopback.

    `late` names a step that runs out of time. Once that is recorded, everybody answers at once:
    it must not make a difference any more. `kinds` are those of the writes that other stories do
    not have; all of them, where there are none.
    """

    name: str
    args: tuple[str, ...] = (DOUBLE,)
    replies: Mapping[str, object] = field(default_factory=script)
    env: Mapping[str, str] = field(default_factory=dict)
    billed_by_wire: bool = False
    late: str = ""
    code: int = 0
    kinds: tuple[str, ...] = ()

    def own(self, writes: Sequence[str]) -> list[str]:
        """The writes at which this story is to be cut off."""
        return [write for write in writes if not self.kinds or write.startswith(self.kinds)]


def late() -> dict[str, object]:
    """A script whose second coder takes too long."""
    said = script()
    replies = said["replies"]
    assert isinstance(replies, list)
    return {**said, "replies": [{**r, "delay": 60 * (r["text"] == RIGHT)} for r in replies]}


SCRIPTED = Story(name="scripted")
PRICED = Story(name="priced", billed_by_wire=True, kinds=("transcript", "cache", "step ask"))
LATE = Story(
    name="late",
    args=(DOUBLE, "--budget-seconds", str(LATE_SECONDS)),
    replies=late(),
    late="ask coder 1",
    code=1,
)
LIBRARY = Story(
    name="library",
    args=(f"{DOUBLE}\n>>> double(4)\n8",),
    env={"TWINSMITH_BUILD_RETRIEVAL": "true", "TWINSMITH_MODELS_FOLDER": str(FOLDER)},
    kinds=("library", "graph", "step recall", "step keep"),
)
STORIES = {story.name: story for story in (SCRIPTED, PRICED, LATE, LIBRARY)}


class Provider(WireServer):
    """An endpoint that answers each question of a run in its own way and bills a key once."""

    def __init__(self) -> None:
        super().__init__()
        self.billed: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()

    def take(self, call: Received) -> Turn:
        """The answer to the question that the key names."""
        super().take(call)
        key = call.headers["idempotency-key"].rpartition("/")[0]
        self.asked[key] += 1
        self.billed[key] = 1
        role, nth = key.split()[-2:]
        text = {"slow": json.dumps(PROFILE), "coder": (WRONG, RIGHT)[int(nth)], "critic": CHECKS}
        return Turn(text=text[role], tokens_in=120, tokens_out=30)


class Warm:
    """The command, run in forks of one process that has imported everything already."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.faults", "--serve"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, place: Command, *args: str, plug: Mapping[str, str] | None = None) -> Done:
        """One command to its end, with a plug or without."""
        assert self._server.stdin
        assert self._server.stdout
        said = {name: place.home.parent / f"{place.home.name}.{name}" for name in ("out", "err")}
        asked = {
            "args": args,
            "env": {**place.environment, **(plug or {})},
            **{name: str(path) for name, path in said.items()},
        }
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        return Done(code=code, out=said["out"].read_text(), err=said["err"].read_text())

    def close(self) -> None:
        """End the process."""
        self._server.communicate()


@contextmanager
def warm() -> Iterator[Warm]:
    """The process for as long as a block lasts."""
    made = Warm()
    try:
        yield made
    finally:
        made.close()


class Trial:
    """One story in one data folder, cut off as often as it is told."""

    def __init__(self, story: Story, folder: Path, warm: Warm, database: str = "") -> None:
        self.story = story
        folder.mkdir(parents=True, exist_ok=True)
        self.place = Command(home=folder / "home")
        self._warm = warm
        self._provider: Provider | None = None
        self.place.env |= story.env
        if database:
            self.place.env["TWINSMITH_DATABASE_URL"] = database
        if story.billed_by_wire:
            self._provider = Provider()
            self.place.env |= {
                "OPENAI_API_KEY": "sk-planted-abcdefghijklmnop",
                "OPENAI_BASE_URL": f"{self._provider.url}/v1",
                "TWINSMITH_MODELS_EMBEDDED": "",
                "TWINSMITH_MODELS_OLLAMA": "",
                **SHORT,
            }
        else:
            self.place.use_script(dict(story.replies))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._provider is not None:
            self._provider.stop()

    def undisturbed(self) -> tuple[dict[str, object], list[str]]:
        """What has to be true of every run of this story, and all its writes."""
        notes = self.place.home.parent / "writes"
        done = self._command("build", *self.story.args, "--json", plug={"PLUG_NOTES": str(notes)})
        assert done.code == self.story.code, done
        return self.facts(done), notes.read_text().splitlines()

    def problems(self, expected: Mapping[str, object], *windows: Window) -> list[str]:
        """What is not as it has to be, after a death in the first window, and in each later one."""
        first, *others = windows
        killed = self._command("build", *self.story.args, "--json", plug=_plug(first))
        if killed.code != -9:
            return [f"was not killed but ended with {killed.code}: {killed.err[-300:]}"]
        # Between the two lines that begin a run, the missing one is taken for one that was removed.
        begun = bool(self.place.runs())
        found = ["the log does not verify after the kill"] * (begun and not self._verified())
        runs = [row["run"] for row in json.loads(self._command("status", "--json").out)]
        if not runs:
            return found + self._begun_anew(expected)
        if self.story.late and self.story.late in self._steps(runs[0]):
            self.place.use_script(script())
        for window in others:
            self._command("resume", runs[0], "--json", plug=_plug(window))
        done = self._command("resume", runs[0], "--json")
        if done.code != self.story.code:
            return [*found, f"resume ended with {done.code}: {done.out[-500:]}{done.err[-500:]}"]
        found += _differences(expected, self.facts(done))
        again = self._command("resume", runs[0], "--json")
        if again.out != done.out:
            found.append("a second resume tells another outcome")
        if not self._verified():
            found.append("the log does not verify")
        if first.kind == "cache" and first.when == "after" and self._provider is not None:
            question = first.write.removeprefix("cache ")
            if self._provider.asked[f"{runs[0]}/{question}"] > 1:
                found.append("a call whose answer was in the cache was made again")
        return found

    def cancelled(self, window: Window) -> list[str]:
        """What is left of a run that died in a window and was given up then."""
        self._command("build", *self.story.args, "--json", plug=_plug(window))
        (run,) = self.place.runs()
        done = self._command("cancel", run)
        left = sorted(path.name for path in (self.place.home / "runs" / run).iterdir())
        found = [] if done.code == 0 else [f"cancel ended with {done.code}: {done.err}"]
        return found + [f"{name} is left" for name in left if name.startswith(".")]

    def facts(self, done: Done) -> dict[str, object]:
        """All that does not depend on the day, the folder and the name of the run."""
        outcome = json.loads(done.out)
        run = outcome["run"]
        out = Path(outcome["out"])
        outcome["spent"]["seconds"] = 0
        files = {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
        report = {**json.loads(files["report.json"]), "seconds": 0}
        events = [event for event in self.place.events(run) if event["key"]]
        (published,) = [e["data"] for e in events if e["kind"] == "result.published"]
        return {
            "outcome": self._plain(outcome, run),
            "report": self._plain(report, run),
            "files": {
                name: _SECONDS.sub("", self._plain(data.decode(), run))
                for name, data in files.items()
                if name != "report.json"
            },
            "digests": _digests(published) == {n: _sha256(data) for n, data in files.items()},
            "events": sorted(Counter(str(event["key"]) for event in events).items()),
            "answers": _answers(events),
            "bill": self._bill(run),
            "paid": self._tokens(run) == report["tokens"],
            "steps": self._steps(run),
            "kept": self._kept(run),
            "tree": self._tree(run),
        }

    def _begun_anew(self, expected: Mapping[str, object]) -> list[str]:
        """Of a run that nobody was told of nothing may be left but a job in a folder."""
        folders = [path for path in (self.place.home / "runs").glob("*") if path.is_dir()]
        left = {path.name for folder in folders for path in folder.iterdir()} - UNKNOWN
        for folder in folders:
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
        done = self._command("build", *self.story.args, "--json")
        if done.code != self.story.code:
            return [f"a new build ended with {done.code}: {done.err[-300:]}"]
        found = _differences(expected, self.facts(done))
        return found + [f"{name} is left of a run that was never told of" for name in left]

    def _command(self, *args: str, plug: Mapping[str, str] | None = None) -> Done:
        return self._warm.run(self.place, *args, plug=plug)

    def _verified(self) -> bool:
        return self._command("log", "--verify").code == 0

    def _plain(self, value: T, run: str) -> T:
        text = json.dumps(value).replace(run, "RUN").replace(str(self.place.home), "HOME")
        return cast("T", json.loads(text))

    def _bill(self, run: str) -> list[str]:
        if self._provider is not None:
            keys = list(self._provider.billed.elements())
        else:
            keys = self.place.bill()
        return sorted(key.removeprefix(run) for key in keys if key.startswith(run))

    def _tokens(self, run: str) -> int:
        if self._provider is not None:
            return 150 * len(self._bill(run))
        lines = (self.place.home / "scripted-bill.jsonl").read_text().splitlines()
        rows = [row for row in map(json.loads, lines) if row["key"].startswith(run)]
        return sum(row["tokens"] for row in rows)

    def _steps(self, run: str) -> list[str]:
        query = "SELECT function_name FROM {} WHERE workflow_uuid = {} ORDER BY function_id"
        url = self.place.env.get("TWINSMITH_DATABASE_URL", "")
        if url:
            import psycopg

            with psycopg.connect(url) as server:
                rows = server.execute(query.format("dbos.operation_outputs", "%s"), (run,))
                return [str(name) for (name,) in rows]
        if not (self.place.home / "state.db").exists():
            return []
        with closing(sqlite3.connect(self.place.home / "state.db")) as file:
            return [
                name for (name,) in file.execute(query.format("operation_outputs", "?"), (run,))
            ]

    def _kept(self, run: str) -> list[str]:
        """The programs in the library, by their runs."""
        library = self.place.home / "knowledge" / "knowledge.db"
        if not library.exists():
            return []
        with closing(sqlite3.connect(library)) as file:
            rows = file.execute("SELECT path FROM documents WHERE source = ?", (BUILT,))
            return [path.replace(run, "RUN") for (path,) in rows]

    def _tree(self, run: str) -> list[str]:
        """Every file there is; what an open database needs beside it comes and goes."""
        home = self.place.home
        paths = [str(path.relative_to(home)).replace(run, "RUN") for path in home.rglob("*")]
        return sorted(path for path in paths if not path.endswith(("-wal", "-shm")))


def _plug(window: Window) -> dict[str, str]:
    return {"PLUG_AT": window.write, "PLUG_WHEN": window.when}


def _answers(events: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """What the journal says of every answer: who gave it and what it cost."""
    told: dict[str, object] = {}
    for event in events:
        data = event["data"]
        if event["kind"] == "model.replied" and isinstance(data, dict):
            wanted = ("model", "tokens", "usd", "cached", "failed_attempts")
            told[str(event["key"])] = {name: data[name] for name in wanted}
    return told


def _digests(published: object) -> object:
    assert isinstance(published, dict)
    return published["sha256"]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _differences(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    return [
        f"{name}: {json.dumps(found[name])[:600]} instead of {json.dumps(expected[name])[:600]}"
        for name in expected
        if found[name] != expected[name]
    ]
