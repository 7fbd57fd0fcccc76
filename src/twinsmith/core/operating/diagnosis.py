"""What a slow thinker believes to be the cause of an incident, and how its answer is read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.errors import BadReply

LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One belief about an incident: the function at fault, why it fails, what has to change."""

    function: str
    cause: str
    change: str = ""

    @property
    def text(self) -> str:
        """The diagnosis as a coder is told it."""
        return f"{self.function}: {self.cause} {self.change}".strip()


def schema(functions: Sequence[str]) -> str:
    """The JSON schema of an answer about one of these functions."""
    text = {"type": "string", "maxLength": LONGEST}
    wanted = {"function": {"enum": list(functions)}, "cause": text, "change": text}
    return json.dumps(
        {
            "type": "object",
            "properties": wanted,
            "required": list(wanted),
            "additionalProperties": False,
        }
    )


def read_diagnosis(text: str, functions: Sequence[str]) -> Diagnosis:
    """The diagnosis in an answer; BadReply where it names none of the functions."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        told = json.loads(text[begin : end + 1])
        function = str(told["function"])
        cause, change = (" ".join(str(told[name]).split()) for name in ("cause", "change"))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadReply("the diagnosis is no JSON with function, cause and change") from None
    if function not in functions or not cause:
        raise BadReply(f"the diagnosis is about {function!r}, not one of {', '.join(functions)}")
    return Diagnosis(function=function, cause=cause[:LONGEST], change=change[:LONGEST])
