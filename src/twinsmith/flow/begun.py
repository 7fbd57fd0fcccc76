"""The steps of a run in the order in which they began, and what was told of them.

Of several steps at once, another one may come back first each time they are replayed; the order in
which they began is always the same.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from twinsmith.core.errors import BudgetExceeded


class Begun:
    """Who answered, and what the budget could not pay."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._models: dict[str, str] = {}
        self._shortages: dict[str, str] = {}

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order of the questions."""
        return tuple(dict.fromkeys(self._in_order(self._models)))

    @property
    def short(self) -> str:
        """What the budget could not pay, of the first step that lacked something, or nothing."""
        return next(self._in_order(self._shortages), "")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step of this name begins now, or goes on; what it lacks is noted."""
        self._names.setdefault(name)
        try:
            yield
        except BudgetExceeded as error:
            self._shortages.setdefault(name, str(error))
            raise

    def answered(self, name: str, model: str) -> None:
        """Note which model answered the question of a step."""
        self._models[name] = model

    def _in_order(self, told: Mapping[str, str]) -> Iterator[str]:
        return (told[name] for name in self._names if name in told)
