"""The address of a server as a person gave it: none over which a key could be read on the way."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from twinsmith.core.errors import ConfigError


def checked_address(text: str, *, plain: bool = False) -> str:
    """The address without its last slash; ConfigError where a key is not safe on the way to it."""
    parts = _parts(text)
    if parts is None:
        raise ConfigError("a server is given as https://NAME, or http://127.0.0.1:PORT; mend it")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("a server's address holds no name or password; give a key instead")
    if parts.query or parts.fragment:
        raise ConfigError("a server's address ends with its path; leave out what follows ? or #")
    address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "http" and not (plain or is_loopback(parts.hostname or "")):
        raise ConfigError(
            f"{address} is plain HTTP to another machine: the key could be read on the way; use "
            "https:// (a program that knows the net to be safe says plain=True)"
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _parts(text: str) -> SplitResult | None:
    """The parts of an address; None where it is none."""
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable and text.isprintable() and " " not in text.strip() else None
