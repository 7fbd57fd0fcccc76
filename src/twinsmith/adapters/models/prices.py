"""Prices of calls in US dollars; an unknown price is None, never a guess."""

from twinsmith.adapters.models.routing import Endpoint


def price(endpoint: Endpoint, tokens_in: int, tokens_out: int) -> float | None:
    """The price of a call in US dollars; local models cost nothing; None where it is unknown."""
    if not endpoint.frontier:
        return 0.0
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        found = calc_price(usage, endpoint.model, provider_id=endpoint.provider)
    except LookupError:
        return None
    return float(found.total_price)
