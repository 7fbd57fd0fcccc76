"""How everything stands, asked at most once a second however many pages are open."""

import asyncio
import time

from twinsmith.runs.book import Book
from twinsmith.runs.frame import Frame, frame_of

FRESH_SECONDS = 1.0


class Standing:
    """The frame of all pages; another server asks for itself."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._lock = asyncio.Lock()
        self._frame: Frame | None = None
        self._at = float("-inf")

    async def now(self) -> Frame:
        """How everything stands."""
        async with self._lock:
            if self._frame is None or time.monotonic() - self._at > FRESH_SECONDS:
                self._frame = await asyncio.to_thread(frame_of, self._book)
                self._at = time.monotonic()
            return self._frame
