"""What one Caddy says at its control socket."""

from pathlib import Path

from twinsmith.adapters.proxy.caddy_config import HOST
from twinsmith.adapters.proxy.routes_json import Json
from twinsmith.core.errors import HostError

ANSWER_SECONDS = 10.0


async def running_config(control: Path) -> Json | None:
    """The configuration by which a Caddy runs; none where it does not run."""
    import httpx2

    # There is no TLS on a socket in a folder; looking for certificates would take the most time.
    transport = httpx2.AsyncHTTPTransport(uds=str(control), verify=False)
    own = httpx2.AsyncClient(transport=transport, timeout=ANSWER_SECONDS, trust_env=False)
    try:
        async with own as client:
            answer = await client.get(f"http://{HOST}/config/")
            found: object = answer.raise_for_status().json()
    except (httpx2.ConnectError, httpx2.RemoteProtocolError, httpx2.ReadError):
        return None
    except (httpx2.HTTPError, ValueError) as error:
        raise HostError(
            f"Caddy does not answer at {control} ({type(error).__name__}); end it, and try again"
        ) from error
    return found if isinstance(found, dict) else None
