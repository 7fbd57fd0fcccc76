"""Steps remembered in a dictionary: the fake, and the baseline that durability is measured by."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from twinsmith.adapters.durable.codec import from_json, to_json
from twinsmith.core.errors import EngineError, RunCancelled
from twinsmith.core.events import Json

T = TypeVar("T")


class MemoryDurable:
    """Give two of them the same `records` to play a process that died and came back."""

    def __init__(self, records: dict[str, Json] | None = None) -> None:
        self._records: dict[str, Json] = {} if records is None else records
        self._run = ""
        self._begun = 0

    async def drive(self, run: str, flow: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Run a flow to its end, or give its recorded end."""
        self._run, self._begun = run, 0
        return await self._once(f"{run}:end", flow, kind)

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value, under its place among all steps."""
        self._begun += 1
        place = f"{self._run}:place:{self._begun}"
        was = self._records.get(place, name)
        if was != name:
            raise EngineError(
                f"run {self._run} cannot go on: its step {self._begun} was {was!r}, now it is "
                f"{name!r}; start a new build"
            )
        value = await self._once(f"{self._run}:step:{name}", work, kind)
        self._records[place] = name
        return value

    async def cancel(self, run: str) -> None:
        """Stop a run for good, unless it has ended."""
        if f"{run}:end" not in self._records:
            self._records[f"{run}:cancelled"] = True

    async def _once(self, key: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        if f"{self._run}:cancelled" in self._records:
            raise RunCancelled(f"run {self._run} was cancelled; start a new build")
        if key not in self._records:
            self._records[key] = to_json(await work(), kind)
        return from_json(self._records[key], kind)
