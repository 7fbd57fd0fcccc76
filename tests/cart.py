"""A shopping cart built from a script: who is asked what, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.inside import executed
from tests.service_scripts import CART, DIALOGUES, PIECES, cart_script
from tests.worlds import World, job_of
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.model import Prompt
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program
from twinsmith.core.task import Job, Task
from twinsmith.ports import Sandbox

EFFORT = Effort(candidates=8, least=0.0, votes=0, refinements=0)
BUDGET = Budget(tokens=400_000, seconds=6000)


def cart_job(*, effort: Effort = EFFORT, language: str = "python", text: str = CART) -> Job:
    """A job for the cart."""
    job = job_of(effort=effort, budget=BUDGET)
    return replace(job, task=Task(text=text, language=language, kind="service"))


class Cart(World):
    """Answers by what is asked. `later` holds what a coder says from the second round on."""

    def __init__(
        self,
        pieces: Mapping[str, str] = PIECES,
        dialogues: Mapping[str, str] = DIALOGUES,
        *,
        later: Mapping[str, str] | None = None,
        box: Sandbox | None = None,
    ) -> None:
        super().__init__(self._answer)
        self.replies = cart_script(pieces, dialogues)["replies"]
        self._later = later or {}
        self._box = box

    def _answer(self, prompt: Prompt) -> str:
        name = self.piece(prompt)
        # The first round asks both ensembles for every piece.
        if name in self._later and prompt.nth >= 2 * len(PIECES):
            return f"```python\n{self._later[name]}```"
        assert isinstance(self.replies, list)
        fitting = (
            str(each["text"])
            for each in self.replies
            if each["role"] == prompt.role and each["when"] in prompt.text
        )
        return next(fitting, "nothing")

    def piece(self, prompt: Prompt) -> str:
        """The function that a coder is asked for."""
        names = (name for name in PIECES if f"`{name}`" in prompt.text)
        return next(names, "") if prompt.role == "coder" else ""

    def pieces(self) -> Sequence[str]:
        """All functions that coders were asked for, in order."""
        return [name for prompt in self.asked if (name := self.piece(prompt))]

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """In a sandbox where there is one, else inside the test."""
        self.runs += 1
        return (
            await self._box.run(program, probes, limits)
            if self._box
            else self.seen(program, probes)
        )

    def seen(self, program: Program, probes: Probes) -> Execution:
        """What a program does with checks."""
        return executed(program, probes)


def unmet(outcome: RunOutcome) -> str:
    """Why a run is not solved."""
    assert not outcome.solved, outcome.reason
    return outcome.reason
