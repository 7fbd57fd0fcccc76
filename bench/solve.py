"""The whole loop live beside the raw model: how many problems are solved, at what cost.

    python -m bench.solve --suite humaneval|mbpp|humaneval-x [--language L]
        [--limit N | --only 3,7,13] [--data DIR] [--out FILE] [--seed N] [--model M]
        [--without second,inputs,…] [--ablations] [--pool FILE]

The problems of a suite grow harder, so that N of them are taken at even distances, or those at
the places named (the first is 0). Every one is answered by the raw model at temperature 0, once
given the task and nothing else, once in the words of the loop's first coder (taken as it is, after
what the task has before its function, and once more after the repairs of the loop), and by the loop
with the settings in force; truth judges all and reaches none. FILE remembers what is done: run it
again to go on. `solved` counts only what the loop calls solved.

Answers are remembered in the data folder, so that a run without some part costs only the time of
what differs; tokens are counted in full all the same, seconds are those of an empty folder only.
With --pool no model is asked: recorded answers are played (`bench/solve_pool.py`), in an order that
the seed decides.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path

from bench.flows import driven
from bench.solve_pool import PoolModel, pool_model, without_questions
from bench.solve_rows import Row, ablations, read_rows, told
from bench.solve_suites import LANGUAGES, SHARED, SUITES, Problem, problems, spread
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.desk.terminal import Nobody
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.adapters.sandbox.review import SandboxReviewer
from twinsmith.adapters.sandbox.review_sanitized import SanitizedSandbox
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.errors import BadReply
from twinsmith.core.execution import Limits
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.knowing.knowledge import BUILT, Built, Channel, Hit
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.program import FILE_NAMES
from twinsmith.core.replies.reply_code import read_program, source_in
from twinsmith.core.task import Job, Task
from twinsmith.core.wording import entry_in, spoken
from twinsmith.flow.recorder import Ports
from twinsmith.ports import Model, Retriever
from twinsmith.prompts import render
from twinsmith.settings import Settings, load
from twinsmith.wiring.effort import effort_of as chosen_effort
from twinsmith.wiring.knowledge import opened_retriever
from twinsmith.wiring.models import opened_model
from twinsmith.wiring.sandbox import limits_of, sandbox_of

PARTS: dict[str, Callable[[Effort], Effort]] = {
    "second": lambda effort: replace(effort, ensembles=1),
    "inputs": lambda effort: replace(effort, inputs=0),
    "exchange": lambda effort: replace(effort, exchange=False),
    "notes": lambda effort: replace(effort, notes=False),
    "votes": lambda effort: replace(effort, votes=0),
    "variants": lambda effort: replace(effort, variants=0),
    "refinement": lambda effort: replace(effort, refinements=0),
    "retrieval": lambda effort: replace(effort, retrieval=False),
}
LONGEST_REPLY = 1024


class Paid:
    """A model whose remembered answers count as if they had been asked for now."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def ask(self, prompt: Prompt) -> Reply:
        """The answer, with its tokens."""
        return replace(await self._model.ask(prompt), cached=False)


class OtherwiseKnown:
    """A library without what runs made: no problem is told the solution of another."""

    def __init__(self, known: Retriever) -> None:
        self._known = known

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        """As the library."""
        hits = await self._known.search(query, k, language, channel)
        return tuple(hit for hit in hits if hit.passage.source != BUILT)

    async def keep(self, made: Built) -> str:
        """Nothing is kept."""
        return f"not kept: {made.run} is a benchmark"


class Bench:
    """One model, one sandbox, many problems."""

    def __init__(
        self, model: Model, sandbox: IsolatedSandbox, known: Retriever, limits: Limits
    ) -> None:
        self._model = model
        self._sandbox = sandbox
        self._known = known
        self._limits = limits

    async def row(self, problem: Problem, effort: Effort, seed: int) -> Row:
        """Both ways, one after the other."""
        alone, alone_seconds = await self._answered(problem, "alone", problem.text)
        language = spoken(problem.language)
        words = render("code", task=problem.text, language=language, told="")
        answer, greedy_seconds = await self._answered(problem, "greedy", words)
        began = time.perf_counter()
        outbox = MemoryOutbox()
        outcome = await self._loop(problem, effort, seed, outbox)
        seconds = time.perf_counter() - began
        files = outbox.folders["/out"]
        name = FILE_NAMES[problem.language]
        source = files.get(name) or files.get(f"rejected/{name}") or ""
        return Row(
            name=problem.name,
            language=problem.language,
            alone=await self._is_right(problem, raw_source(problem, alone.text)),
            alone_tokens=alone.tokens,
            alone_seconds=round(alone_seconds, 1),
            greedy=await self._is_right(problem, raw_source(problem, answer.text)),
            mended=await self._is_right(problem, mended_source(problem, answer.text)),
            greedy_tokens=answer.tokens,
            greedy_seconds=round(greedy_seconds, 1),
            right=await self._is_right(problem, source),
            solved=outcome.solved,
            confidence=round(outcome.confidence, 3),
            tokens=outcome.spent.tokens,
            seconds=round(seconds, 1),
            candidates=len(outcome.verdicts),
        )

    async def _answered(self, problem: Problem, name: str, text: str) -> tuple[Reply, float]:
        """What the model says at once, and how long that took."""
        prompt = Prompt(
            key=f"{name}/{problem.name}",
            role="coder",
            nth=0,
            text=text,
            task=problem.text,
            seed=0,
            max_tokens=LONGEST_REPLY,
            temperature=0.0,
        )
        began = time.perf_counter()
        return await self._model.ask(prompt), time.perf_counter() - began

    async def _loop(
        self, problem: Problem, effort: Effort, seed: int, outbox: MemoryOutbox
    ) -> RunOutcome:
        clock = SystemClock()
        durable = MemoryDurable(clock)
        job = Job(
            run=problem.name,
            task=Task(text=problem.text, language=problem.language, kind="function"),
            budget=Budget(tokens=60_000, seconds=1200),
            effort=effort,
            quality=Thresholds(),
            reply_tokens=LONGEST_REPLY,
            seed=seed,
            out="/out",
        )
        ports = Ports(
            model=self._model,
            sandbox=self._sandbox,
            reviewer=SandboxReviewer(self._sandbox),
            sanitized=SanitizedSandbox(self._sandbox),
            retriever=OtherwiseKnown(self._known),
            graph=MemoryGraph(),
            desk=Nobody(),
            journal=MemoryJournal(clock),
            outbox=outbox,
            durable=durable,
            clock=clock,
        )
        return await driven(job, self._limits, ports, durable)

    async def _is_right(self, problem: Problem, source: str) -> bool:
        if not source:
            return False
        program, probes = problem.trial(source)
        seen = await self._sandbox.run(program, probes, self._limits)
        return bool(seen.results) and all(r.outcome == "passed" for r in seen.results)


def raw_source(problem: Problem, answer: str) -> str:
    """The program as it was answered, after what the task has before its function."""
    source = source_in(answer, problem.language, entry=entry_in(problem.text))
    if problem.language != "python":
        return source
    before, found, _ = problem.text.rpartition(f"def {entry_in(problem.text)}(")
    return f"{before}\n{source}" if found else source


def mended_source(problem: Problem, answer: str) -> str:
    """The program after the repairs that need no model."""
    entry = entry_in(problem.text)
    try:
        return read_program(answer, language=problem.language, entry=entry).source
    except BadReply:
        return ""


def effort_of(settings: Settings, without: str) -> Effort:
    """The settings' effort, less the parts that are left out."""
    effort = chosen_effort(settings)
    for part in filter(None, without.split(",")):
        effort = PARTS[part](effort)
    return effort


def settings_of(model: str) -> Settings:
    """The settings in force; with a model, every role of both ensembles uses that one."""
    roles = [
        f"TWINSMITH_ENSEMBLE_{n}_{role}" for n in (1, 2) for role in ("SLOW", "CODER", "CRITIC")
    ]
    return load({**os.environ, **(dict.fromkeys(roles, model) if model else {})})


async def run(
    chosen: argparse.Namespace, wanted: list[Problem], without: str, recorded: PoolModel | None
) -> list[Row]:
    """All problems, those that the file does not remember now."""
    out = chosen.out
    if out and without:
        out = out.with_name(f"{out.name}.without-{without}")
    done = read_rows(out)
    known = {(row.name, row.language) for row in done}
    settings = settings_of(chosen.model)
    effort = effort_of(settings, without)
    if recorded:
        effort = without_questions(effort)
    opened = nullcontext(recorded) if recorded else opened_model(settings)
    async with opened as model, opened_retriever(settings) as library:
        bench = Bench(Paid(model), sandbox_of(settings), library, limits_of(settings))
        for problem in wanted:
            if (problem.name, problem.language) in known:
                continue
            row = await bench.row(problem, effort, chosen.seed)
            done.append(row)
            print(json.dumps(asdict(row)), flush=True)
            if out:
                with out.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    return done


def places(text: str) -> tuple[int, ...]:
    """Places in a suite, as they are named on the command line."""
    if not all(part.isdecimal() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers such as 3,7,13")
    return tuple(int(part) for part in text.split(","))


def parts(text: str) -> str:
    """Parts to leave out, as they are named on the command line."""
    unknown = [part for part in filter(None, text.split(",")) if part not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no part; some of {', '.join(PARTS)}")
    return text


def taken(suite: list[Problem], chosen: argparse.Namespace) -> list[Problem]:
    """The problems that were asked for."""
    beyond = [place for place in chosen.only if place >= len(suite)]
    if beyond:
        raise SystemExit(f"--only {beyond[0]}: the suite has the places 0 to {len(suite) - 1}")
    if chosen.only:
        return [suite[place] for place in chosen.only]
    return spread(suite, chosen.limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="humaneval")
    parser.add_argument("--language", choices=(*LANGUAGES, "all"), default="python")
    parser.add_argument(
        "--limit", type=int, default=30, help="problems of each language, spread over the suite"
    )
    parser.add_argument("--only", type=places, default=(), help="places in the suite: 3,7,13")
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="", help="for every role, such as openai:gpt-4o")
    parser.add_argument("--without", type=parts, default="", help=", ".join(PARTS))
    parser.add_argument("--pool", type=Path, help="recorded answers instead of a model")
    parser.add_argument("--ablations", action="store_true", help="then once without each part")
    chosen = parser.parse_args()
    if not chosen.data.is_dir():
        raise SystemExit(f"no data in {chosen.data}: skipped; name a folder with --data")
    languages = LANGUAGES if chosen.language == "all" else (chosen.language,)
    suites = [problems(chosen.suite, chosen.data, language) for language in languages]
    recorded = None
    if chosen.pool:
        recorded, suites[0] = pool_model(chosen.pool, suites[0], chosen.seed)
    wanted = [problem for suite in suites for problem in taken(suite, chosen)]
    whole = asyncio.run(run(chosen, wanted, chosen.without, recorded))
    print(told(whole))
    if chosen.ablations:
        without = {part: asyncio.run(run(chosen, wanted, part, recorded)) for part in PARTS}
        print(ablations(whole, without))


if __name__ == "__main__":
    main()
