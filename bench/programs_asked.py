"""What is asked for, and the truth that judges what was delivered; it never reaches the product."""

from dataclasses import dataclass
from typing import Literal

from twinsmith.core.program import Kind

Group = Literal["own", "baxbench"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One thing that a service has to offer, whatever its route is called.

    A route fits when it has one of the methods, one of the words (in path, name or summary), none
    of the words that are ruled out, and a place for every field.
    """

    name: str
    methods: tuple[str, ...]
    words: tuple[str, ...]
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What a dialogue gives, and words of which one stands in the name that the service uses."""
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One sentence, as somebody would type it, with its truth.

    The truth is paragraphs: the first line names a dialogue, the others are Python statements that
    raise when the program is wrong. `wanted` is for services whose sentence names no routes.
    """

    name: str
    language: str
    kind: Kind
    text: str
    truth: str
    group: Group = "own"
    wanted: tuple[Wanted, ...] = ()
    words: str = ""
    """What the truth is written in besides the words of its kind."""
    before: str = ""
    """A line of Python that prepares what the program finds when it starts."""
    fresh: bool = False
    """Whether each dialogue needs a program that nobody has talked to yet."""
    spec: str = ""
    """The OpenAPI document that says the same, where there is one."""
    exploits: str = ""
    """Attacks that a service has to withstand, as dialogues that fail where one has success."""
