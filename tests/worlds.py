"""The outside world of one run, on fakes: a model that is told what to say and counts questions."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bench.flows import driven
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.desk.terminal import Nobody
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.adapters.sandbox.canned import CannedSandbox, EmptySandbox
from twinsmith.adapters.sandbox.review_canned import CannedReviewer
from twinsmith.core.budget import Budget, tokens_in
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.events import Json
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.knowing.knowledge import Passage
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.probe import Call, Probes
from twinsmith.core.program import Program
from twinsmith.core.progress import Progress, progress_of
from twinsmith.core.task import Job, Task
from twinsmith.core.verdict import Finding
from twinsmith.flow.recorder import Ports
from twinsmith.ports import Desk, Graph, Retriever

Say = Callable[[Prompt], str]
FIRST_VOTE = 100
TASK = "Write a function double(n) that gives twice a number."
# What a coder may answer, and the function that stands for it in the sandbox.
DOUBLE = "def double(n):\n    return n * 2\n"
SQUARE = "def double(n):\n    return n * n\n"
TRIPLE = "def double(n):\n    return n * 3\n"
POSITIVE = "def double(n):\n    return abs(n) * 2\n"
PLUS = "def double(n):\n    return n + 4\n"
BROKEN = "def double(n):\n    return n / 0\n"
FUNCTIONS: Mapping[str, Callable[[int], object]] = {
    DOUBLE: lambda n: n * 2,
    SQUARE: lambda n: n * n,
    TRIPLE: lambda n: n * 3,
    POSITIVE: lambda n: abs(n) * 2,
    PLUS: lambda n: n + 4,
    BROKEN: lambda n: n / 0,
}
CHECKS = "assert double(2) == 4\nassert double(-3) == -6\nassert double(0) == 0\n"


def saying(
    *,
    slow: Sequence[str] = (),
    coder: Sequence[str] = (DOUBLE,),
    critic: Sequence[str] = (CHECKS,),
    votes: Say | None = None,
) -> Say:
    """The n-th question of a role gets its n-th text; the last one serves all that follow."""

    def say(prompt: Prompt) -> str:
        if prompt.role == "critic" and prompt.nth >= FIRST_VOTE:
            assert votes is not None, "nobody should vote here"
            return votes(prompt)
        texts = {"slow": slow, "coder": coder, "critic": critic}[prompt.role]
        return texts[min(prompt.nth + prompt.retry, len(texts) - 1)]

    return say


def voting_for(value: str) -> Say:
    """A critic who holds one value for right, wherever it stands."""

    def say(prompt: Prompt) -> str:
        if f"One gives: {value}\n" in prompt.text:
            return "Thinking …\nANSWER: A"
        return "ANSWER: B" if f"The other gives: {value}\n" in prompt.text else "ANSWER: C"

    return say


def job_of(
    text: str = TASK,
    *,
    tests: str = "",
    budget: Budget | None = None,
    effort: Effort | None = None,
) -> Job:
    """A job with two candidates that is content with any result, unless told otherwise."""
    return Job(
        run="r1",
        task=Task(text=text, language="python", kind="function", tests=tests),
        budget=budget or Budget(tokens=60_000, seconds=600),
        effort=effort or Effort(candidates=2, least=0.0, votes=0, refinements=0),
        quality=Thresholds(),
        reply_tokens=1000,
        seed=7,
        out="/out",
    )


def passage(text: str, path: str = "p.py") -> Passage:
    """Something that is known."""
    return Passage(
        number=1,
        text=text,
        symbol="twice",
        language="python",
        path=path,
        source="notes",
        licence="MIT",
        version="v1",
        first_line=1,
        last_line=2,
        added="2026-01-01",
        who="test",
    )


class World:
    """Fakes for one run. A question takes a second, a start of the sandbox as long as it is told.

    `down` names questions, by their keys, that nobody answers.
    """

    def __init__(self, say: Say, *, sandbox_seconds: float = 0.0) -> None:
        self.say = say
        self.down: set[str] = set()
        self.clock = ManualClock()
        self.journal = MemoryJournal(self.clock)
        self.outbox = MemoryOutbox()
        self.records: dict[str, Json] = {}
        self.asked: list[Prompt] = []
        self.answered: list[str] = []
        self.billed = 0
        self.runs = 0
        self.tried: dict[str, list[Call]] = {}
        self.findings: dict[str, tuple[Finding, ...]] = {}
        self.desk: Desk = Nobody()
        self.graph: Graph = MemoryGraph()
        self.retriever: Retriever = NothingKnown()
        self._sandbox = CannedSandbox(functions=FUNCTIONS)
        self._sandbox_seconds = sandbox_seconds

    async def ask(self, prompt: Prompt) -> Reply:
        """As a model: what it was told to say, cut to what the budget allows."""
        self.asked.append(prompt)
        self.clock.advance(1)
        # As of a real one: all that is asked at once is asked before anything is answered.
        await asyncio.sleep(0)
        if prompt.key in self.down:
            raise ModelUnavailable(f"503 for {prompt.key}")
        text = self.say(prompt)[: prompt.max_tokens * 4]
        self.answered.append(prompt.key)
        reply = Reply(
            text=text,
            model="fake:m",
            tokens_in=tokens_in(prompt.text),
            tokens_out=tokens_in(text),
        )
        self.billed += reply.tokens
        return reply

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """As a sandbox: what the function gives that stands for the program."""
        self.runs += 1
        calls = [probe.call for probe in probes.checks if probe.call]
        self.tried.setdefault(program.source, []).extend(calls)
        self.clock.advance(self._sandbox_seconds)
        return await self._sandbox.run(program, probes, limits)

    async def build(self, job: Job) -> RunOutcome:
        """The run, or the rest of it."""
        durable = MemoryDurable(self.clock, self.records)
        ports = Ports(
            model=self,
            sandbox=self,
            reviewer=CannedReviewer(self.findings),
            sanitized=EmptySandbox(),
            retriever=self.retriever,
            graph=self.graph,
            desk=self.desk,
            journal=self.journal,
            outbox=self.outbox,
            durable=durable,
            clock=self.clock,
        )
        return await driven(job, Limits(), ports, durable)

    def files(self, job: Job) -> dict[str, str]:
        """What the person got."""
        return self.outbox.folders[job.out]

    def kinds(self) -> list[str]:
        """What happened, in order."""
        return [entry.event.kind for entry in self.journal.entries("r1")]

    def steps(self) -> list[str]:
        """What the engine remembers, in order."""
        return [key.removeprefix("r1:step:") for key in self.records if ":step:" in key]

    @property
    def progress(self) -> Progress:
        return progress_of("r1", self.journal.entries("r1"))

    def stages(self) -> list[str]:
        """The stages that were finished."""
        return [stage.name for stage in self.progress.stages if stage.finished]

    def prompts(self, role: str, ensemble: int = 0) -> list[Prompt]:
        """What was asked of a role."""
        return [p for p in self.asked if p.role == role and ensemble in (0, p.ensemble)]


def with_effort(job: Job, **changes: float) -> Job:
    """The same job, worked on with another effort."""
    return replace(job, effort=replace(job.effort, **changes))  # type: ignore[arg-type]
