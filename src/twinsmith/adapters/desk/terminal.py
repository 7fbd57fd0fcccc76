"""A person at the terminal: asked in a line, and not waited for longer than was agreed."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TextIO

from twinsmith.core.errors import ConfigError
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.people.question import (
    LONGEST_ANSWER,
    Asked,
    PersonalQuestion,
    accepted,
    numbered,
)


class Terminal:
    """Asks on one stream and reads a line from another; no answer in time is the assumption."""

    def __init__(
        self,
        *,
        said: TextIO = sys.stdin,
        shown: TextIO = sys.stderr,
        aside: Callable[[], AbstractContextManager[object]] = nullcontext,
        masking: Masking = NOTHING_KNOWN,
    ) -> None:
        self._said = said
        self._shown = shown
        self._aside = aside
        self._masking = masking

    async def ask(self, question: PersonalQuestion, seconds: float) -> str:
        """The masked line that a person typed; an empty one, or none in time, is the assumption.

        Where the question has choices, another answer is asked for again.
        """
        ends = asyncio.get_running_loop().time() + seconds
        with self._aside():
            print(f"\n{question.text}", file=self._shown)
            if question.choices:
                print(numbered(question.choices), file=self._shown)
            patience = f"Enter or {seconds:.3g} s without an answer"
            while True:
                print(f"[{patience}: {question.assumed}] ", end="", file=self._shown, flush=True)
                line = await self._line(ends - asyncio.get_running_loop().time())
                try:
                    answer = accepted(question, self._masking.text(line))
                except ConfigError as error:
                    print(error, file=self._shown)
                    continue
                print("" if line else f"\n(assumed: {question.assumed})", file=self._shown)
                return answer

    async def _line(self, seconds: float) -> str:
        """What was typed up to the end of the line; nothing where time runs out."""
        loop, typed = asyncio.get_running_loop(), self._said.fileno()
        heard, ended = bytearray(), asyncio.Event()

        def hear() -> None:
            part = b""
            with suppress(OSError):  # a terminal that was closed has no more to say
                part = os.read(typed, LONGEST_ANSWER)
            heard.extend(part)
            if not part or part.endswith(b"\n"):
                ended.set()

        # A thread that waits for a line could not be stopped; a watched descriptor can.
        loop.add_reader(typed, hear)
        try:
            async with asyncio.timeout(seconds):
                await ended.wait()
        except TimeoutError:
            return ""
        finally:
            loop.remove_reader(typed)
        return heard.decode(errors="replace")


class Nobody:
    """Nobody is there: everything is as assumed."""

    async def ask(self, question: PersonalQuestion) -> Asked:
        """The assumption."""
        return Asked(answer=question.assumed)
