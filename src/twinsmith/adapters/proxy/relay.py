"""One client's connection: each of its requests is sent on to a service, and its answer back."""

import asyncio
import os
import random
import socket
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import h11

from twinsmith.adapters.proxy import limits
from twinsmith.adapters.proxy.access import Access, AccessLog
from twinsmith.adapters.proxy.messages import announced, answer_headers, request_headers, target

_PIECE = 64 * 1024


class Refused(Exception):
    """A request that is answered by the proxy itself."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Broken(Exception):
    """A service that stopped in the middle of its answer: the client has to notice."""


class Door:
    """What is behind the port of an app now: its slots, its log, and clients that wait there."""

    def __init__(self, slots: tuple[str, ...], log: AccessLog) -> None:
        self.slots = slots
        self.log = log
        self.idle: set[asyncio.StreamWriter] = set()
        self.busy = 0
        self.closed = False

    def close(self) -> None:
        """Take no more requests of clients that are connected already."""
        self.closed = True
        for writer in self.idle:
            writer.close()
        self._let_go()

    def done(self, access: Access) -> None:
        """Tell of a request that is not in flight any more."""
        self.busy -= 1
        self.log.write(access)
        self._let_go()

    def _let_go(self) -> None:
        if self.closed and not self.busy:
            self.log.close()


class Side:
    """One end of a relay: a stream, and what HTTP makes of it."""

    def __init__(
        self,
        role: type[h11.CLIENT] | type[h11.SERVER],
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.http = h11.Connection(role, max_incomplete_event_size=limits.HEADER_BYTES)
        self.reader, self.writer = streams
        self.peer: tuple[str, int] = (self.writer.get_extra_info("peername") or ("", 0))[:2]

    async def event(self) -> object:
        """The next thing that the other end says, as h11 names it."""
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(_PIECE))
        return event

    async def send(self, event: h11.Event) -> None:
        """Say something to the other end, as fast as it reads."""
        data = self.http.send(event)
        if data:
            self.writer.write(data)
            async with asyncio.timeout(limits.BODY_SECONDS):
                await self.writer.drain()


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request, and what is known of its answer so far."""

    request: h11.Request
    began: float
    slot: int | None = None
    status: int = 0
    size: int = 0


async def relay(door: Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a client until it leaves, is too slow, or says what is not HTTP."""
    client = Side(h11.SERVER, (reader, writer))
    try:
        while not door.closed and await _one(door, client):
            client.http.start_next_cycle()
    except (OSError, TimeoutError, h11.ProtocolError):
        pass
    except Broken:
        writer.transport.abort()
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _one(door: Door, client: Side) -> bool:
    """Serve one request; whether another may follow."""
    try:
        request = await _requested(door, client)
    except h11.RemoteProtocolError as error:
        await _refuse(client, error.error_status_hint)
        return False
    if request is None:
        return False
    exchange = Exchange(request=request, began=time.monotonic())
    door.busy += 1
    try:
        await _exchanged(door, client, exchange)
    except Refused as refused:
        exchange.status = refused.status
        await _refuse(client, refused.status)
    finally:
        door.done(_access(client, exchange))
    return client.http.our_state is h11.DONE and client.http.their_state is h11.DONE


async def _requested(door: Door, client: Side) -> h11.Request | None:
    """The next request; none where the client leaves, or this app has been dropped."""
    if not client.http.trailing_data[0]:
        door.idle.add(client.writer)
        try:
            async with asyncio.timeout(limits.IDLE_SECONDS):
                client.http.receive_data(await client.reader.read(_PIECE))
        finally:
            door.idle.discard(client.writer)
    async with asyncio.timeout(limits.HEADER_SECONDS):
        event = await client.event()
    return event if isinstance(event, h11.Request) else None


async def _exchanged(door: Door, client: Side, exchange: Exchange) -> None:
    """Send a request on, and its answer back; Refused where the proxy has to answer itself."""
    request = exchange.request
    if request.method == b"CONNECT":
        raise Refused(405)
    if announced(request.headers) > limits.BODY_BYTES:
        raise Refused(413)
    async with _connected(door, exchange) as service:
        asked = h11.Request(
            method=request.method,
            target=target(request.target),
            headers=request_headers(request.headers, client.peer[0]),
        )
        upload = asyncio.create_task(_upload(client, service, asked))
        try:
            await _answered(client, service, exchange, upload)
        finally:
            upload.cancel()
            with suppress(asyncio.CancelledError, Refused, OSError, h11.ProtocolError):
                await upload


async def _upload(client: Side, service: Side, asked: h11.Request) -> None:
    """Send a request and its body on; Refused where the client is at fault."""
    size = 0
    with suppress(OSError):
        await service.send(asked)
    if client.http.they_are_waiting_for_100_continue:
        await client.send(h11.InformationalResponse(status_code=100, headers=[]))
    try:
        async with asyncio.timeout(limits.BODY_SECONDS):
            while isinstance(event := await client.event(), h11.Data):
                size += len(event.data)
                if size > limits.BODY_BYTES:
                    raise Refused(413)
                # A service may answer without having read all of it.
                with suppress(OSError):
                    await service.send(event)
    except TimeoutError:
        raise Refused(408) from None
    except h11.RemoteProtocolError as error:
        raise Refused(error.error_status_hint) from None
    with suppress(OSError):
        await service.send(h11.EndOfMessage())


async def _answered(
    client: Side, service: Side, exchange: Exchange, upload: "asyncio.Task[None]"
) -> None:
    """Bring the answer of a service back to the client."""
    response = await _response(service, upload)
    headers = answer_headers(response.headers)
    exchange.status = response.status_code
    await client.send(
        h11.Response(status_code=response.status_code, headers=headers, reason=response.reason)
    )
    try:
        while isinstance(event := await service.event(), h11.Data):
            exchange.size += len(event.data)
            await client.send(event)
    except h11.RemoteProtocolError as error:
        raise Broken from error
    await client.send(h11.EndOfMessage())


async def _response(service: Side, upload: "asyncio.Task[None]") -> h11.Response:
    """The head of an answer; what stopped the upload where that came first."""
    head = asyncio.create_task(_head(service))
    try:
        async with asyncio.timeout(limits.ANSWER_SECONDS):
            await asyncio.wait({head, upload}, return_when=asyncio.FIRST_COMPLETED)
            if not head.done():
                await upload
            return await head
    except TimeoutError:
        raise Refused(504) from None
    except (h11.RemoteProtocolError, OSError):
        raise Refused(502) from None
    finally:
        head.cancel()


async def _head(service: Side) -> h11.Response:
    while isinstance(event := await service.event(), h11.InformationalResponse):
        pass
    if not isinstance(event, h11.Response):
        raise Refused(502)
    return event


@asynccontextmanager
async def _connected(door: Door, exchange: Exchange) -> AsyncIterator[Side]:
    """A connection with the service of a slot; with another where that does not come about."""
    until = time.monotonic() + limits.TRY_SECONDS
    while True:
        exchange.slot = random.randrange(len(door.slots))  # noqa: S311 - shares, no secret
        try:
            streams = await _dialled(door.slots[exchange.slot])
            break
        except OSError:
            if time.monotonic() >= until:
                raise Refused(502) from None
        await asyncio.sleep(limits.TRY_AGAIN_SECONDS)
    try:
        yield Side(h11.CLIENT, streams)
    finally:
        streams[1].transport.abort()


async def _dialled(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect with a socket that is one: never with where a link in its place leads."""
    found = os.open(address, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(found).st_mode):
            raise OSError(f"{address} is no socket")
        dialled = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Comes about at once or, where too many wait at the service, not at all.
            dialled.setblocking(False)
            dialled.connect(f"/proc/self/fd/{found}")
        except BaseException:
            dialled.close()
            raise
    finally:
        os.close(found)
    return await asyncio.open_unix_connection(sock=dialled)


async def _refuse(client: Side, status: int) -> None:
    """Answer a request ourselves, where nothing has been answered yet, and end the connection."""
    if client.http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        raise Broken
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await client.send(h11.Response(status_code=status, headers=headers))
    await client.send(h11.EndOfMessage())
    # What the client still sends is read for a moment: closed at once, it would not see the answer.
    with suppress(OSError, TimeoutError):
        client.writer.write_eof()
        async with asyncio.timeout(1):
            while await client.reader.read(_PIECE):
                pass


def _access(client: Side, exchange: Exchange) -> Access:
    request = exchange.request
    return Access(
        at=time.time(),
        client=client.peer,
        method=request.method,
        target=request.target,
        slot=exchange.slot,
        status=exchange.status,
        size=exchange.size,
        seconds=time.monotonic() - exchange.began,
    )
