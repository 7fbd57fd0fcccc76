"""A server as a program sees it: its things by what they are, typed, with nothing to set up."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from httpx2 import BaseTransport

from twinsmith.client.analysis import Analyses
from twinsmith.client.apps import Apps
from twinsmith.client.experiments import Experiments
from twinsmith.client.journal import Journal
from twinsmith.client.known import Known
from twinsmith.client.people import People
from twinsmith.client.runs import Runs
from twinsmith.client.shapes import Alive, Me, Ready
from twinsmith.client.users import Keys, Users
from twinsmith.client.versions import Versions
from twinsmith.client.wire import Wire


class Client:
    """A client of one server, for one key; used with `with`, or closed.

    Whatever goes wrong is an error of `core/errors`, with the words of the server. A deed is done
    once, however often it has to be sent. Certificates are verified; plain HTTP to another machine
    is refused, unless `plain` says that the net is safe.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        plain: bool = False,
        transport: BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._wire = Wire(url, key, plain=plain, transport=transport, sleep=sleep)
        self.runs = Runs(self._wire)
        self.people = People(self._wire)
        self.apps = Apps(self._wire)
        self.known = Known(self._wire)
        self.analysis = Analyses(self._wire)
        self.experiments = Experiments(self._wire)
        self.versions = Versions(self._wire)
        self.journal = Journal(self._wire)
        self.users = Users(self._wire)
        self.keys = Keys(self._wire)

    def __repr__(self) -> str:
        """The client by its server; never its key."""
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all connections."""
        self.close()

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._wire.url

    def close(self) -> None:
        """End all connections."""
        self._wire.close()

    def me(self) -> Me:
        """Whose key this is, and what they may do."""
        return self._wire.get("me", Me)

    def health(self) -> Alive:
        """A server that answers; no key is needed."""
        return self._wire.get("health", Alive)

    def ready(self) -> Ready:
        """Whether everything that a run needs is there, and what is not."""
        return self._wire.standing("ready", Ready)

    def metrics(self) -> str:
        """Figures of the server, as Prometheus reads them."""
        return self._wire.content("metrics").decode()
