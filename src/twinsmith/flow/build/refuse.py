"""A task in, the reason to refuse it out; an empty reason means that it is built."""

from twinsmith.core.harmful import harmful_name
from twinsmith.core.model import Ask
from twinsmith.core.task import Task
from twinsmith.flow.build.asking import in_a_word

NTH = 310


async def refused(task: Task, ask: Ask) -> str:
    """The reason to refuse a task that the slow thinker names as harmful; empty for all others.

    It is asked for a name: asked for a judgement, a small model calls all harmful, or none.
    """
    if task.kind == "function" and not task.kind_open:
        # It gives a value for values, and does nothing to anybody.
        return ""
    name = harmful_name(await in_a_word("called", task, nth=NTH, ask=ask))
    return (
        f"what the task asks for is called {name!r}, and twinsmith builds nothing that does harm; "
        "if something else is meant, say it in other words"
        if name
        else ""
    )
