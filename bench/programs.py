"""Whole programs from sentences: what works, what withstands attacks, what is called solved.

    python -m bench.programs [--group own|baxbench] [--only rooms,wiki] [--jobs N] [--out FILE]
        [--budget-seconds N] [--budget-tokens N] [--seed N] [--model M] [--set build.frame=off]…
        [--spec] [--raw] [--keep DIR] [--data DIR]

Every sentence is given to the product as a user would give it, `twinsmith build …` as a process
with a data folder of its own. What lies in the result folder, accepted or rejected, is judged by
dialogues that the product never sees; a rejected program may work, but it is not called solved.
With --raw the model alone answers instead, once and greedily, and its file is started as it is.
FILE remembers every row: what is there is not run again, and both are told side by side.

--model, such as server:NAME, is for every role; addresses and keys come from the environment, as
for the product. --set gives a setting another value, for runs without one of the parts.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from bench.programs_asked import Asked
from bench.programs_baxbench import scenarios
from bench.programs_commands import COMMANDS
from bench.programs_libraries import LIBRARIES
from bench.programs_open import OPEN_PYTHON
from bench.programs_raw import answered, prompt_of
from bench.programs_rows import Key, Row, as_line, model_share, read_rows, told
from bench.programs_services import SPECIFIED_PYTHON
from bench.programs_services_elsewhere import ELSEWHERE
from bench.programs_truth import Delivered, Judged, delivered, judge
from bench.solve_suites import SHARED
from twinsmith.cli.exits import BROKEN
from twinsmith.core.errors import ModelUnavailable, TwinsmithError
from twinsmith.ports import Model, Sandbox
from twinsmith.settings import load
from twinsmith.wiring.models import opened_model
from twinsmith.wiring.sandbox import sandbox_of

OWN: tuple[Asked, ...] = (*SPECIFIED_PYTHON, *OPEN_PYTHON, *ELSEWHERE, *COMMANDS, *LIBRARIES)
ROLES = [f"TWINSMITH_ENSEMBLE_{n}_{role}" for n in (1, 2) for role in ("SLOW", "CODER", "CRITIC")]
PATIENCE_SECONDS = 600
"""Beyond the budget: the last question and the last execution may have begun before its end."""
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How every sentence is run."""

    raw: bool = False
    spec: bool = False
    model: str = ""
    settings: tuple[str, ...] = ()
    seed: int = 0
    seconds: int = 1200
    tokens: int = 60_000

    @property
    def variant(self) -> str:
        """What differs from the product as it comes."""
        return " ".join([*sorted(self.settings), *(["--spec"] if self.spec else [])])


def command_of(asked: Asked, way: Way, folder: Path) -> list[str]:
    """The product's command line; language and kind are read off a sentence that names them."""
    told = ["--language", asked.language, "--kind", asked.kind] if asked.group != "own" else []
    spec = ["--spec", str(folder / "spec.yaml")] if way.spec and asked.spec else []
    return [
        *[sys.executable, "-m", "twinsmith", "build", asked.text, *told, *spec],
        *["--out", str(folder / "result"), "--json", "--seed", str(way.seed)],
        *["--budget-seconds", str(way.seconds), "--budget-tokens", str(way.tokens)],
    ]


def environment_of(
    way: Way, given: Mapping[str, str], folders: Mapping[str, str]
) -> dict[str, str]:
    """The environment with the model for every role and the settings that differ."""
    roles = dict.fromkeys(ROLES, way.model) if way.model else {}
    provider, _, model = way.model.partition(":")
    if provider == "server":
        roles["TWINSMITH_MODELS_SERVER_MODEL"] = model
    changed = [each.partition("=") for each in way.settings]
    return {
        **folders,
        **given,
        **roles,
        **{f"TWINSMITH_{name.upper().replace('.', '_')}": value for name, _, value in changed},
    }


def row_of(asked: Asked, way: Way, made: Delivered | None, seen: Judged) -> Row:
    """What truth says of a program, whoever wrote it."""
    return Row(
        name=asked.name,
        group=asked.group,
        language=asked.language,
        kind=asked.kind,
        system="raw" if way.raw else "twinsmith",
        variant=way.variant,
        model=way.model,
        seed=way.seed,
        works=seen.works,
        passed=seen.passed,
        total=seen.total,
        problem=seen.problem,
        weaknesses=seen.weaknesses,
        tried=seen.tried,
        untried=seen.untried,
        share=model_share(made.report) if made else None,
    )


class Bench:
    """One sandbox that judges, and the product or a model that is asked."""

    def __init__(
        self, way: Way, sandbox: Sandbox, folder: Path, folders: Mapping[str, str]
    ) -> None:
        self._way = way
        self._sandbox = sandbox
        self._folder = folder
        self._folders = folders

    async def built(self, asked: Asked) -> Row:
        """The product's row; one whose model or sandbox is out of reach raises."""
        place = self._folder / "-".join(
            [asked.name, *_plain(self._way.variant), str(self._way.seed)]
        )
        shutil.rmtree(place, ignore_errors=True)
        (place / "home").mkdir(parents=True)
        (place / "spec.yaml").write_text(asked.spec, encoding="utf-8")
        environment = environment_of(self._way, os.environ, self._folders)
        began = time.perf_counter()
        code, said, errors = await _ran(
            command_of(asked, self._way, place),
            {**environment, "TWINSMITH_HOME": str(place / "home")},
            self._way.seconds + PATIENCE_SECONDS,
        )
        seconds = time.perf_counter() - began
        if code == BROKEN:
            raise ModelUnavailable(f"{asked.name}: {(said.strip() or errors.strip())[-500:]}")
        made = delivered(place / "result")
        row = row_of(asked, self._way, made, await judge(asked, made, self._sandbox))
        return with_outcome(replace(row, seconds=round(seconds, 1)), said, errors)

    async def asked_raw(self, asked: Asked, model: Model) -> Row:
        """The raw model's row; an answer that is remembered counts as if it were given now."""
        began = time.perf_counter()
        reply = await model.ask(prompt_of(asked))
        seconds = time.perf_counter() - began
        made = answered(asked, reply.text)
        row = row_of(asked, self._way, made, await judge(asked, made, self._sandbox))
        return replace(row, tokens=reply.tokens, seconds=round(seconds, 1), share=1.0)


def with_outcome(row: Row, said: str, errors: str) -> Row:
    """A row with what the product said of its own result, or why it said nothing."""
    try:
        outcome = json.loads(said.strip().rpartition("\n")[2])
    except ValueError:
        outcome = {}
    if not isinstance(outcome, dict) or "solved" not in outcome:
        return replace(row, reason=(said.strip() or errors.strip())[-LONGEST_REASON:])
    spent = outcome.get("spent") or {}
    return replace(
        row,
        solved=bool(outcome["solved"]),
        confidence=round(float(outcome.get("confidence", 0.0)), 3),
        tokens=int(spent.get("tokens", 0)),
        reason=str(outcome.get("reason", ""))[:LONGEST_REASON],
    )


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text)


async def _ran(
    command: Sequence[str], environment: Mapping[str, str], seconds: float
) -> tuple[int | None, str, str]:
    """How a process ended and what it printed; one that takes too long is parked, then ended."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    speaking = asyncio.ensure_future(process.communicate())
    for signal in (process.terminate, process.kill):
        done, _ = await asyncio.wait([speaking], timeout=seconds)
        if done:
            break
        signal()
        seconds = 30
    said, errors = await speaking
    return process.returncode, said.decode(errors="replace"), errors.decode(errors="replace")


async def run(tasks: Sequence[Asked], way: Way, chosen: argparse.Namespace) -> list[Row]:
    """All tasks, those that the file does not remember now; with what it remembers of others."""
    settings = load(environment_of(way, os.environ, {}))
    folders = {
        "TWINSMITH_MODELS_FOLDER": str(settings.models_folder),
        "TWINSMITH_SANDBOX_FOLDER": str(settings.sandbox_folder),
    }
    rows = read_rows(chosen.out)
    known = {row.key for row in rows}
    waiting = [each for each in tasks if _key(each, way) not in known]
    several = asyncio.Semaphore(chosen.jobs)
    opened = opened_model(settings) if way.raw else nullcontext()
    async with opened as model:
        bench = Bench(way, sandbox_of(settings), chosen.keep, folders)

        async def one(asked: Asked) -> None:
            async with several:
                row = await (bench.asked_raw(asked, model) if model else bench.built(asked))
            rows.append(row)
            print(told([row]).splitlines()[0], flush=True)
            if chosen.out:
                with chosen.out.open("a", encoding="utf-8") as file:
                    file.write(as_line(row) + "\n")

        async with asyncio.TaskGroup() as group:
            for asked in waiting:
                group.create_task(one(asked))
    return rows


def _key(asked: Asked, way: Way) -> Key:
    empty = Judged(passed=0, total=0)
    return row_of(asked, way, None, empty).key


def taken(chosen: argparse.Namespace) -> list[Asked]:
    """The tasks that were asked for; a clear line where BaxBench is not there."""
    tasks = list(OWN) if chosen.group in ("", "own") else []
    if chosen.group in ("", "baxbench"):
        found = scenarios(chosen.data)
        if not found:
            print(f"no BaxBench in {chosen.data}: skipped; name a copy with --data", flush=True)
        tasks += found
    names = [name for name in chosen.only.split(",") if name]
    unknown = sorted(set(names) - {each.name for each in tasks})
    if unknown:
        there = ", ".join(each.name for each in tasks)
        raise SystemExit(f"--only {unknown[0]}: there is no such task; there are {there}")
    return [each for each in tasks if not names or each.name in names]


def setting(text: str) -> str:
    """A setting as it is named on the command line."""
    if not re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+=.*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no setting such as build.frame=off")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--group", choices=("own", "baxbench"), default="")
    parser.add_argument("--only", default="", help="names of tasks: rooms,wiki")
    parser.add_argument("--jobs", type=int, default=1, help="so many tasks at the same time")
    parser.add_argument("--out", type=Path, help="JSON lines, one row a task")
    parser.add_argument("--budget-seconds", type=int, default=1200)
    parser.add_argument("--budget-tokens", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="", help="for every role, such as server:NAME")
    parser.add_argument("--set", type=setting, action="append", default=[], dest="settings")
    parser.add_argument("--spec", action="store_true", help="BaxBench's OpenAPI documents as well")
    parser.add_argument("--raw", action="store_true", help="the model alone, one greedy answer")
    parser.add_argument("--keep", type=Path, help="where results are kept; else nowhere")
    parser.add_argument("--data", type=Path, default=SHARED / "baxbench")
    chosen = parser.parse_args()
    way = Way(
        raw=chosen.raw,
        spec=chosen.spec,
        model=chosen.model,
        settings=tuple(chosen.settings),
        seed=chosen.seed,
        seconds=chosen.budget_seconds,
        tokens=chosen.budget_tokens,
    )
    tasks = taken(chosen)
    with tempfile.TemporaryDirectory() as folder:
        chosen.keep = chosen.keep or Path(folder)
        try:
            rows = asyncio.run(run(tasks, way, chosen))
        except* TwinsmithError as problems:
            first = next(iter(problems.exceptions))
            raise SystemExit(f"{first}; what is done is remembered in {chosen.out}") from None
        print(told(rows))


if __name__ == "__main__":
    main()
