"""One question to a model, asked again until its answer can be read."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Ask, Question

MOST_RETRIES = 2

T = TypeVar("T")


async def answered(question: Question, read: Callable[[str], T], ask: Ask) -> T:
    """The answer as `read` reads it; where it cannot, the model is asked again with the reason.

    Raises BadReply when the last answer cannot be used either.
    """
    asked = question
    for retry in range(1, MOST_RETRIES + 1):
        reply = await ask(asked)
        try:
            return read(reply.text)
        except BadReply as error:
            text = f"{question.text}\nAn earlier answer could not be used: {error}. Answer anew."
            asked = replace(question, text=text, retry=retry)
    return read((await ask(asked)).text)
