"""Which functions and classes a library offers: as data, read from a model's words."""

import json
import re
from dataclasses import dataclass

from twinsmith.core.errors import BadReply
from twinsmith.core.replies.reply_json import object_in, open_question, words

MOST_PARTS = 8
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "parts": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_PARTS,
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                        "signature": {"type": "string"},
                        "does": {"type": "string"},
                    },
                    "required": ["name", "signature", "does"],
                    "additionalProperties": False,
                },
            },
            "question": {"type": "string"},
            "assumed": {"type": "string"},
        },
        "required": ["parts", "question", "assumed"],
        "additionalProperties": False,
    }
)
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One function or class."""

    name: str
    signature: str
    does: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All that a library offers."""

    parts: tuple[Part, ...]
    question: str = ""
    assumed: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What can be called."""
        return tuple(part.name for part in self.parts)

    def text(self) -> str:
        """For a coder, and for a person."""
        lines = [f"- {part.signature}: {part.does}".rstrip(": ") for part in self.parts]
        return "\n".join(["Define exactly these:", *lines])


def read_outline(text: str) -> Outline:
    """The outline in a reply; BadReply says what is missing."""
    raw = object_in(text, "the outline")
    listed = raw.get("parts")
    parts: dict[str, Part] = {}
    for each in (listed if isinstance(listed, list) else [])[:MOST_PARTS]:
        if not isinstance(each, dict):
            continue
        name, signature = words(each, "name"), words(each, "signature")
        if _NAME.fullmatch(name):
            signature = signature if name in signature else name
            parts.setdefault(name, Part(name=name, signature=signature, does=words(each, "does")))
    if not parts:
        raise BadReply("the outline names no function and no class; ask again")
    question, assumed = open_question(raw)
    return Outline(parts=tuple(parts.values()), question=question, assumed=assumed)
