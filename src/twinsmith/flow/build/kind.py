"""A task that does not say what kind of program it wants in, the kind out."""

from twinsmith.core.model import Ask
from twinsmith.core.program import KINDS, Kind
from twinsmith.core.task import Task
from twinsmith.flow.build.asking import in_a_word

NTH = 300


async def kind_of(task: Task, ask: Ask) -> Kind:
    """The kind of program that the slow thinker takes a task for; else the kind guessed before."""
    words = (await in_a_word("kind", task, nth=NTH, ask=ask)).lower().split()
    said = words[0].strip(".\"'`*") if words else ""
    return next((kind for kind in KINDS if kind == said), task.kind)
