"""Shares of requests as a hundred slots, of which one is drawn for every request."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.instance import app_name
from twinsmith.core.operating.route import Route, Upstream

SLOTS = 100


def tidy(route: Route) -> Route:
    """The route as proxies keep it: real paths, no upstream without a share.

    ConfigError where it cannot be a route.
    """
    app_name(route.app)
    if not 0 < route.port < 65536:
        raise ConfigError(f"port {route.port} of app {route.app} is none; give one up to 65535")
    whole = sum(upstream.share for upstream in route.upstreams)
    if whole != SLOTS or any(upstream.share < 0 for upstream in route.upstreams):
        raise ConfigError(f"the shares of app {route.app} add up to {whole}; they have to make 100")
    real = [replace(each, address=_real(each.address)) for each in route.upstreams]
    return replace(route, upstreams=upstreams(slots(real)))


def slots(upstreams: Sequence[Upstream]) -> tuple[str, ...]:
    """The address behind every slot: each upstream has as many in a row as its share."""
    return tuple(upstream.address for upstream in upstreams for _ in range(upstream.share))


def upstreams(addresses: Sequence[str]) -> tuple[Upstream, ...]:
    """The upstreams behind slots, with their shares."""
    shares = {address: addresses.count(address) for address in addresses}
    return tuple(Upstream(address=address, share=share) for address, share in shares.items())


def _real(address: str) -> str:
    """Folders may be links, for they are the operator's; the socket itself may not."""
    path = Path(address)
    if not path.is_absolute():
        raise ConfigError(f"the socket {address!r} has no absolute path; give one")
    return str(path.parent.resolve() / path.name)
