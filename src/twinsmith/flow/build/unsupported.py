"""A task for a service in, the part of it that cannot be built out; empty where all can."""

from twinsmith.core.model import Ask
from twinsmith.core.planning.unsupported import unsupported_in
from twinsmith.core.task import Task
from twinsmith.flow.build.asking import in_a_word

NTH = 320


async def unsupported(task: Task, ask: Ask) -> str:
    """The slow thinker's word for what a service wants and twinsmith cannot build; or empty."""
    if task.kind != "service" or task.spec:
        return ""
    word = await in_a_word("unsupported", task, nth=NTH, ask=ask)
    return unsupported_in(word, " ".join(task.text.split()))
