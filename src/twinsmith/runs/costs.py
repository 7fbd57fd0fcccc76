"""What models cost over all runs, without reading again what was read before."""

import threading
from collections import OrderedDict
from datetime import date

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.costs.allowance import Bound, Payer, Standing, bounds_of
from twinsmith.core.costs.price import Price
from twinsmith.core.costs.report import Costs, Power, Wanted, reported
from twinsmith.core.costs.spending import (
    BY,
    NOBODY,
    Accounts,
    By,
    Spending,
    accounts_in,
    merged,
    total,
)
from twinsmith.core.errors import ConfigError, TwinsmithError
from twinsmith.core.events import SYSTEM
from twinsmith.runs.book import Book

MOST_KEPT = 5000


class CostBook:
    """The accounts of all runs; all of them can be read anew."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: OrderedDict[str, tuple[int, Accounts]] = OrderedDict()
        self._lock = threading.Lock()

    def report(self, by: By = "model", since: str = "") -> Costs:
        """What was spent, by one thing, from a day on."""
        settings = self._book.settings
        accounts = self.accounts()
        costs = settings.values.costs
        now = SystemClock().now()
        from twinsmith.wiring.costs import teams_of

        return reported(
            accounts,
            Wanted(by=by, since=since, now=now),
            Power(watts=costs.watts, kwh_usd=costs.kwh_usd),
            teams=teams_of(settings),
            prices=self._prices(accounts),
            budgets=self._budgets(accounts, now),
        )

    def accounts(self) -> Accounts:
        """The accounts of every chain of the journal, as one."""
        with self._lock:
            return merged(map(self._of, (*self._book.journal.runs(), SYSTEM)))

    def of(self, run: str) -> Spending:
        """What one run spent so far."""
        with self._lock:
            return total(self._of(run))

    def _of(self, run: str) -> Accounts:
        offset, accounts = self._known.pop(run, (0, {}))
        more, end = self._book.journal.entries_since(run, offset)
        if more:
            # From its beginning: calls at the same time share their seconds.
            entries = more if not offset else self._book.journal.entries_since(run, 0)[0]
            accounts = accounts_in(run, entries)
        self._known[run] = (end, accounts)
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return accounts

    def _prices(self, accounts: Accounts) -> tuple[Price, ...]:
        """The prices of all models that answered, may answer, or have a price in the settings."""
        from twinsmith.core.costs.price import price_in
        from twinsmith.wiring.models import offer, prices_of

        settings = self._book.settings
        names = {place.model for place in accounts if place.model != NOBODY}
        names |= {price_in(text).model for text in settings.values.costs.prices}
        try:
            routes = offer(settings).routes
        except TwinsmithError:
            # What may answer is not known then; what did is.
            routes = {}
        names |= {each.name for choice in routes.values() for each in choice.endpoints}
        prices = prices_of(settings)
        return tuple(prices.listed(name) for name in sorted(names))

    def _budgets(self, accounts: Accounts, now: str) -> tuple[Standing, ...]:
        """How much of each budget of a day or a month is spent, of everybody who spent anything."""
        from twinsmith.wiring.costs import allowances_of, purse_of, teams_of

        settings = self._book.settings
        lasting = [each for each in allowances_of(settings) if each.period != "run"]
        if not lasting:
            return ()
        payers = {(place.person, place.app) for place in accounts} or {("", "")}
        bounds: dict[str, Bound] = {
            bound.id: bound
            for person, app in sorted(payers)
            for bound in bounds_of(
                lasting, Payer(run="", person=person, app=app), now, teams_of(settings)
            )
        }
        return purse_of(settings).standings(tuple(bounds.values()))


def by_in(text: str) -> By:
    """The thing that costs are told by; ConfigError where it is none."""
    found = next((each for each in BY if each == text), None)
    if found is None:
        raise ConfigError(f"costs by {text!r} are not known; by one of {', '.join(BY)}")
    return found


def day_in(text: str) -> str:
    """A day such as 2026-11-01, or empty; ConfigError where it is none."""
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ConfigError(f"{text!r} is no day; for example 2026-11-01") from None
