"""Where people are asked and decide: questions, approvals, the queue, overrides."""

from collections.abc import Mapping

from twinsmith.client.shapes import Done, Modified, NewOverride, Said
from twinsmith.client.wire import Wire, named
from twinsmith.core.operating.action import Queued
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.core.people.override import Command, Override
from twinsmith.core.people.question import ABOUT_MONEY, QuestionRecord


class People:
    """What a server asks people, and what they say to it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def questions(self, *, every: bool = False) -> tuple[QuestionRecord, ...]:
        """Questions that are open, oldest first; with `every`, those that were answered, too."""
        return self._wire.get("questions", tuple[QuestionRecord, ...], {"all": every})

    def answer(self, question: str, text: str = "") -> QuestionRecord:
        """Answer a question; an empty text is its assumption. The first answer counts."""
        kind = "budgets" if ABOUT_MONEY.strip(".") in question else "questions"
        return self._wire.post(f"{kind}/{named(question)}/answer", QuestionRecord, _said(text))

    def approvals(self, *, every: bool = False) -> tuple[ApprovalRequest, ...]:
        """What waits for a person's word, oldest first; with `every`, what was decided, too."""
        return self._wire.get("approvals", tuple[ApprovalRequest, ...], {"all": every})

    def approval(self, request: str) -> ApprovalRequest:
        """One request with everything that is needed to decide about it."""
        return self._wire.get(f"approvals/{named(request)}", ApprovalRequest)

    def approve(self, request: str, note: str = "") -> ApprovalRequest:
        """Let an action be done."""
        return self._decided(request, "approve", note)

    def reject(self, request: str, reason: str) -> ApprovalRequest:
        """Refuse an action; everything stays as it is."""
        return self._decided(request, "reject", reason)

    def modify(
        self,
        request: str,
        *,
        files: Mapping[str, str] | None = None,
        terms: Mapping[str, float] | None = None,
        note: str = "",
    ) -> ApprovalRequest:
        """Change the source or the terms of an action; it goes through all gates again."""
        wanted = Modified.of(note=note, files=dict(files or {}), terms=dict(terms or {}))
        return self._wire.post(f"approvals/{named(request)}/modify", ApprovalRequest, wanted)

    def queue(self, *, every: bool = False) -> tuple[Queued, ...]:
        """The execution queue in its order; with `every`, what is over, too."""
        return self._wire.get("queue", tuple[Queued, ...], {"all": every})

    def overrides(self) -> tuple[Override, ...]:
        """Every override there ever was, oldest first; one that is not `lifted` holds."""
        return self._wire.get("overrides", tuple[Override, ...])

    def override(self, command: Command, scope: str, reason: str) -> tuple[str, ...]:
        """Beat every automatic action at once; what was done, in lines."""
        wanted = NewOverride.of(command=command, scope=scope, reason=reason)
        return self._wire.post("overrides", Done, wanted).done

    def _decided(self, request: str, said: str, note: str) -> ApprovalRequest:
        return self._wire.post(f"approvals/{named(request)}/{said}", ApprovalRequest, _said(note))


def _said(text: str) -> Said:
    return Said.of(text=text)
