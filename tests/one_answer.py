"""Whoever is asked gives one answer, and keeps what it was asked."""

from twinsmith.core.errors import BadReply, TwinsmithError
from twinsmith.core.model import Question, Reply


class OneAnswer:
    """A model with one answer; without one it raises."""

    def __init__(self, text: str, error: TwinsmithError | None = None) -> None:
        self._text = text
        self._error = error or BadReply("nothing")
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question)
        if not self._text:
            raise self._error
        return Reply(text=self._text, model="m", tokens_in=1, tokens_out=1)
