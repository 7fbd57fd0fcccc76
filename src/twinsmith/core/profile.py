"""The profile of a task: its words, read and completed for the rest of a run."""

from dataclasses import dataclass

from twinsmith.core.probe import Command, Input


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The reading of a task, and what was assumed where it leaves something open."""

    entry: str = ""
    """The name of the function to write; empty for commands and services."""
    signature: str = ""
    outline: str = ""
    """The description of a command or a library, as a coder is told."""
    form: str = ""
    """An example run that shows how a command prints, for models only: its numbers may be wrong."""
    skeleton: str = ""
    """A file of a library to be filled in, where the task writes its names."""
    names: tuple[str, ...] = ()
    """The names of functions and classes that a library offers."""
    calls: tuple[str, ...] = ()
    """The calls of a library's functions and classes, in the order of `names`."""
    must: tuple[str, ...] = ()
    """Names that the task itself writes, methods as `Class.name`: a program must define them."""
    examples: tuple[Input, ...] = ()
    """Calls and runs whose results the task itself gives."""
    sketched: tuple[Command, ...] = ()
    """Example runs that the model which described the command made up."""
    example_checks: tuple[str, ...] = ()
    """Examples of the task as asserts, where more than the plain result is compared."""
    contradictions: tuple[str, ...] = ()
    sensitive: bool = False
    """Whether mistakes would be dangerous: passwords, tokens, money, other people's data."""
    practice: str = ""
    """Rules that experienced people keep to in such a task, as a coder is told."""
    unsupported: str = ""
    """The feature that a service was asked for and cannot have here; empty where there is none."""
    question: str = ""
    assumed: str = ""
    answer: str = ""

    @property
    def described(self) -> str:
        """The outline and form together, as models are told."""
        return f"{self.outline}\n{self.form}".strip()

    @property
    def has_classes(self) -> bool:
        """Whether a library offers classes."""
        return "\n- class " in self.outline
