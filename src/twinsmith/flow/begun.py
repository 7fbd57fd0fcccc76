"""The steps of a run in the order in which they began, with their models and shortages.

Of several steps at once, another one may come back first each time they are replayed; the order in
which they began is always the same.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from twinsmith.core.errors import BudgetExceeded


class Begun:
    """The steps of one run: which models answered them, which the budget could not pay."""

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
        """The message of the first step that the budget could not pay; empty where it paid all."""
        return next(self._in_order(self._shortages), "")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Note that a step of this name begins or goes on, and what the budget could not pay."""
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
