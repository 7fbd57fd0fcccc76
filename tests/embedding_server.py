"""A server on a loopback port that embeds as OpenAI and as Gemini do; faults are injected."""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

KEY = "planted/key+that looks like nothing known"
DIMENSIONS = 16


def vector(text: str) -> list[float]:
    """Some numbers that depend on the text alone, and whose length is not one."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    return [float(x) for x in np.random.default_rng(seed).normal(size=DIMENSIONS) * 3]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the server answers instead of vectors."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    cut: bool = False
    delay: float = 0.0


class EmbeddingServer(ThreadingHTTPServer):
    """Speaks as OpenAI and as Gemini do; faults come first, in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults: deque[Fault] = deque()
        self.requests: list[tuple[str, dict[str, str], dict[str, object]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, body))
        fault = self.server.faults.popleft() if self.server.faults else self._answer(body)
        data = fault.body.encode()
        if fault.delay:
            threading.Event().wait(fault.delay)
        self.send_response(fault.status)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data) + fault.cut))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self, body: dict[str, object]) -> Fault:
        if self.path == "/v1/embeddings":
            assert self.headers["authorization"] == f"Bearer {KEY}"
            texts = body["input"]
            assert isinstance(texts, list)
            # As vLLM and others may: not in the order of the texts.
            found = [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
            answer: dict[str, object] = {"object": "list", "data": found[::-1]}
        elif self.path == "/v1beta/models/wire-model:batchEmbedContents":
            assert self.headers["x-goog-api-key"] == KEY
            requests = body["requests"]
            assert isinstance(requests, list)
            assert {one["model"] for one in requests} == {"models/wire-model"}
            assert {one["outputDimensionality"] for one in requests} == {DIMENSIONS}
            texts = [one["content"]["parts"][0]["text"] for one in requests]
            answer = {"embeddings": [{"values": vector(text)} for text in texts]}
        else:
            return Fault(status=404, body="no such address")
        if not all(text.strip() and len(text.encode()) <= 8191 for text in texts):
            return Fault(status=400, body="a text is blank or has more than 8191 tokens")
        return Fault(body=json.dumps(answer))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    """Serve for as long as the block lasts."""
    with EmbeddingServer() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()
