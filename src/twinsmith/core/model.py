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
    """One question.

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
    """One answer, with what it used; `usd` is None where nobody knows the price."""

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
        """What the budget is charged: an answer from the cache was paid before."""
        return 0 if self.cached else self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a stage wants to know; `nth` counts the questions of a role in a run.

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
    """How a stage asks a model."""

    async def __call__(self, question: Question) -> Reply:
        """One answer, recorded and paid once."""
        ...


def fingerprint(prompt: Prompt, model: str) -> str:
    """What makes two questions the same: model, text and every parameter that shapes the answer."""
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
    """Who is asked, and a question's fingerprint."""
    return {
        "role": prompt.role,
        "nth": prompt.nth,
        "ensemble": prompt.ensemble,
        "purpose": prompt.purpose,
        "prompt_sha256": hashlib.sha256(prompt.text.encode()).hexdigest(),
        "idempotency_key": prompt.key,
    }


def facts_of_reply(prompt: Prompt, reply: Reply) -> dict[str, Json]:
    """Everything an auditor wants to know of a call, but neither question nor answer."""
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
    """The same of a call that nobody answered."""
    return facts_of_question(prompt) | {"outcome": "unavailable", "reason": reason}
