"""Any model, recorded once and played back: real answers in tests that cost nothing.

A recording is JSON lines, one an exchange, keyed by everything that shapes the answer. Keys and
tokens are masked before they are written. Playing it back, a question that was not recorded is
ModelUnavailable, and `assert_played` fails when something recorded was never asked for.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path

from twinsmith.core.errors import ConfigError, ModelUnavailable
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.model import Prompt, Reply, fingerprint
from twinsmith.ports import Model

WHO = "recorded"


class RecordingModel:
    """Asks another model and writes down what it said."""

    def __init__(self, inner: Model, path: Path, masking: Masking = NOTHING_KNOWN) -> None:
        self._inner = inner
        self._path = path
        self._masking = masking

    async def ask(self, prompt: Prompt) -> Reply:
        """The other model's answer, which is recorded."""
        reply = await self._inner.ask(prompt)
        line = {
            "key": fingerprint(prompt, WHO),
            "prompt": self._masking.text(prompt.text),
            "reply": asdict(replace(reply, text=self._masking.code(reply.text))),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return reply


class RecordedModel:
    """Plays a recording back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unplayed: dict[str, list[Reply]] = {}
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                raw = json.loads(line)
                reply = raw["reply"]
                reply["failed_attempts"] = tuple(reply["failed_attempts"])
                self._unplayed.setdefault(raw["key"], []).append(Reply(**reply))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the recording {path} cannot be read: {error}; record it anew"
            ) from None

    async def ask(self, prompt: Prompt) -> Reply:
        """The recorded answer to a question; the same question twice is played in order."""
        replies = self._unplayed.get(fingerprint(prompt, WHO))
        if not replies:
            raise ModelUnavailable(
                f"the recording {self._path} has no answer to '{prompt.key}'; record it anew"
            )
        return replies.pop(0)

    def assert_played(self) -> None:
        """Fail when something recorded was never asked for."""
        left = sum(len(replies) for replies in self._unplayed.values())
        if left:
            raise AssertionError(f"{left} exchanges of {self._path} were never played")
