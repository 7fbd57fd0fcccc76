"""A task as the flow works on it: its words, read."""

from dataclasses import dataclass

from twinsmith.core.probe import Command, Input


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a task asks for, and what was assumed where it leaves something open."""

    entry: str = ""
    """The function to write; empty for commands and services."""
    signature: str = ""
    outline: str = ""
    """How a command is run, or what a library offers, as a coder is told."""
    form: str = ""
    """A run of a command that shows how it prints, for models only: its numbers may be wrong."""
    skeleton: str = ""
    """A file of a library to be filled in, where its task writes what it offers."""
    names: tuple[str, ...] = ()
    """What a library offers."""
    calls: tuple[str, ...] = ()
    """How each of these is called."""
    must: tuple[str, ...] = ()
    """What the task itself names, a method as `Class.name`: a program without it is none."""
    examples: tuple[Input, ...] = ()
    """What the task itself says that calls and runs have to give."""
    sketched: tuple[Command, ...] = ()
    """Runs that whoever described a command thought of."""
    example_checks: tuple[str, ...] = ()
    """The same as asserts, where more than the plain result is compared."""
    contradictions: tuple[str, ...] = ()
    sensitive: bool = False
    """Whether mistakes would open a door: passwords, tokens, money, other people's data."""
    practice: str = ""
    """What experienced people keep to in such a task, as a coder is told."""
    unsupported: str = ""
    """What a service was asked for and cannot do here."""
    question: str = ""
    assumed: str = ""
    answer: str = ""

    @property
    def described(self) -> str:
        """The outline as models are told it."""
        return f"{self.outline}\n{self.form}".strip()

    @property
    def has_classes(self) -> bool:
        """Whether a library offers objects, which code has to make before it asks them."""
        return "\n- class " in self.outline
