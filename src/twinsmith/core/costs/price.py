"""Prices of models: in dollars for a million tokens, with their date and their source."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

EXAMPLE = '"openai:gpt-4o 2.5 10 2026-11-01 contract"'
MILLION = 1_000_000
DAYS_LONG = len("2026-11-01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a model; None where nobody knows it."""

    model: str
    usd_in: float | None
    """Dollars for a million tokens of questions."""
    usd_out: float | None
    """Dollars for a million tokens of answers."""
    date: str = ""
    """The day from which on it holds; empty where its source tells none."""
    source: str = ""
    local: bool = False
    """Whether it is answered on one's own machine: it costs power and time, and no money."""

    def of(self, tokens_in: int, tokens_out: int) -> float | None:
        """The price of so many tokens; None where nobody knows it."""
        if self.usd_in is None or self.usd_out is None:
            return None
        return (tokens_in * self.usd_in + tokens_out * self.usd_out) / MILLION


def price_in(text: str) -> Price:
    """A price as settings write it; ValueError says in one line what is wrong with it."""
    words = text.split()
    if len(words) < 4:
        raise ValueError(
            f"{text!r} is no price; write the model, dollars for a million tokens in and out, the "
            f"day and the source, for example {EXAMPLE}"
        )
    model, usd_in, usd_out, day, *source = words
    if ":" not in model:
        raise ValueError(f"{model!r} in {text!r} is no model; write provider:model")
    try:
        date.fromisoformat(day)
        known = len(day) == DAYS_LONG
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"{day!r} in {text!r} is no day; for example 2026-11-01")
    return Price(
        model=model,
        usd_in=_dollars(usd_in, text),
        usd_out=_dollars(usd_out, text),
        date=day,
        source=" ".join(source) or "settings",
    )


def own_price(own: Sequence[Price], model: str, today: str) -> Price | None:
    """The price of one's own that holds for a model today: the youngest that has begun."""
    mine = [each for each in own if each.model == model and each.date <= today[:DAYS_LONG]]
    return max(mine, key=lambda each: each.date, default=None)


def _dollars(word: str, text: str) -> float:
    try:
        dollars = float(word)
    except ValueError:
        raise ValueError(f"{word!r} in {text!r} is no amount of dollars") from None
    if not 0 <= dollars < MILLION:
        raise ValueError(f"{word} in {text!r} is no amount of dollars for a million tokens")
    return dollars
