"""The outline of a library, as a model gives it: its functions and classes."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from twinsmith.core.errors import BadReply
from twinsmith.core.library_names import MODULE_LEVEL, Written
from twinsmith.core.replies.reply_json import object_in, object_schema, open_question, words

MOST_PARTS = 8
SCHEMA = json.dumps(
    object_schema(
        {
            "parts": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_PARTS,
                "items": object_schema(
                    {
                        "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                        "signature": {"type": "string"},
                        "does": {"type": "string"},
                    }
                ),
            },
            "question": {"type": "string"},
            "assumed": {"type": "string"},
        }
    )
)
_METHOD = re.compile(r"\(\s*(?:self|cls)\b")
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")


def example_for(language: str) -> tuple[str, str]:
    """The task of an example library, and its outline in a language."""
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
    """One function or class of a library."""

    name: str
    signature: str
    does: str = ""
    methods: tuple[str, ...] = ()
    """The signatures of a class's methods, where the task writes them."""
    call: str = ""
    """The call as the task writes it: `share(cents, parts)`; empty where it writes none."""

    @property
    def is_class(self) -> bool:
        """Whether this part is a class."""
        return self.signature.startswith("class ")

    def with_method(self, signature: str) -> "Part":
        """A class with one more method, which small models list beside it."""
        method = signature.removeprefix("def ").rstrip(":")
        if method in self.does:
            return self
        known = (
            f"{self.does}; {method}" if "(self" in self.does else f"{self.does} Methods: {method}"
        )
        return replace(self, does=known.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All functions and classes that a library offers."""

    parts: tuple[Part, ...]
    question: str = ""
    assumed: str = ""
    must: tuple[str, ...] = ()
    """Names that the task itself writes, methods as `Class.name`: a program must define them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all functions and classes."""
        return tuple(part.name for part in self.parts)

    def skeleton(self, language: str) -> str:
        """A file with only the names that the task writes, to be filled in; empty without names.

        Told in words what to define, a small model wraps functions in a class of its own.
        """
        if not self.must:
            return ""
        shapes = [_shape_of(part, language) for part in self.parts]
        return f"```{language}\n{(chr(10) * 3).join(shapes)}\n```"

    @property
    def calls(self) -> tuple[str, ...]:
        """The calls of all parts; `name(...)` where the task does not write the arguments."""
        return tuple(part.call or f"{part.name}(...)" for part in self.parts)

    def text(self) -> str:
        """The outline as coders and people read it."""
        lines = []
        for part in self.parts:
            lines.append(f"- {part.signature}: {part.does}".rstrip(": "))
            lines += [f"    - {method}" for method in part.methods]
        how = "these, with exactly these names and parameters" if self.must else "exactly these"
        return "\n".join([f"Define {how}:", *lines])


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


def read_placing(text: str, names: Sequence[str], owners: Sequence[str]) -> dict[str, str]:
    """The class of each function, by the calls in a reply: `bag.put(thing)`, `heaviest(bags)`.

    The last call of a name counts: small models repeat what they were shown before. What is given
    the object itself, as in `bag.weigh(bag)`, is no method of it. BadReply where none is called.
    """
    found: dict[str, str] = {}
    for name in names:
        calls = re.findall(rf"(?:(\w+)\.)?\b{re.escape(name)}\(([^()]*)\)?", text)
        if calls:
            on, given = calls[-1]
            known = [each for each in owners if each.lower() == on.lower()]
            itself = not on or on in re.split(r"\W+", given)
            found[name] = MODULE_LEVEL if itself else (known or [owners[0]])[0]
    if not found:
        raise BadReply(f"the answer calls none of {', '.join(names)}; ask again")
    usual = max(found.values(), key=list(found.values()).count)
    return {name: found.get(name, usual) for name in names}


def as_written(placed: Sequence[Written], language: str) -> Outline:
    """The outline of a library whose task writes what it offers."""
    parts = tuple(_part(each, placed, language) for each in placed if not each.owner)
    return Outline(parts=parts, must=tuple(each.path for each in placed))


def kept_to(found: Outline, written: Sequence[Written], task: str, language: str) -> Outline:
    """A model's outline, held to the task: its names, and none that do not stand there.

    A signature that has the task's own parameters may add their types.
    """
    told = {part.name: part for part in as_written(written, language).parts}
    standing = set(re.findall(r"\w+", task))
    parts: dict[str, Part] = {}
    for part in found.parts:
        own = told.get(part.name)
        if own is None and part.name in standing:
            parts[part.name] = part
        elif own is not None:
            given = next(each.parameters for each in written if each.name == part.name)
            typed = part.is_class == own.is_class and _in_order(given, part.signature)
            parts[part.name] = replace(part, call=own.call) if typed else own
    parts |= {name: part for name, part in told.items() if name not in parts}
    must = tuple(each.path for each in written)
    return replace(found, parts=tuple(parts.values()), must=must)


def _part(one: Written, placed: Sequence[Written], language: str) -> Part:
    open_ended = any(re.search(r"[=*]", each) for each in one.given or ())
    call = f"{one.name}({'...' if open_ended else ', '.join(one.parameters)})"
    if not one.is_class:
        return Part(name=one.name, signature=_signature(one, language), call=call)
    made = [replace(one, name="__init__", owner=one.name)] if one.given else []
    own = [*made, *(each for each in placed if each.owner == one.name)]
    methods = tuple(_signature(each, language) for each in own)
    return Part(name=one.name, signature=f"class {one.name}:", methods=methods, call=call)


def _signature(one: Written, language: str) -> str:
    given = ", ".join(one.given or ())
    if language == "python":
        inside = ", ".join(filter(None, ("self", given))) if one.owner else given
        return f"def {one.name}({inside}) {one.gives}".rstrip()
    if language == "perl":
        names = ", ".join(f"${name}" for name in one.parameters)
        return f"sub {one.name} {{ my ({names}) = @_; ... }}"
    head = {"rust": "pub fn ", "go": "func "}.get(language, "")
    return f"{head}{one.name}({given}) {one.gives}".rstrip()


def _shape_of(part: Part, language: str) -> str:
    if language == "python":
        if not part.is_class:
            return f"{part.signature.rstrip(': ')}:\n    ..."
        inside = [f"    {method.rstrip(': ')}:\n        ..." for method in part.methods]
        return "\n".join([f"class {part.name}:", "\n\n".join(inside) or "    ..."])
    if language == "perl" and "{" in part.signature:
        return part.signature.replace("{ ", "{\n    ").replace("; ", ";\n    ").replace(" }", "\n}")
    return f"{part.signature.rstrip('{; ')} {{\n    ...\n}}"


def _in_order(names: Sequence[str], signature: str) -> bool:
    """Whether a signature has these parameters, one after the other."""
    words_of = iter(re.findall(r"\w+", signature.partition("(")[2]))
    return all(name in words_of for name in names)
