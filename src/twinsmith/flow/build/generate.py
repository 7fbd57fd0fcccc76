"""A plan in, one whole program out, from the fast coder."""

import ast
import re

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Ask
from twinsmith.core.plan import Plan
from twinsmith.core.program import Candidate, Program
from twinsmith.core.task import Task
from twinsmith.prompts import render

_FENCED = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


async def generate(task: Task, plan: Plan, number: int, ask: Ask) -> Candidate:
    """Ask for one candidate; an answer that cannot be used is a candidate without a program."""
    prompt = render(
        "code",
        task=task.text,
        language=task.language,
        signature=plan.signature,
        approach=plan.approach,
    )
    try:
        reply = await ask("coder", number - 1, prompt)
        program = read_program(reply.text, entry=plan.entry)
    except (BadReply, BudgetExceeded) as error:
        return Candidate(number=number, program=None, problem=str(error))
    return Candidate(number=number, program=program)


def read_program(text: str, *, entry: str) -> Program:
    """The program in a reply: the longest fenced block, or the whole text when there is none."""
    blocks = _FENCED.findall(text)
    source = max(blocks, key=len) if blocks else text
    source = source.strip("\n") + "\n"
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise BadReply(f"the program is not Python: {error}") from None
    defined = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    if entry not in defined:
        raise BadReply(f"the program does not define {entry!r}; it defines {sorted(defined)}")
    return Program(entry=entry, source=source)
