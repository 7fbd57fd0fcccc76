"""The `Examiner` port: checks of a service that runs elsewhere, made in a room of their own.

In the room a relay stands where the service would: it passes bytes on to the service's socket,
which is all that the room sees of the world. So checks, which models wrote, run as they always do.
"""

from pathlib import Path
from string import Template

from twinsmith.adapters.sandbox.cell import Mount
from twinsmith.adapters.sandbox.languages.python import PYTHON
from twinsmith.adapters.sandbox.runner import IsolatedSandbox, found
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program

UPSTREAM = "/run/upstream"
_RELAY = Template("""import os, socket, threading

def passed(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for side, way in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            side.shutdown(way)
        except OSError:
            pass

def relayed(client):
    with client, socket.socket(socket.AF_UNIX) as service:
        try:
            service.connect($place)
        except OSError:
            return
        back = threading.Thread(target=passed, args=(service, client))
        back.start()
        passed(client, service)
        back.join()

listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=64)
while True:
    client, _ = listening.accept()
    threading.Thread(target=relayed, args=(client,), daemon=True).start()
""")


class SandboxExaminer:
    """Runs checks in the sandbox, within the limits that checks of services have."""

    def __init__(self, sandbox: IsolatedSandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._limits = limits

    async def examine(self, address: str, probes: Probes) -> Execution:
        """Run every check on the service at a socket."""
        place = Path(address)
        source = _RELAY.substitute(place=repr(f"{UPSTREAM}/{place.name}"))
        relay = Program(source=source, kind="service")
        toolchain = found(PYTHON)
        mount = Mount(source=str(place.parent), target=UPSTREAM, sockets=True)
        recipe = PYTHON.recipe(relay, toolchain)
        return await self._sandbox.follow(
            recipe, relay, toolchain, probes, self._limits, beside=(mount,)
        )
