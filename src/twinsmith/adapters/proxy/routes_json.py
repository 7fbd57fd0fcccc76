"""Routes as JSON and back: in the file that keeps them, and to the small proxy."""

from collections.abc import Iterable

from twinsmith.core.operating.route import Route, Upstream

Json = dict[str, object]


def to_json(routes: Iterable[Route]) -> list[Json]:
    """The routes as JSON values, by the names of their apps."""
    return [_route(route) for route in sorted(routes, key=lambda route: route.app)]


def from_json(raw: object) -> tuple[Route, ...]:
    """The routes that JSON values stand for; ValueError where they stand for none."""
    if not isinstance(raw, list):
        raise ValueError("no list of routes")  # noqa: TRY004 - one kind of error for all of it
    try:
        return tuple(
            Route(
                app=str(entry["app"]),
                port=int(entry["port"]),
                upstreams=tuple(
                    Upstream(address=str(each["address"]), share=int(each["share"]))
                    for each in entry["upstreams"]
                ),
            )
            for entry in raw
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no route") from error


def _route(route: Route) -> Json:
    shared = [{"address": each.address, "share": each.share} for each in route.upstreams]
    return {"app": route.app, "port": route.port, "upstreams": shared}
