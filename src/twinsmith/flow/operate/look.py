"""One look at an app: what it uses, whether it answers, how people's requests went."""

from collections.abc import Callable
from dataclasses import dataclass

from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.instance import HostName, instance_name
from twinsmith.core.operating.reading import Reading, Said, Usage
from twinsmith.ports import Gauge, Meter, Visitor

PROBE_SECONDS = 2.0
"""Whoever has not answered a probe after so long does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Everything that an app is looked at through."""

    gauge: Callable[[HostName], Gauge]
    meter: Meter
    visitor: Visitor
    address: Callable[[HostName, str], str]
    """The socket of an instance on a host."""


async def glanced(post: Post, app: App) -> Usage:
    """How the serving release of an app stands, and what it uses."""
    return await post.gauge(app.host).read(instance_name(app.name, app.serving))


async def looked(post: Post, app: App, release: Release, usage: Usage, *, at: float) -> Reading:
    """A whole look: a probe, people's requests, and what it wrote, since the look before."""
    name = instance_name(app.name, app.serving)
    status, seconds = None, None
    if usage.state == "running":
        address = post.address(app.host, name)
        asked = await post.visitor.get(address, release.deliverable.health, seconds=PROBE_SECONDS)
        status, seconds = asked.status, asked.seconds
    return Reading(
        app=app.name,
        release=app.serving,
        at=at,
        usage=usage,
        status=status,
        probe_seconds=seconds,
        traffic=await post.meter.read(app.name),
        said=await post.gauge(app.host).said(name) if usage.state != "absent" else Said(),
    )


async def glimpsed(post: Post, app: App, usage: Usage, *, at: float) -> Reading:
    """A look at what an app uses and how people's requests went: without a probe and its log."""
    traffic = await post.meter.read(app.name)
    return Reading(app=app.name, release=app.serving, at=at, usage=usage, traffic=traffic)
