"""The time: the machine's, and one that a test moves by hand."""

import asyncio
import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock."""

    def now(self) -> str:
        """This moment in UTC."""
        return datetime.now(UTC).isoformat(timespec="microseconds")

    def seconds(self) -> float:
        """A reading that only grows."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self._passed = 0.0

    def now(self) -> str:
        """The moment it was moved to."""
        start = datetime(2026, 1, 1, tzinfo=UTC)
        return (start + timedelta(seconds=self._passed)).isoformat(timespec="microseconds")

    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Move on at once, and let others run."""
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._passed += seconds
