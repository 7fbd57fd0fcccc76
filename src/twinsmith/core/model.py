"""A question to a language model and its answer."""

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from twinsmith.core.events import Json

Role = Literal["slow", "coder", "critic"]
ROLES: tuple[Role, ...] = get_args(Role)
# Clarification requests of the slow thinker and best-practice lookups of the coder are worth a
# frontier model where there is one.
Purpose = Literal["answer", "clarification", "practice"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


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
    failed_attempts: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens that the budget is charged; an answer from the cache was paid before."""
        return 0 if self.cached else self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of a stage, before it is bound to a run; `nth` counts a role's questions.

    `tokens` is the longest answer, 0 for what the settings allow.
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
        "purpose": prompt.purpose,
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
        "outcome": "replied",
        "failed_attempts": list(reply.failed_attempts),
    }


def facts_of_failure(prompt: Prompt, reason: str) -> dict[str, Json]:
    """The facts of a call that nobody answered, for the journal."""
    return facts_of_question(prompt) | {"outcome": "unavailable", "reason": reason}
