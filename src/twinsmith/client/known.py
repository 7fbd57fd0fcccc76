"""What a server knows: its models and their costs, its knowledge, what runs have learned."""

from twinsmith.client.shapes import ModelUse, NewPassage, Passage, Route, Taught
from twinsmith.client.wire import Params, Wire
from twinsmith.core.costs.report import Costs
from twinsmith.core.costs.spending import By
from twinsmith.core.knowing.insight import Insight
from twinsmith.core.knowing.knowledge import Figures


class Known:
    """Models, knowledge and insights."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def models(self) -> tuple[Route, ...]:
        """The models that each role of each ensemble asks, in their order, and why those."""
        return self._wire.get("models", tuple[Route, ...])

    def use(self, run: str = "") -> tuple[ModelUse, ...]:
        """How models were used, by role and ensemble; of one run where one is named."""
        return self._wire.get("models/use", tuple[ModelUse, ...], {"run": run})

    def costs(self, by: By = "model", since: str = "") -> Costs:
        """What was spent on models, by one thing, from a day such as 2026-11-01 on."""
        return self._wire.get("costs", Costs, {"by": by, "since": since})

    def figures(self) -> Figures:
        """How much is known, and from where."""
        return self._wire.get("knowledge", Figures)

    def search(self, words: str, *, k: int = 10, language: str = "") -> tuple[Passage, ...]:
        """The passages that answer best; nothing where nothing fits."""
        asked: Params = {"q": words, "k": k, "language": language}
        return self._wire.get("knowledge/search", tuple[Passage, ...], asked)

    def teach(self, title: str, text: str) -> int:
        """Keep a text: from now on runs find it; the number of its passages."""
        wanted = NewPassage.of(title=title, text=text)
        return self._wire.post("knowledge", Taught, wanted).passages

    def insights(
        self, *, about: str = "", language: str = "", most: int = 50
    ) -> tuple[Insight, ...]:
        """What was learned, what helps most first."""
        asked: Params = {"about": about, "language": language, "limit": most}
        return self._wire.get("insights", tuple[Insight, ...], asked)
