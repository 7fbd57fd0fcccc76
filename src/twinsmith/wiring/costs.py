"""From settings to what spending needs: allowances, teams, the purse, who is asked."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from twinsmith.core.trying.arrangement import AS_SET, Arrangement
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.core.costs.allowance import Allowance
    from twinsmith.core.operating.alert import Alert
    from twinsmith.flow.budgeted import Rules, Till
    from twinsmith.ports import Journal, Purse


def purse_of(settings: Settings) -> "Purse":
    """What was spent, in the database that all share."""
    from twinsmith.adapters.costs.table import PurseTable

    return PurseTable(shared_url(settings))


def allowances_of(settings: Settings) -> "tuple[Allowance, ...]":
    """The allowances of the settings."""
    from twinsmith.core.costs.allowance import allowance_in

    return tuple(map(allowance_in, settings.values.budgets.limits))


def teams_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The people of each team."""
    from twinsmith.core.costs.allowance import team_in

    return dict(map(team_in, settings.values.budgets.teams))


def rules_of(settings: Settings) -> "Rules":
    """The allowances that hold for every run."""
    from twinsmith.flow.budgeted import Rules

    return Rules(
        allowances=allowances_of(settings),
        teams=teams_of(settings),
        seconds=settings.values.gateway.reply_seconds,
    )


def till_of(
    settings: Settings,
    purse: "Purse",
    journal: "Journal",
    *,
    parks: bool,
    alert: "Callable[[Alert], Awaitable[object]]",
    dearest: Callable[[int, int], float],
) -> "Till":
    """What paying takes; without `parks` nobody is waited for, and no is the answer."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.desk.durable import DurableDesk
    from twinsmith.adapters.desk.terminal import Nobody
    from twinsmith.flow.budgeted import Till
    from twinsmith.wiring.people import questions_of

    wait, clock = settings.values.budgets.wait_seconds, SystemClock()
    # Never at the terminal of the run: who sits there may not be the one who may say it.
    desk = DurableDesk(questions_of(settings), clock, wait, parks=True) if parks else Nobody()
    return Till(purse=purse, desk=desk, journal=journal, clock=clock, alert=alert, dearest=dearest)


def dearest_of(
    settings: Settings, arrangement: Arrangement = AS_SET, also: Callable[[], Sequence[str]] = tuple
) -> Callable[[int, int], float]:
    """The most dollars that tokens in and out cost at any model that may be asked.

    Models are only looked for where money is limited. What has no price counts as nothing here:
    the gateway asks no such model where money is limited.
    """
    limits = allowances_of(settings)
    if settings.values.models.script or not any(each.unit == "usd" for each in limits):
        return lambda _in, _out: 0.0
    from twinsmith.wiring.models import arranged_offer, endpoint_of, offer, prices_of

    prices, routes = prices_of(settings), arranged_offer(offer(settings), arrangement).routes
    endpoints = {each for choice in routes.values() for each in choice.endpoints}
    endpoints |= {endpoint_of(name) for name in also()}

    def dearest(tokens_in: int, tokens_out: int) -> float:
        found = (prices.price(each, tokens_in, tokens_out) for each in endpoints)
        return max((each for each in found if each is not None), default=0.0)

    return dearest
