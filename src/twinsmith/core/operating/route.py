"""Where requests to an app go: its port, and the instances that share them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """An instance that gets a share of the requests, in hundredths."""

    address: str
    """The path of the Unix socket at which it answers."""
    share: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way from an app's port on the loopback to its instances; their shares add up to 100."""

    app: str
    port: int
    upstreams: tuple[Upstream, ...]


def one_upstream(app: str, port: int, address: str) -> Route:
    """A route on which all requests go to one instance."""
    return Route(app=app, port=port, upstreams=(Upstream(address=address),))


def split(app: str, port: int, *, old: str, new: str, share: int) -> Route:
    """A route on which the new instance gets a share of the requests, in hundredths."""
    if share <= 0:
        return one_upstream(app, port, old)
    if share >= 100:
        return one_upstream(app, port, new)
    both = (Upstream(address=old, share=100 - share), Upstream(address=new, share=share))
    return Route(app=app, port=port, upstreams=both)
