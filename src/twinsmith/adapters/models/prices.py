"""Prices of calls in US dollars; an unknown price is None, never a guess."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from twinsmith.adapters.models.routing import FRONTIER, PROVIDERS, Endpoint
from twinsmith.core.costs.price import MILLION, Price, own_price


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


class PriceList:
    """The prices that hold: those of the settings, then those that come with genai-prices."""

    def __init__(self, own: Sequence[Price] = (), today: Callable[[], str] = _today) -> None:
        self._own = tuple(own)
        self._today = today

    def price(self, endpoint: Endpoint, tokens_in: int, tokens_out: int) -> float | None:
        """The price of a call; local models cost nothing; None where it is unknown."""
        own = own_price(self._own, endpoint.name, self._today())
        if own is not None:
            return own.of(tokens_in, tokens_out)
        return _listed(endpoint, tokens_in, tokens_out) if endpoint.frontier else 0.0

    def listed(self, model: str) -> Price:
        """The price of a model by its name, `provider:model`, with its date and its source."""
        own = own_price(self._own, model, self._today())
        if own is not None:
            return own
        provider, _, name = model.partition(":")
        known = next((each for each in PROVIDERS if each == provider), None)
        if known is None:
            return Price(model=model, usd_in=None, usd_out=None, source="nobody")
        if known not in FRONTIER:
            return Price(model=model, usd_in=0.0, usd_out=0.0, source="local", local=True)
        endpoint = Endpoint(provider=known, model=name)
        usd_in, usd_out = _a_million(endpoint, 1, 0), _a_million(endpoint, 0, 1)
        if usd_in is None or usd_out is None:
            return Price(model=model, usd_in=None, usd_out=None, source="nobody")
        return Price(model=model, usd_in=usd_in, usd_out=usd_out, source=_library())


def _a_million(endpoint: Endpoint, of_in: int, of_out: int) -> float | None:
    # Asked about a thousand: above some length of a question providers take more.
    price = _listed(endpoint, of_in * 1000, of_out * 1000)
    return None if price is None else round(price * MILLION / 1000, 9)


def _listed(endpoint: Endpoint, tokens_in: int, tokens_out: int) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        found = calc_price(usage, endpoint.model, provider_id=endpoint.provider)
    except LookupError:
        return None
    return float(found.total_price)


def _library() -> str:
    from genai_prices import __version__

    return f"genai-prices {__version__}"
