"""Requests with an Idempotency-Key: each is done once, and answered alike each time it comes."""

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import Response

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.people.account import later
from twinsmith.core.people.answered import KEPT_SECONDS, Answered, Asking
from twinsmith.ports import Answers, Clock
from twinsmith.web.problems import Refused

TIDY_SECONDS = 3600.0
SHOWN = '{"note": "this was shown once"}'


class Once:
    """The answers that are kept for whoever asks again, in the database that all servers share."""

    def __init__(self, answers: Answers, clock: Clock | None = None) -> None:
        self._answers = answers
        self._clock = clock or SystemClock()
        self._tidied = ""

    async def done(
        self, asking: Asking, work: Callable[[], Awaitable[Response]], *, shown_once: bool
    ) -> Response:
        """The answer to a request: the one that is known, or what its work comes to.

        What failed may be tried again; of what is shown once, nothing is kept but that it was.
        """
        now = self._clock.now()
        await self._tidy(now)
        known = await asyncio.to_thread(self._answers.begin, asking, now)
        if known is not None:
            return _again(asking, known)
        try:
            response = await work()
        except BaseException:
            await asyncio.to_thread(self._answers.drop, asking)
            raise
        if response.status_code >= 400:
            await asyncio.to_thread(self._answers.drop, asking)
            return response
        kept = Answered(
            digest=asking.digest,
            status=response.status_code,
            kind=response.headers.get("content-type", ""),
            body=SHOWN if shown_once else bytes(response.body).decode(),
            location=response.headers.get("location", ""),
        )
        await asyncio.to_thread(self._answers.settle, asking, kept)
        return response

    async def _tidy(self, now: str) -> None:
        """Forget old answers, now and then: nobody asks for them any more."""
        if self._tidied < later(now, -TIDY_SECONDS):
            self._tidied = now
            await asyncio.to_thread(self._answers.forget, later(now, -KEPT_SECONDS))


def _again(asking: Asking, known: Answered) -> Response:
    if known.digest != asking.digest:
        raise Refused(422, f"Idempotency-Key {asking.key!r} was used for another request")
    if not known.status:
        raise Refused(409, "this request is under way; ask again in a second", wait=1)
    told = {"content-type": known.kind, "location": known.location, "idempotency-replayed": "true"}
    headers = {name: text for name, text in told.items() if text}
    return Response(known.body, known.status, headers=headers)
