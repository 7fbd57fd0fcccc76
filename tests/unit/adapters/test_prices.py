"""Prices: one's own win over the library's, each with its day and its source."""

from twinsmith.adapters.models.prices import PriceList
from twinsmith.adapters.models.routing import Endpoint
from twinsmith.core.costs.price import price_in

GPT = Endpoint(provider="openai", model="gpt-4o")
LOCAL = Endpoint(provider="embedded", model="qwen")
OWN = (price_in("openai:gpt-4o 500000 250000 2026-06-01 contract"),)


def listed(today: str) -> PriceList:
    return PriceList(OWN, today=lambda: today)


def test_ones_own_price_holds_from_its_day_on() -> None:
    assert listed("2026-06-01").price(GPT, 3, 2) == 2.0
    before = listed("2026-05-31").price(GPT, 3, 1)
    assert before is not None
    assert before < 0.01


def test_the_list_names_day_and_source() -> None:
    own = listed("2026-11-19").listed(GPT.name)
    assert (own.usd_in, own.usd_out, own.date, own.source) == (5e5, 2.5e5, "2026-06-01", "contract")
    known = PriceList().listed(GPT.name)
    assert known.source.startswith("genai-prices ")
    # What a thousand tokens cost there, a million costs a thousand times.
    thousand = PriceList().price(GPT, 1000, 1000)
    assert known.usd_in is not None
    assert known.usd_out is not None
    assert thousand is not None
    assert abs(known.usd_in + known.usd_out - 1000 * thousand) < 1e-6


def test_what_is_local_costs_power_and_what_is_strange_has_no_price() -> None:
    assert PriceList().price(LOCAL, 10**6, 10**6) == 0.0
    local = PriceList().listed(LOCAL.name)
    assert (local.local, local.of(10, 10)) == (True, 0.0)
    for strange in ("openai:nobody-heard-of-it", "scripted:double", "nonsense"):
        found = PriceList().listed(strange)
        assert (found.usd_in, found.of(10, 10), found.source) == (None, None, "nobody")
