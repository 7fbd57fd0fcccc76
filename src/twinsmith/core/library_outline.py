"""Which functions and classes a library offers: as data, read from a model's words."""

import json
import re
from dataclasses import dataclass, replace

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
_METHOD = re.compile(r"\(\s*(?:self|cls)\b")
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")


def example_for(language: str) -> tuple[str, str]:
    """Another library, and how it is outlined."""
    both = {"c_to_f": ("celsius", "fahrenheit"), "f_to_c": ("fahrenheit", "celsius")}
    parts = [
        {"name": name, "signature": _shape(language, name), "does": f"turns {a} into {b}"}
        for name, (a, b) in both.items()
    ]
    if language == "python":
        does = "counts calls; add(self, n: int) adds n; total(self) -> int gives the sum"
        parts.append({"name": "Counter", "signature": "class Counter:", "does": does})
    told = {"parts": parts, "question": "", "assumed": ""}
    return "temperatures, with a counter" if language == "python" else "temperatures", json.dumps(
        told
    )


def _shape(language: str, name: str) -> str:
    return {
        "python": f"def {name}(degrees: float) -> float:",
        "perl": f"sub {name} {{ my ($degrees) = @_; ... }}",
        "rust": f"pub fn {name}(degrees: f64) -> f64",
        "go": f"func {name}(degrees float64) float64",
    }.get(language, f"double {name}(double degrees)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One function or class."""

    name: str
    signature: str
    does: str = ""

    @property
    def is_class(self) -> bool:
        """Whether it has methods."""
        return self.signature.startswith("class ")

    def with_method(self, signature: str) -> "Part":
        """A class with what small models list beside it."""
        method = signature.removeprefix("def ").rstrip(":")
        if method in self.does:
            return self
        known = (
            f"{self.does}; {method}" if "(self" in self.does else f"{self.does} Methods: {method}"
        )
        return replace(self, does=known.strip())


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
        if not _NAME.fullmatch(name):
            continue
        owner = next((part for part in reversed(parts.values()) if part.is_class), None)
        if owner is not None and _METHOD.search(signature):
            parts[owner.name] = owner.with_method(signature)
        else:
            signature = signature if name in signature else name
            parts.setdefault(name, Part(name=name, signature=signature, does=words(each, "does")))
    if not parts:
        raise BadReply("the outline names no function and no class; ask again")
    question, assumed = open_question(raw)
    return Outline(parts=tuple(parts.values()), question=question, assumed=assumed)
