"""Until when certificates hold, read from files or asked of servers, and what a host runs on."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

from twinsmith.core.errors import HostError
from twinsmith.core.operating.containerfile import BASE
from twinsmith.core.operating.expiry import Dated, Place, distribution
from twinsmith.core.operating.instance import HostName

SECONDS = 10.0
RELEASE = Path("/etc/os-release")
LARGEST = 1 << 20
_BASES = {BASE: "ID=debian\nVERSION_ID=12\n"}


class FoundAlmanac:
    """Reads what this machine has, and asks what answers; `image` is the base of containers."""

    def __init__(self, *, image: str = BASE, release: Path = RELEASE) -> None:
        self._image = image
        self._release = release

    async def certificate(self, place: Place) -> Dated:
        """The certificate in a file, the first of several, or the one that a server shows."""
        if place.where.startswith("/"):
            return await asyncio.to_thread(_read, place, lambda: _of_file(Path(place.where)))
        return await asyncio.to_thread(_read, place, lambda: _of_server(place.where))

    def base(self, host: HostName) -> Dated | None:
        """This machine's distribution, or that of the image that containers are made from."""
        if host != "local":
            return distribution(_BASES.get(self._image, ""))
        try:
            return distribution(self._release.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return None


def _read(place: Place, pem: Callable[[], bytes]) -> Dated:
    # Some 40 ms, which nobody has to wait for who names no certificate.
    from cryptography.x509 import load_pem_x509_certificate

    try:
        until = load_pem_x509_certificate(pem()).not_valid_after_utc
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise HostError(
            f"the certificate of {place.where} cannot be read: {why}; see monitor.certificates"
        ) from None
    return Dated(name=place.where, until=until.timestamp(), app=place.app)


def _of_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST)


def _of_server(where: str) -> bytes:
    host, _, port = where.rpartition(":")
    # Whether it is trusted is not the question here: one that is over is not, and is the answer.
    return ssl.get_server_certificate((host, int(port)), timeout=SECONDS).encode()
