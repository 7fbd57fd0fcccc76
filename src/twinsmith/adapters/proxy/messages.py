"""What a relay changes in requests and answers: headers that are for one connection only."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

Headers = list[tuple[bytes, bytes]]
HOP_BY_HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer"),
        *(b"transfer-encoding", b"upgrade", b"proxy-authenticate", b"proxy-authorization"),
    }
)
_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"})


def request_headers(headers: Iterable[tuple[bytes, bytes]], client: str) -> Headers:
    """The headers of a request as its service gets them; who asked is told by us alone."""
    given = list(headers)
    sent = _through(given, _FORWARDED | {b"expect"})
    if _chunked(given):
        sent.append((b"transfer-encoding", b"chunked"))
    host = next((value for name, value in given if name == b"host"), b"")
    return [
        *sent,
        (b"x-forwarded-for", client.encode()),
        (b"x-forwarded-proto", b"http"),
        (b"x-forwarded-host", host),
        (b"connection", b"close"),
    ]


def answer_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of an answer as the client gets them; what serves is nobody's business."""
    return _through(list(headers), frozenset({b"server"}))


def target(given: bytes) -> bytes:
    """The path that is asked of a service, where a client gave it a whole address."""
    if given.startswith(b"/") or given == b"*":
        return given
    parts = urlsplit(given)
    return (parts.path or b"/") + (b"?" + parts.query if parts.query else b"")


def announced(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The length of a body by its header; 0 where there is none."""
    return next((int(value) for name, value in headers if name == b"content-length"), 0)


def _through(headers: Sequence[tuple[bytes, bytes]], gone: frozenset[bytes]) -> Headers:
    named = {
        word.strip().lower()
        for name, value in headers
        if name == b"connection"
        for word in value.split(b",")
    }
    # With both, the length is not the one that counts, and two readers may differ about it.
    length = {b"content-length"} if _chunked(headers) else set()
    without = HOP_BY_HOP | named | gone | length
    return [(name, value) for name, value in headers if name not in without]


def _chunked(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"transfer-encoding" for name, _ in headers)
