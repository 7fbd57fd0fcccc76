"""A question to a language model and its answer."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

from twinsmith.core.errors import BadReply
from twinsmith.core.events import Json

Role = Literal["slow", "coder", "critic"]
ROLES: tuple[Role, ...] = get_args(Role)
# Clarification requests of the slow thinker and best-practice lookups of the coder are worth a
# frontier model where there is one.
Purpose = Literal["answer", "clarification", "practice"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
Mended = Callable[[str], Sequence[str]]
"""A reader of answers: what had to be mended in one; BadReply where it cannot be used."""
LONGEST_REASON = 200
MOST_REPAIRS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question to a model, with all parameters that shape the answer.

    `key` is the idempotency key; `nth` counts questions of this role in a run, and `retry` counts
    how often this one was asked again because its answer could not be used. `schema` is a JSON
    schema as text that the answer has to fit, or empty.
    """

    key: str
    role: Role
    nth: int
    text: str
    task: str
    seed: int
    max_tokens: int
    ensemble: int = 1
    retry: int = 0
    purpose: Purpose = "answer"
    temperature: float = 0.3
    schema: str = ""
    max_usd: float | None = None
    template: str = ""
    """The name of the template that the text was made of; empty where a person wrote it."""
    template_version: str = ""
    asks: tuple[str, ...] = ()
    """The models that are asked, in order, instead of those of the settings; `*` is all of these.

    `provider:model@version` is only content with an answer of that version.
    """
    never: tuple[str, ...] = ()
    """Models, or versions of them, that are not asked whoever names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a model, with its cost; `usd` is None where nobody knows the price."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    version: str = ""
    usd: float | None = 0.0
    seconds: float = 0.0
    first_token_seconds: float = 0.0
    cached: bool = False
    cut: bool = False
    """Whether it ends because it may be no longer."""
    failed_attempts: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens that the budget is charged; an answer from the cache was paid before."""
        return 0 if self.cached else self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of a stage, before it is bound to a run; `nth` counts a role's questions.

    `tokens` is the longest answer, 0 for what the settings allow. `read` tells the journal whether
    the answer can be used; the stage that asked reads it by itself.
    """

    role: Role
    nth: int
    text: str
    ensemble: int = 1
    purpose: Purpose = "answer"
    temperature: float = 0.2
    schema: str = ""
    retry: int = 0
    tokens: int = 0
    template: str = ""
    read: Mended | None = field(default=None, compare=False)


class Ask(Protocol):
    """The function by which a stage asks a model."""

    async def __call__(self, question: Question) -> Reply:
        """The answer to a question; it is recorded and paid once."""
        ...


def fingerprint(prompt: Prompt, model: str) -> str:
    """A hash that is the same for two questions with the same model, text and parameters."""
    parts = [
        model,
        prompt.text,
        prompt.schema,
        prompt.seed,
        prompt.temperature,
        prompt.max_tokens,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def facts_of_question(prompt: Prompt) -> dict[str, Json]:
    """The facts of a question for the journal: who is asked, and hashes instead of its text."""
    return {
        "role": prompt.role,
        "nth": prompt.nth,
        "ensemble": prompt.ensemble,
        "retry": prompt.retry,
        "purpose": prompt.purpose,
        "template": prompt.template,
        "template_version": prompt.template_version,
        "temperature": prompt.temperature,
        "prompt_sha256": hashlib.sha256(prompt.text.encode()).hexdigest(),
        "idempotency_key": prompt.key,
    }


def facts_of_reply(prompt: Prompt, reply: Reply) -> dict[str, Json]:
    """The facts of an answered call for the journal, without question and answer themselves."""
    return facts_of_question(prompt) | {
        "model": reply.model,
        "version": reply.version,
        "tokens": reply.tokens,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "first_token_seconds": round(reply.first_token_seconds, 3),
        "seconds": round(reply.seconds, 3),
        "usd": reply.usd,
        "cached": reply.cached,
        "cut": reply.cut,
        "outcome": "replied",
        "failed_attempts": list(reply.failed_attempts),
    }


def facts_of_reading(read: Mended | None, text: str) -> dict[str, Json]:
    """Whether an answer can be used and what has to be mended in it, for the journal.

    Without a reader nobody has to be able to read it, and nothing is said.
    """
    if read is None:
        return {}
    try:
        repairs = read(text)
    except BadReply as error:
        return {"unusable": str(error)[:LONGEST_REASON], "repairs": []}
    return {"unusable": "", "repairs": [each[:LONGEST_REASON] for each in repairs[:MOST_REPAIRS]]}


def taken_whole(read: Callable[[str], object]) -> Mended:
    """The reader of an answer that is taken as it is, or not at all."""

    def mended(text: str) -> tuple[str, ...]:
        read(text)
        return ()

    return mended


def holding(what: str, read: Callable[[str], object]) -> Mended:
    """The reader of an answer that cannot be used where nothing of a kind is found in it."""

    def mended(text: str) -> tuple[str, ...]:
        if not read(text):
            raise BadReply(f"the answer holds no {what}")
        return ()

    return mended


def facts_of_failure(prompt: Prompt, reason: str) -> dict[str, Json]:
    """The facts of a call that nobody answered, for the journal."""
    return facts_of_question(prompt) | {"outcome": "unavailable", "reason": reason}
