"""Until when certificates hold: of files, of a real server on the loopback, known beforehand."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from socket import create_server

import pytest

from tests.certificates import certificate
from twinsmith.adapters.watching.almanac import FoundAlmanac
from twinsmith.adapters.watching.memory import FixedAlmanac
from twinsmith.core.errors import HostError
from twinsmith.core.operating.expiry import Dated, Place
from twinsmith.ports import Almanac

# Over already: whoever looks at a certificate has to see that as well.
ENDS = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls") / "shop.pem", ENDS)


@contextmanager
def shown(pem: Path) -> Iterator[str]:
    """A server that shows the certificate to one who asks; its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)

        def serve() -> None:
            line, _ = server.accept()
            with context.wrap_socket(line, server_side=True):
                pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("real", [True, False])
async def test_an_almanac_tells_until_when_a_certificate_holds(pem: Path, *, real: bool) -> None:
    where = Place(where=str(pem), app="shop")
    dated = Dated(name=str(pem), until=ENDS.timestamp(), app="shop")
    almanac: Almanac = FoundAlmanac() if real else FixedAlmanac({str(pem): dated})
    assert await almanac.certificate(where) == dated
    with pytest.raises(HostError, match=r"certificate of /nowhere\.pem cannot be read"):
        await almanac.certificate(Place(where="/nowhere.pem"))


async def test_a_server_is_asked_for_what_it_shows(pem: Path) -> None:
    with shown(pem) as address:
        told = await FoundAlmanac().certificate(Place(where=address))
    assert told == Dated(name=address, until=ENDS.timestamp())
    with pytest.raises(HostError, match=r"monitor\.certificates"):
        await FoundAlmanac().certificate(Place(where=address))


async def test_what_is_no_certificate_is_said(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("nothing of the kind")
    with pytest.raises(HostError, match=r"key\.pem cannot be read"):
        await FoundAlmanac().certificate(Place(where=str(tmp_path / "key.pem")))


def test_what_a_host_runs_on_is_known(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="13"\n')
    almanac: Almanac = FoundAlmanac(release=release)
    here, there = almanac.base("local"), almanac.base("docker")
    assert here is not None
    assert there is not None
    assert (here.name, there.name) == ("debian 13", "debian 12")
    assert datetime.fromtimestamp(there.until, UTC).isoformat() == "2028-07-01T00:00:00+00:00"
    assert FoundAlmanac(image="own/base:1", release=tmp_path / "none").base("docker") is None
    assert FoundAlmanac(release=tmp_path / "none").base("local") is None
    assert FixedAlmanac(bases={"local": here}).base("local") == here
