"""A task in, the slow thinker's plan out."""

import json
import re

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Ask
from twinsmith.core.plan import Plan
from twinsmith.core.task import Task
from twinsmith.prompts import render

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
MOST_CHECKS = 20
MOST_RETRIES = 2
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "entry": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "signature": {"type": "string"},
            "approach": {"type": "string"},
            "checks": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        },
        "required": ["entry", "signature", "approach", "checks"],
        "additionalProperties": False,
    }
)


async def plan(task: Task, ask: Ask) -> Plan:
    """Ask the slow thinker how to write the program and how to check it."""
    question = render("plan", task=task.text, language=task.language)
    text = question
    for retry in range(MOST_RETRIES):
        reply = await ask("slow", 0, text, retry=retry, schema=SCHEMA)
        try:
            return read_plan(reply.text)
        except BadReply as error:
            text = f"{question}\nAn earlier answer could not be used: {error}. Answer anew."
    reply = await ask("slow", 0, text, retry=MOST_RETRIES, schema=SCHEMA)
    return read_plan(reply.text)


def read_plan(text: str) -> Plan:
    """The plan in a reply; BadReply names what is missing."""
    fenced = _FENCED.search(text)
    try:
        raw = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"the plan is not JSON ({error}); build again with another --seed") from None
    if not isinstance(raw, dict):
        raise BadReply("the plan is not a JSON object; build again with another --seed")
    entry = _word(raw, "entry")
    if not entry.isidentifier():
        raise BadReply(f"the plan's entry {entry!r} is not a name; build again with another --seed")
    checks = raw.get("checks")
    if not isinstance(checks, list) or not all(isinstance(check, str) for check in checks):
        raise BadReply("the plan's checks are not a list of texts; build again with another --seed")
    return Plan(
        entry=entry,
        signature=_word(raw, "signature"),
        approach=_word(raw, "approach"),
        checks=tuple(checks[:MOST_CHECKS]),
    )


def _word(raw: dict[str, object], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadReply(f"the plan has no {name!r}; build again with another --seed")
    return value.strip()
