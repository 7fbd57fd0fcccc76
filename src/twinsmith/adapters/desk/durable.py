"""A desk whose questions outlive the process that asked them."""

import asyncio
from datetime import datetime, timedelta

from twinsmith.adapters.desk.terminal import Terminal
from twinsmith.core.people.question import Answer, Asked, PersonalQuestion, QuestionRecord
from twinsmith.ports import Clock, Questions

LOOK_SECONDS = 0.5
NOBODY = "twinsmith"
"""Who signs an assumption."""


class DurableDesk:
    """Keeps every question; asks at a terminal where there is one, else waits elsewhere or not.

    With `parks` nobody is waited for here: the run leaves its process and goes on when somebody has
    answered, or when the time of the question is over.
    """

    def __init__(
        self,
        questions: Questions,
        clock: Clock,
        seconds: float,
        *,
        terminal: Terminal | None = None,
        parks: bool = False,
    ) -> None:
        self._questions = questions
        self._clock = clock
        self._seconds = seconds
        self._terminal = terminal
        self._parks = parks

    async def ask(self, question: PersonalQuestion) -> Asked:
        """The answer that is kept, else what is assumed, or until when an answer may come."""
        now = self._clock.now()
        until = datetime.fromisoformat(now) + timedelta(seconds=self._seconds)
        record = self._questions.put(
            QuestionRecord(
                question=question, asked=now, until=until.isoformat(timespec="microseconds")
            )
        )
        if record.answer is not None:
            return Asked(answer=record.answer.text)
        if record.overdue(now) or not (self._terminal or self._parks):
            return Asked(answer=self._settled(question, question.assumed, NOBODY))
        if self._terminal is not None:
            return Asked(answer=await self._at_the_terminal(self._terminal, record))
        return Asked(answer=None, until=record.until)

    async def _at_the_terminal(self, terminal: Terminal, record: QuestionRecord) -> str:
        """What is typed here or kept from elsewhere, whichever comes first."""
        question = record.question
        left = datetime.fromisoformat(record.until) - datetime.fromisoformat(self._clock.now())
        typing = asyncio.ensure_future(terminal.ask(question, left.total_seconds()))
        looking = asyncio.ensure_future(self._elsewhere(question.id))
        try:
            await asyncio.wait({typing, looking}, return_when=asyncio.FIRST_COMPLETED)
            if looking.done():
                return looking.result()
            said = typing.result()
        finally:
            for task in (typing, looking):
                task.cancel()
            await asyncio.gather(typing, looking, return_exceptions=True)
        return self._settled(question, said, "person" if said != question.assumed else NOBODY)

    async def _elsewhere(self, name: str) -> str:
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            record = self._questions.get(name)
            if record is not None and record.answer is not None:
                return record.answer.text

    def _settled(self, question: PersonalQuestion, text: str, by: str) -> str:
        """An answer once it is kept; where somebody was faster, theirs."""
        self._questions.answer(question.id, Answer(text=text, by=by, at=self._clock.now()))
        record = self._questions.get(question.id)
        return record.answer.text if record and record.answer else text
