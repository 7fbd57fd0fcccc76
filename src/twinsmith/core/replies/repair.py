"""Repairing a program that nearly builds, without asking a model.

Text is only read here, never run, and in time that grows with its length.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from twinsmith.core.program import Kind
from twinsmith.core.replies.repair_others import (
    C_STEPS,
    CPP_STEPS,
    GO_STEPS,
    RUST_STEPS,
)
from twinsmith.core.replies.repair_perl import PERL_STEPS
from twinsmith.core.replies.repair_python import python_steps
from twinsmith.core.replies.source_text import Step

LONGEST_SOURCE = 200_000
_STEPS: Mapping[str, tuple[Step, ...]] = {
    "rust": RUST_STEPS,
    "go": GO_STEPS,
    "c": C_STEPS,
    "cpp": CPP_STEPS,
    "perl": PERL_STEPS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A repaired source, and the repairs in words."""

    source: str
    repairs: tuple[str, ...] = ()


def repair(
    source: str, *, language: str, entry: str, kind: Kind, beside: frozenset[str] = frozenset()
) -> Repaired:
    """Repair what is easily repaired in a source; one too long or strange comes back as it is.

    `beside` names the modules of the same program: importing one of them is never useless.
    """
    if len(source) > LONGEST_SOURCE:
        return Repaired(source=source)
    repairs: list[str] = []
    steps = python_steps(beside) if language == "python" else _STEPS.get(language, ())
    for step in steps:
        mended = step(source, entry, kind)
        if mended is not None:
            source, words = mended
            repairs.append(words)
    return Repaired(source=source, repairs=tuple(repairs))
