"""Masking, so that no secret reaches the disk: known secrets, and what looks like one.

Two ways, by what becomes of a text. What is only read (events, transcripts, errors) is masked
wherever something may be a secret. What is executed, or will be (tests, programs), is masked only
where something is one for certain: `password = "wrong"` is a part of the program.

What is looked for is imported with the first text: `status` and `--help` mask nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from twinsmith.core.events import Json
from twinsmith.core.sensitive.places import MASK, Place, covered

Rules = Callable[[str], Iterable[Place]]
"""A rule set kept by others: the places in a text where it finds secrets."""


def no_rules(_text: str) -> tuple[Place, ...]:
    """A rule set that finds nothing."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """The secrets of this machine, and rules that find text which looks like a secret.

    `variables` are those of the environment; which of them hold secrets their names tell.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    rules: Rules = no_rules

    def text(self, text: str) -> str:
        """A text that is only read, without anything that may be a secret."""
        from twinsmith.core.sensitive.search import certain, known_to, likely

        known = known_to(self.secrets, self.variables)
        return covered(text, [*certain(text, known), *self.rules(text), *likely(text)])

    def code(self, text: str) -> str:
        """A program or test without secrets; a doubtful one stays, or the code would break."""
        from twinsmith.core.sensitive.search import certain, in_comments, known_to

        known = known_to(self.secrets, self.variables)
        return covered(text, [*certain(text, known), *self.rules(text), *in_comments(text)])

    def reply(self, text: str) -> str:
        """A model's text without the secrets of this machine; what the model made up stays."""
        from twinsmith.core.sensitive.search import known_to

        return covered(text, known_to(self.secrets, self.variables).unmistakable(text))

    def json(self, value: Json) -> Json:
        """A JSON value that is only read, keys included, without anything that may be a secret."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.json(item) for item in value]
            case dict():
                return {self.text(name): self._member(name, item) for name, item in value.items()}
            case _:
                return value

    def _member(self, name: str, value: Json) -> Json:
        from twinsmith.core.sensitive.search import is_named_secret

        if isinstance(value, str) and is_named_secret(name, value):
            return MASK
        return self.json(value)


NOTHING_KNOWN = Masking()


def places_masked(before: str, after: str) -> int:
    """The number of places of a text that were masked."""
    return after.count(MASK) - before.count(MASK)
