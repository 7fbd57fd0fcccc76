"""A model that reads its answers from a script: the fake that ships with the product.

A script is JSON: `{"name": …, "task": …, "replies": [{"role": …, "text": …}, …]}`. The n-th
question of a role gets the n-th reply of that role; a reply may have `"delay"` in seconds, a price
in `"usd"`, or `"error"` instead of a text. A reply with `"when"` answers every question that holds
those words, before all others; with `"ensemble"`, of that ensemble only; with `"model"`, as that
model where a question names it first. With `task`, only that task is answered.
"""

import asyncio
import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.budget import tokens_in
from twinsmith.core.errors import ConfigError, ModelUnavailable
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.trying.versions import model_and_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One answer, or one error, of a script."""

    role: str
    text: str = ""
    error: str = ""
    delay: float = 0.0
    usd: float = 0.0
    when: str = ""
    ensemble: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The answers of a scripted model; without a task they are given to anyone."""

    name: str
    replies: tuple[ScriptedReply, ...]
    task: str = ""


class ScriptedModel:
    """A model that answers from a script; keeps a bill where it is given a place for it."""

    def __init__(
        self, script: Script, bill: Path | None = None, masking: Masking = NOTHING_KNOWN
    ) -> None:
        self._script = script
        self._bill = bill
        self._masking = masking

    async def ask(self, prompt: Prompt) -> Reply:
        """The next scripted answer, cut to what the budget allows."""
        name = self._script.name
        if self._script.task and prompt.task != self._script.task:
            raise ModelUnavailable(
                f"the script {name!r} knows one task only: {self._script.task!r}; "
                "build that one, or unset models.script"
            )
        mine = [reply for reply in self._script.replies if reply.role == prompt.role]
        mine = [reply for reply in mine if reply.ensemble in (0, prompt.ensemble)]
        asked = self._played(prompt, mine)
        mine = [reply for reply in mine if reply.model == asked]
        fitting = [reply for reply in mine if reply.when and reply.when in prompt.text]
        mine = [reply for reply in mine if not reply.when]
        nth = prompt.nth + prompt.retry
        if not fitting and nth >= len(mine):
            raise ModelUnavailable(
                f"the script {name!r} has {len(mine)} replies for role {prompt.role!r}, "
                f"number {nth + 1} was asked for; add one to the script"
            )
        answer = fitting[0] if fitting else mine[nth]
        await asyncio.sleep(answer.delay)
        if answer.error:
            raise ModelUnavailable(f"{answer.error} (script {name!r}); resume the run to try again")
        whole = self._masking.reply(answer.text)
        text = whole[: prompt.max_tokens * 4]
        reply = Reply(
            text=text,
            model=asked or f"scripted:{name}",
            version="1",
            tokens_in=tokens_in(prompt.text),
            tokens_out=tokens_in(text),
            cut=text != whole,
            usd=answer.usd,
        )
        self._charge(prompt, reply)
        return reply

    def _played(self, prompt: Prompt, replies: list[ScriptedReply]) -> str:
        """The model that the script plays for a question; empty: none but itself."""
        named = [model_and_version(each)[0] for each in prompt.asks]
        known = [each for each in named if any(reply.model == each for reply in replies)]
        asked = known[0] if known and known[0] == named[0] else ""
        shown = asked or f"scripted:{self._script.name}"
        if shown in prompt.never:
            raise ModelUnavailable(f"{shown}: it is retired; see 'twinsmith models versions'")
        return asked

    def _charge(self, prompt: Prompt, reply: Reply) -> None:
        """Write one line of the bill for a question; the same key again costs nothing."""
        if self._bill is None:
            return
        self._bill.parent.mkdir(parents=True, exist_ok=True)
        with self._bill.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if prompt.key in {json.loads(line)["key"] for line in file}:
                return
            file.write(json.dumps({"key": prompt.key, "tokens": reply.tokens}) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read_script(path: Path) -> Script:
    """Read a script, or say in one line what is wrong with it."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        replies = tuple(
            ScriptedReply(
                role=str(reply["role"]),
                text=str(reply.get("text", "")),
                error=str(reply.get("error", "")),
                delay=float(reply.get("delay", 0)),
                usd=float(reply.get("usd", 0)),
                when=str(reply.get("when", "")),
                ensemble=int(reply.get("ensemble", 0)),
                model=str(reply.get("model", "")),
            )
            for reply in raw["replies"]
        )
        return Script(name=str(raw["name"]), task=str(raw.get("task", "")), replies=replies)
    except OSError as error:
        raise ConfigError(
            f"models.script {path} cannot be read: {error.strerror}; name another file"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"models.script {path} is not a script: {type(error).__name__} {error}; "
            "it needs 'name' and 'replies', each with 'role' and 'text'"
        ) from None
