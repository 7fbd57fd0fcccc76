"""From settings to what watching needs: gauges, the meter, the memory of what was seen."""

from functools import cache, partial
from typing import TYPE_CHECKING

from twinsmith.core.operating.instance import SOCKET, HostName
from twinsmith.settings import Settings
from twinsmith.wiring.delivering import sockets_of
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.core.operating.expiry import Place
    from twinsmith.core.operating.watch import Watch
    from twinsmith.core.operating.windows import WindowHours
    from twinsmith.flow.operate.look import Post
    from twinsmith.ports import Almanac, Gauge, Incidents, Meter, Readings


def gauge_of(settings: Settings, host: HostName) -> "Gauge":
    """The gauge for the instances of one kind of host."""
    if host == "local":
        from twinsmith.adapters.hosting.local_gauge import LocalGauge

        return LocalGauge(settings.home / "apps" / "instances")
    from twinsmith.adapters.hosting.engine_client import EngineClient
    from twinsmith.adapters.hosting.engine_gauge import EngineGauge

    given = settings.values.hosting
    address = given.docker if host == "docker" else given.podman
    client = EngineClient(host, sockets_of(settings) / "engine", address=address)
    return EngineGauge(client, home=str(settings.home))


def meter_of(settings: Settings) -> "Meter":
    """The meter of the requests that go through the proxy, whichever it is."""
    from twinsmith.adapters.proxy.access_meter import AccessMeter

    return AccessMeter(sockets_of(settings) / "proxy")


def readings_of(settings: Settings) -> "Readings":
    """The readings of the database that all share."""
    from twinsmith.adapters.watching.tables import ReadingTable

    return ReadingTable(shared_url(settings))


def incidents_of(settings: Settings) -> "Incidents":
    """The incidents of the database that all share."""
    from twinsmith.adapters.deliveries.incidents import IncidentTable

    return IncidentTable(shared_url(settings))


def watch_of(settings: Settings) -> "Watch":
    """The thresholds of detectors; data may grow by what is free on its disk now."""
    import shutil

    from twinsmith.core.operating.watch import Watch

    return Watch(disk_limit=shutil.disk_usage(settings.home).free)


def post_of(settings: Settings) -> "Post":
    """Everything that apps are looked at through."""
    from twinsmith.adapters.deliveries.visitor import SocketVisitor
    from twinsmith.flow.operate.look import Post

    folder = sockets_of(settings)

    def address(host: HostName, name: str) -> str:
        return str(folder / ("i" if host == "local" else "c") / name / SOCKET)

    return Post(
        gauge=cache(partial(gauge_of, settings)),
        meter=meter_of(settings),
        visitor=SocketVisitor(),
        address=address,
    )


def windows_of(settings: Settings) -> "tuple[WindowHours, ...]":
    """The hours of maintenance."""
    from twinsmith.core.operating.windows import window_in

    return tuple(map(window_in, settings.values.monitor.windows))


def almanac_of(settings: Settings) -> "Almanac":
    """Knows until when certificates and what apps run on hold."""
    from twinsmith.adapters.watching.almanac import FoundAlmanac

    image = settings.values.hosting.base
    return FoundAlmanac(image=image) if image else FoundAlmanac()


def certificates_of(settings: Settings) -> "tuple[Place, ...]":
    """Where certificates are that somebody named."""
    from twinsmith.core.operating.expiry import place_in

    return tuple(map(place_in, settings.values.monitor.certificates))
