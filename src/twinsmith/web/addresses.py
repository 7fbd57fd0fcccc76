"""Where a request comes from, and for which names it may be."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request

from twinsmith.core.errors import ConfigError
from twinsmith.settings import Settings

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY = ("0.0.0.0", "::", "")  # noqa: S104


def address_of(request: Request, settings: Settings) -> str:
    """The address of whoever asks; what proxies tell counts only where they are trusted."""
    trusted = settings.values.server.proxies
    address = request.client.host if request.client else "unknown"
    told = [each.strip() for each in request.headers.get("x-forwarded-for", "").split(",")]
    for each in reversed([name for name in told if name]):
        if address not in trusted:
            break
        address = each[:64]
    return address


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def checked_address(settings: Settings) -> None:
    """Refuse to listen where others could read what is said; ConfigError says what would do."""
    given = settings.values.server
    if bool(given.certificate) != bool(given.certificate_key):
        raise ConfigError(
            "server.certificate and server.certificate_key belong together; give both files"
        )
    behind = given.public.startswith("https://") and bool(given.proxies)
    if not (is_loopback(given.host) or given.certificate or behind or given.plain):
        raise ConfigError(
            f"server.host = {given.host!r} is not the loopback, and there is no TLS; give "
            "server.certificate and server.certificate_key, or a server.public of https:// with "
            "server.proxies, or set server.plain = true where the net is safe"
        )


def names_of(settings: Settings) -> frozenset[str]:
    """The names that a request's Host may have; empty: any."""
    given = settings.values.server
    public = urlsplit(given.public).hostname or ""
    if given.host in ANY and not public:
        return frozenset()
    shown = f"[{given.host}]" if ":" in given.host else given.host
    return frozenset({*LOOPBACK_NAMES, shown, public} - {""})


def public_address(settings: Settings, port: int = 0) -> str:
    """The address by which people reach the server."""
    given = settings.values.server
    if given.public:
        return given.public.rstrip("/")
    scheme = "https" if given.certificate else "http"
    host = "127.0.0.1" if given.host in ANY else given.host
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port or given.port}"
