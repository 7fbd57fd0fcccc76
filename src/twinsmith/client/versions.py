"""Versions of a server: listed, pinned, promoted, retired, restored; challengers of roles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twinsmith.client.version_shapes import (
    Challenged,
    Given,
    Named,
    Overview,
    Restored,
    Retired,
    Stopped,
)
from twinsmith.client.wire import Wire
from twinsmith.core.trying.challenger import Challenge, Score
from twinsmith.core.trying.versions import InForce

if TYPE_CHECKING:
    from twinsmith.core.trying.versions import Verb


class Versions:
    """What took part in results of a server, and what is in force of it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def listed(self, kind: str = "") -> Overview:
        """Every version of a kind; without one, of templates only what is decided or gone."""
        return self._wire.get("models/versions", Overview, {"kind": kind} if kind else {})

    def give(self, key: str, value: str, verb: "Verb") -> InForce:
        """Put one value in force for every new run."""
        deed = "pin" if verb == "pinned" else "promote"
        return self._wire.post(f"models/{deed}", InForce, Given.of(key=key, value=value))

    def retire(self, model: str) -> bool:
        """Let nobody ask a model any more; False where that is so already."""
        return self._wire.post("models/retire", Retired, Named.of(what=model)).retired

    def restore(self, what: str) -> tuple[str, ...]:
        """Take back what was pinned, promoted or retired."""
        return self._wire.post("models/restore", Restored, Named.of(what=what)).restored

    def challenge(self, role: str, model: str, share: float, guards: Sequence[str]) -> Challenge:
        """Give a model a share of a role's calls."""
        asked = Challenged.of(role=role, model=model, share=share, guards=tuple(guards))
        return self._wire.post("models/challengers", Challenge, asked)

    def stop(self, role: str) -> Challenge:
        """Give the challenger of a role no more calls."""
        return self._wire.post("models/challengers/stop", Challenge, Stopped.of(role=role))

    def challengers(self) -> tuple[Score, ...]:
        """How challengers do beside champions."""
        return self._wire.get("models/challengers", tuple[Score, ...])
