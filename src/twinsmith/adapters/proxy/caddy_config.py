"""What one Caddy is told: the port of its app, the slots behind it, limits and logs."""

from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.proxy import limits
from twinsmith.adapters.proxy.access import access_log
from twinsmith.adapters.proxy.detached import DRAIN_SECONDS
from twinsmith.adapters.proxy.links import slot_path
from twinsmith.adapters.proxy.ports import LOOPBACK
from twinsmith.adapters.proxy.routes_json import Json
from twinsmith.adapters.proxy.slots import SLOTS, upstreams
from twinsmith.core.operating.route import Route

HOST = "twinsmith"
"""The host that requests to a control socket name."""
_CONTROL = "ctl-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one Caddy; some have its token in their names.

    One that still finishes its last requests never touches those of its successor. And no program
    can name a control socket, to have its own clients' requests sent there.
    """

    place: Path
    """The folder of its app."""
    token: str

    @property
    def control(self) -> Path:
        """The socket at which it takes orders."""
        return self.place / f"{_CONTROL}{self.token}"

    @property
    def pid(self) -> Path:
        """The number of its process."""
        return self.place / f"pid-{self.token}"

    @property
    def config(self) -> Path:
        """What it is told when it starts."""
        return self.place / f"caddy-{self.token}.json"

    @property
    def said(self) -> Path:
        """What it says before it has read its configuration."""
        return self.place / "start.log"


def known(place: Path) -> tuple[Files, ...]:
    """The files of every Caddy of an app that runs, or did until it was killed."""
    found = sorted(place.glob(f"{_CONTROL}*"))
    return tuple(Files(place=place, token=path.name.removeprefix(_CONTROL)) for path in found)


def command(program: str, files: Files) -> list[str]:
    """The command line of one Caddy."""
    return [program, "run", "--config", str(files.config), "--pidfile", str(files.pid)]


def config(files: Files, port: int) -> Json:
    """The whole configuration of the Caddy of an app."""
    place = files.place
    return {
        "admin": {
            "listen": f"unix/{files.control}",
            "origins": [HOST],
            "config": {"persist": False},
        },
        "logging": {
            "logs": {
                "default": {
                    "level": "WARN",
                    "writer": _rolled(place / "caddy.log"),
                    "encoder": _encoder(),
                    "exclude": ["http.log.access"],
                },
                "access": {
                    "writer": _rolled(access_log(place.parent, place.name)),
                    "encoder": _encoder(),
                    "include": ["http.log.access"],
                },
            }
        },
        "apps": {
            "http": {
                "grace_period": f"{DRAIN_SECONDS}s",
                "servers": {place.name: _server(place, port)},
            }
        },
    }


def route_of(servers: object, app: str, addresses: tuple[str, ...]) -> Route | None:
    """The route that a Caddy with these servers and slots serves; none where it serves none."""
    server = servers.get(app) if isinstance(servers, dict) else None
    listens = server.get("listen") if isinstance(server, dict) else None
    if not isinstance(listens, list) or len(addresses) != SLOTS:
        return None
    port = str(listens[0]).rpartition(":")[2]
    return Route(app=app, port=int(port), upstreams=upstreams(addresses))


def _server(place: Path, port: int) -> Json:
    return {
        "listen": [f"{LOOPBACK}:{port}"],
        "protocols": ["h1"],
        "automatic_https": {"disable": True},
        "read_header_timeout": f"{limits.HEADER_SECONDS}s",
        "read_timeout": f"{limits.BODY_SECONDS}s",
        "idle_timeout": f"{limits.IDLE_SECONDS}s",
        "max_header_bytes": limits.HEADER_BYTES,
        "logs": {},
        "routes": [{"handle": [*_before(), _to_the_slots(place)]}],
    }


def _before() -> list[Json]:
    """What happens to a request before it is sent on."""
    return [
        {"handler": "headers", "response": {"delete": ["Server"]}},
        {"handler": "request_body", "max_size": limits.BODY_BYTES},
        # The one field of the log that a configuration can fill; it is renamed there.
        {
            "handler": "map",
            "source": "{http.reverse_proxy.upstream.hostport}",
            "destinations": ["{http.auth.user.id}"],
            "mappings": [{"input_regexp": "([0-9])/([0-9])$", "outputs": ["${1}${2}"]}],
        },
    ]


def _to_the_slots(place: Path) -> Json:
    return {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": f"unix/{slot_path(place, slot)}"} for slot in range(SLOTS)],
        "load_balancing": {
            # By turns, a client that asks A, B, A, B would have all its A's from one of two.
            "selection_policy": {"policy": "random"},
            "try_duration": f"{limits.TRY_SECONDS:.0f}s",
            "try_interval": f"{limits.TRY_AGAIN_SECONDS * 1000:.0f}ms",
            # What may have reached a service is never sent twice.
            "retry_match": [{"method": []}],
        },
        "transport": {
            "protocol": "http",
            # A connection that is kept would go on to lead where the slot led before.
            "keep_alive": {"enabled": False},
            "compression": False,
            "response_header_timeout": f"{limits.ANSWER_SECONDS}s",
            "max_response_header_size": limits.HEADER_BYTES,
        },
        "headers": {"response": {"delete": ["Server"]}},
        # Answers are streamed. And what a slow client leaves unfinished is an error: by default
        # Caddy takes it for gone, and tells it "200 OK".
        "flush_interval": -1,
    }


def _rolled(path: Path) -> Json:
    return {
        "output": "file",
        "filename": str(path),
        "roll_size_mb": limits.LOG_MB,
        "roll_keep": limits.LOGS_KEPT,
        "roll_gzip": False,
    }


def _encoder() -> Json:
    """Lines of JSON without what may be secret or long: headers, and what follows the path."""
    path = f"(?s)^([^?]{{0,{limits.LOGGED_CHARACTERS}}}).*$"
    gone = ("request>headers", "request>host", "request>tls", "resp_headers")
    return {
        "format": "filter",
        "wrap": {"format": "json"},
        "fields": {
            **{field: {"filter": "delete"} for field in gone},
            "request>uri": {"filter": "regexp", "regexp": path, "value": "${1}"},
            "user_id": {"filter": "rename", "name": "slot"},
        },
    }
