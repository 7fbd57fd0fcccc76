"""How a service is asked for and read: around a frame in Python, as a whole file elsewhere."""

from typing import Protocol

from twinsmith.core.program import Program
from twinsmith.core.replies.reply_code import read_program, source_in
from twinsmith.core.replies.reply_files import as_blocks
from twinsmith.core.services.interface import Interface
from twinsmith.core.services.service_frame import (
    beginning_of,
    example,
    framed,
    outline_of,
    rules_of,
    skeleton_of,
)
from twinsmith.core.services.service_plain import plain_rules
from twinsmith.core.task import Task
from twinsmith.core.wording import spoken
from twinsmith.prompts import render


class Form(Protocol):
    """One way to write services."""

    def frame(self, interface: Interface) -> str:
        """What twinsmith itself writes into every candidate."""
        ...

    def asked(self, interface: Interface) -> str:
        """What a coder is asked."""
        ...

    def read(self, reply: str, interface: Interface) -> tuple[str, Program]:
        """What the coder wrote, and the whole program; BadReply where there is none."""
        ...

    def mending(self, interface: Interface, written: str, evidence: str) -> str:
        """What a coder is asked when its service fails."""
        ...


def form_of(task: Task, told: str) -> Form:
    """The way for a task; what is told besides stands among the rules."""
    return Framed(task, told) if task.language == "python" else Plain(task, told)


class Framed:
    """Twinsmith writes what every service needs, the coder writes the routes."""

    def __init__(self, task: Task, told: str) -> None:
        self._task = task
        self._told = told

    def frame(self, interface: Interface) -> str:
        """Everything but the routes."""
        return framed(interface, "")

    def asked(self, interface: Interface) -> str:
        """For the routes."""
        return render(
            "service",
            task=self._task.text,
            outline=outline_of(beginning_of(interface)),
            example=example(),
            rules=self._rules(interface),
            skeleton=skeleton_of(interface),
        )

    def read(self, reply: str, interface: Interface) -> tuple[str, Program]:
        """The routes, and the file around them."""
        rest = source_in(reply, "python")
        return rest, Program(source=framed(interface, rest), kind="service")

    def mending(self, interface: Interface, written: str, evidence: str) -> str:
        """For the routes once more."""
        return render(
            "mend",
            routes=interface.text(),
            outline=outline_of(beginning_of(interface)),
            rules=self._rules(interface),
            skeleton=skeleton_of(interface),
            rest=written,
            evidence=evidence,
        )

    def _rules(self, interface: Interface) -> str:
        return "\n".join(filter(None, (rules_of(interface), self._told)))


class Plain:
    """The coder writes all of it."""

    def __init__(self, task: Task, told: str) -> None:
        self._task = task
        self._told = told

    def frame(self, interface: Interface) -> str:  # noqa: ARG002
        """Nothing."""
        return ""

    def asked(self, interface: Interface) -> str:
        """For the whole file."""
        return render(
            "service_plain",
            task=self._task.text,
            language=spoken(self._task.language),
            routes=interface.text(),
            rules=self._rules(interface),
        )

    def read(self, reply: str, interface: Interface) -> tuple[str, Program]:  # noqa: ARG002
        """All its files, as they were written and as a program."""
        program = read_program(reply, language=self._task.language, kind="service")
        return as_blocks(program), program

    def mending(self, interface: Interface, written: str, evidence: str) -> str:
        """For the whole file once more."""
        task = f"{self._task.text}\n\n{interface.text()}\n\n{self._rules(interface)}"
        language = spoken(self._task.language)
        return render("refine", task=task, language=language, source=written, failure=evidence)

    def _rules(self, interface: Interface) -> str:
        rules = plain_rules(interface, spoken(self._task.language))
        return "\n".join(filter(None, (rules, self._told)))
