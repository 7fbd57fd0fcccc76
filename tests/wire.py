"""A real HTTP server on the loopback that speaks as OpenAI, Gemini and Anthropic do, from a script.

    with WireServer() as server:
        server.script(Turn(text="hello"), Turn(status=429, headers={"retry-after": "2"}))

Each model call takes the next turn, or `server.default` once the script is used up. Listing models
(`GET /v1/models`, `GET /api/tags`) takes none. Standard library only.
"""

import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import responses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Final, Literal, Self

Wire = Literal["openai", "gemini", "anthropic", "other"]
Object = dict[str, object]

# Status: OpenAI's type and code, Gemini's status, Anthropic's type.
FAILURES: Final = {
    400: ("invalid_request_error", None, "INVALID_ARGUMENT", "invalid_request_error"),
    401: ("invalid_request_error", "invalid_api_key", "UNAUTHENTICATED", "authentication_error"),
    403: ("invalid_request_error", None, "PERMISSION_DENIED", "permission_error"),
    404: ("invalid_request_error", "model_not_found", "NOT_FOUND", "not_found_error"),
    429: ("requests", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "rate_limit_error"),
    500: ("server_error", None, "INTERNAL", "api_error"),
    503: ("server_error", None, "UNAVAILABLE", "api_error"),
    529: ("server_error", None, "UNAVAILABLE", "overloaded_error"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the server answers to one call; `status` other than 200 answers with the wire's error.

    `delay` passes before the first byte. `cut_after` closes the connection after that many
    characters of a streamed text; a plain reply then loses its second half. `body` is sent as it
    is. In `headers` an empty value leaves out a header, as {"retry-after": ""} on a 429.
    """

    text: str = "ok"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut_after: int | None = None
    body: str | None = None
    tokens_in: int = 7
    tokens_out: int = 5
    full: bool = False
    """Whether the answer ends because it may be no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it arrived; header names are in lower case, `path` keeps its query."""

    path: str
    headers: Mapping[str, str]
    body: Object
    wire: Wire

    @property
    def model(self) -> str:
        """The model that was asked for."""
        if self.wire == "gemini":
            return self.path.rpartition("/")[2].partition(":")[0]
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        """Whether the reply is to be a stream of events."""
        return self.body.get("stream") is True or ":streamGenerateContent" in self.path


def wire_of(method: str, path: str) -> Wire:
    """The provider whose model call this is; everything else is "other"."""
    bare = path.partition("?")[0]
    if method == "POST" and bare == "/v1/chat/completions":
        return "openai"
    if method == "POST" and bare == "/v1/messages":
        return "anthropic"
    # The client of today calls /v1, older ones /v1beta.
    if method == "POST" and bare.lower().endswith("generatecontent"):
        return "gemini"
    return "other"


def listing(path: str, models: Iterable[str]) -> Object | None:
    """The models as OpenAI (`/v1/models`) or Ollama (`/api/tags`) lists them."""
    ids = [{"id": name, "object": "model", "owned_by": "wire"} for name in models]
    tags: Object = {"models": [{"name": name, "model": name} for name in models]}
    known: dict[str, Object] = {"/v1/models": {"object": "list", "data": ids}, "/api/tags": tags}
    return known.get(path)


def error(wire: Wire, status: int) -> Object:
    """The body of a failure, in the provider's own format."""
    kind, code, google, anthropic = FAILURES.get(status) or FAILURES[400 if status < 500 else 500]
    message = f"scripted failure {status}"
    match wire:
        case "openai" | "other":
            return {"error": {"message": message, "type": kind, "param": None, "code": code}}
        case "gemini":
            return {"error": {"code": status, "message": message, "status": google}}
        case "anthropic":
            detail = {"type": anthropic, "message": message}
            return {"type": "error", "error": detail, "request_id": "req_wire"}


def reply(call: Received, turn: Turn) -> Object:
    """The body of a plain reply."""
    match call.wire:
        case "openai":
            message = {"role": "assistant", "content": turn.text, "refusal": None}
            choice = {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": _ended(call, turn),
            }
            return _openai("chat.completion", call, [choice]) | {"usage": _openai_usage(turn)}
        case "gemini":
            return _gemini(call, turn, turn.text, last=True)
        case "anthropic":
            usage = {"input_tokens": turn.tokens_in, "output_tokens": turn.tokens_out}
            content: list[object] = [{"type": "text", "text": turn.text}]
            return _anthropic(call, content, usage) | {"stop_reason": _ended(call, turn)}
        case "other":
            raise ValueError(f"{call.path} is no model call")


def _ended(call: Received, turn: Turn) -> str:
    """Why an answer ends, in the provider's words."""
    ends = {
        "openai": ("stop", "length"),
        "gemini": ("STOP", "MAX_TOKENS"),
        "anthropic": ("end_turn", "max_tokens"),
    }
    return ends[call.wire][turn.full]


def _pieces(turn: Turn) -> list[str]:
    text = turn.text[: turn.cut_after]
    return [text[at : at + 16] for at in range(0, len(text), 16)]


def _openai(kind: str, call: Received, choices: list[Object]) -> Object:
    head = {"id": "chatcmpl-wire", "object": kind, "created": 1700000000, "model": call.model}
    return {**head, "choices": choices, "system_fingerprint": "fp_wire"}


def _openai_usage(turn: Turn) -> Object:
    counts = {"prompt_tokens": turn.tokens_in, "completion_tokens": turn.tokens_out}
    return {**counts, "total_tokens": turn.tokens_in + turn.tokens_out}


def _openai_events(call: Received, turn: Turn) -> Iterator[bytes]:
    options = call.body.get("stream_options")
    wants_usage = isinstance(options, dict) and options.get("include_usage") is True

    def event(delta: Object, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event(_openai("chat.completion.chunk", call, [choice]))

    yield event({"role": "assistant", "content": ""})
    for piece in _pieces(turn):
        yield event({"content": piece})
    if turn.cut_after is not None:
        return
    yield event({}, _ended(call, turn))
    if wants_usage:
        yield _event(_openai("chat.completion.chunk", call, []) | {"usage": _openai_usage(turn)})
    yield b"data: [DONE]\n\n"


def _gemini(call: Received, turn: Turn, text: str, *, last: bool) -> Object:
    content = {"parts": [{"text": text}], "role": "model"}
    candidate: Object = {"content": content, "index": 0}
    usage = {"promptTokenCount": turn.tokens_in, "totalTokenCount": turn.tokens_in}
    if last:
        candidate["finishReason"] = _ended(call, turn)
        usage["candidatesTokenCount"] = turn.tokens_out
        usage["totalTokenCount"] += turn.tokens_out
    head = {"candidates": [candidate], "usageMetadata": usage}
    return {**head, "modelVersion": call.model, "responseId": "wire"}


def _gemini_events(call: Received, turn: Turn) -> Iterator[bytes]:
    pieces = _pieces(turn) or [""]
    for at, piece in enumerate(pieces, start=1):
        last = at == len(pieces) and turn.cut_after is None
        yield _event(_gemini(call, turn, piece, last=last))


def _anthropic(call: Received, content: list[object], usage: Object | dict[str, int]) -> Object:
    head = {"id": "msg_wire", "type": "message", "role": "assistant", "model": call.model}
    return {**head, "content": content, "stop_reason": None, "stop_sequence": None, "usage": usage}


def _anthropic_events(call: Received, turn: Turn) -> Iterator[bytes]:
    def event(kind: str, **fields: object) -> bytes:
        return f"event: {kind}\n".encode() + _event({"type": kind, **fields})

    usage = {"input_tokens": turn.tokens_in, "output_tokens": 1}
    yield event("message_start", message=_anthropic(call, [], usage))
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in _pieces(turn):
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    if turn.cut_after is not None:
        return
    yield event("content_block_stop", index=0)
    stop = {"stop_reason": _ended(call, turn), "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": turn.tokens_out})
    yield event("message_stop")


def _event(data: Object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


# The events of a streamed reply; after a cut the closing ones never come.
EVENTS: Final = {"openai": _openai_events, "gemini": _gemini_events, "anthropic": _anthropic_events}


def _head(turn: Turn, headers: dict[str, str]) -> bytes:
    merged = headers | {name.lower(): value for name, value in turn.headers.items()}
    lines = [f"HTTP/1.1 {turn.status} {responses.get(turn.status, 'Error')}"]
    lines += [f"{name}: {value}" for name, value in merged.items() if value]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


class _Listener(ThreadingHTTPServer):
    """Accepts connections, one daemon thread each, and can end all of them at once."""

    request_queue_size = 128

    def __init__(self, owner: "WireServer") -> None:
        self.owner = owner
        self.lock = threading.Lock()
        self.live: dict[socket.socket, threading.Thread] = {}
        self.faults: list[BaseException] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # the inherited one also asks the resolver for a host name
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def process_request(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket)
        run = super().process_request_thread
        thread = threading.Thread(target=run, args=(request, client_address), daemon=True)
        with self.lock:
            self.live[request] = thread
        thread.start()

    def shutdown_request(self, request: object) -> None:
        assert isinstance(request, socket.socket)
        super().shutdown_request(request)
        with self.lock:
            self.live.pop(request, None)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        fault = sys.exception()
        if fault is not None and not isinstance(fault, OSError):  # a client may leave at any time
            self.faults.append(fault)

    def end(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the accepting thread
        self.shutdown()
        with self.lock:
            live = dict(self.live)
        for connection in live:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in live.values():
            thread.join(timeout=5)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection: reads a request, asks the owner for its turn, writes the answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        call, missing = self._receive()
        made = listing(call.path, self.server.owner.models)
        turn = missing if made is None else Turn()
        self._plain(call, turn, made or error(call.wire, turn.status))

    def do_POST(self) -> None:
        call, turn = self._receive()
        if turn.delay and self.server.owner.stopping.wait(turn.delay):
            self.close_connection = True
        elif turn.status != 200:
            self._plain(call, turn, error(call.wire, turn.status))
        elif call.streams and turn.body is None:
            self._stream(call, turn)
        else:
            self._plain(call, turn, reply(call, turn))

    def _receive(self) -> tuple[Received, Turn]:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        body = json.loads(raw) if raw else {}
        call = Received(
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body if isinstance(body, dict) else {},
            wire=wire_of(self.command, self.path),
        )
        return call, self.server.owner.take(call)

    def _plain(self, call: Received, turn: Turn, made: Object) -> None:
        data = (json.dumps(made) if turn.body is None else turn.body).encode()
        events = call.streams and turn.status == 200
        headers = {"content-type": "text/event-stream" if events else "application/json"}
        headers["content-length"] = str(len(data))
        if turn.status == 429:
            headers["retry-after"] = "1"
        if turn.cut_after is not None:
            data, self.close_connection = data[: len(data) // 2], True
        self.wfile.write(_head(turn, headers) + data)

    def _stream(self, call: Received, turn: Turn) -> None:
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self.wfile.write(_head(turn, headers))
        for part in EVENTS[call.wire](call, turn):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        if turn.cut_after is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True


class WireServer:
    """The server, its script, and what it received; safe to use from any thread."""

    def __init__(self, *, models: tuple[str, ...] = ("wire-model",)) -> None:
        self.models = models
        self.default = Turn()
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._turns: deque[Turn] = deque()
        self._requests: list[Received] = []
        self._listener = _Listener(self)
        self.url = f"http://127.0.0.1:{self._listener.server_port}"
        self._thread = threading.Thread(target=self._listener.serve_forever, daemon=True)
        self._thread.start()

    @property
    def requests(self) -> list[Received]:
        """What arrived so far, oldest first."""
        with self._lock:
            return list(self._requests)

    def script(self, *turns: Turn) -> None:
        """Queue turns for the next model calls."""
        with self._lock:
            self._turns.extend(turns)

    def take(self, call: Received) -> Turn:
        """Record a request and, for a model call, hand out its turn."""
        with self._lock:
            self._requests.append(call)
            if call.wire == "other":
                return Turn(status=404)
            return self._turns.popleft() if self._turns else self.default

    def stop(self) -> None:
        """Close every connection now; raises what went wrong inside the server itself."""
        if self.stopping.is_set():
            return
        self.stopping.set()
        self._listener.end()
        self._thread.join()
        if self._listener.faults:
            raise self._listener.faults[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
