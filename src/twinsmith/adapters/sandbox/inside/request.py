"""HTTP requests as a check makes them, and the answers of the service."""

from __future__ import annotations

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .transcript import Transcript

LONGEST_BODY = 1 << 20
# What stands for itself in a path that somebody wrote as it is sent.
PRINTABLE = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


class Headers(dict[str, str]):
    """Headers by name, in any case; one that came twice has both values."""

    def __init__(self, items: list[tuple[str, str]]) -> None:
        super().__init__()
        for name, value in items:
            before = f"{self[name]}, " if name in self else ""
            self[name.lower()] = before + value

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a header, or the default."""
        return super().get(name.lower(), default)


class Response:
    """The answer of a service to one request."""

    def __init__(self, status: int, headers: Headers, content: bytes) -> None:
        self.status = self.status_code = status
        self.headers = headers
        self.content = content
        self.text = content.decode(errors="replace")
        self.ok = status < 400

    def json(self) -> Any:
        """The JSON value in the body."""
        return wire.loads(self.text.strip())

    def __repr__(self) -> str:
        return f"{self.status} {self.text[:300]!r}"


class Asking:
    """The function `http(…)` of a check, which asks the service."""

    def __init__(self, port: int, transcript: Transcript) -> None:
        self.port = port
        """Where the service listens, for checks that send what no client would."""
        self._transcript = transcript

    def __call__(
        self,
        method: str,
        path: str,
        json: Any = None,
        headers: dict[str, str] | None = None,
        body: str | bytes = "",
        query: dict[str, Any] | None = None,
        form: dict[str, Any] | None = None,
        files: dict[str, Any] | None = None,
    ) -> Response:
        """Send one request; redirections are not followed."""
        import http.client
        from urllib.parse import quote, urlencode

        if query:
            path += ("&" if "?" in path else "?") + urlencode(_pairs(query))
        kind, data = _content(json, body, form, files)
        sent = {} if any(name.lower() == "content-type" for name in headers or {}) else kind
        self._transcript.last = f"{method} {path}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            target = quote(path, safe=PRINTABLE, errors="replace")
            connection.request(method, target, data, {**sent, **(headers or {})})
            raw = connection.getresponse()
            response = Response(raw.status, Headers(raw.getheaders()), raw.read(LONGEST_BODY))
        except (OSError, http.client.HTTPException) as error:
            # No answer is one as well: others may have given one.
            self._transcript.add(method, path, 0, "", type(error).__name__)
            raise
        finally:
            connection.close()
        given = str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()
        self._transcript.add(method, path, response.status, given, response.text)
        self._transcript.last = f"{method} {path} gave {response!r}"
        return response


def _content(
    json: Any, body: str | bytes, form: dict[str, Any] | None, files: dict[str, Any] | None
) -> tuple[dict[str, str], bytes]:
    """The Content-Type header of a request, and its body."""
    from urllib.parse import urlencode

    if json is not None:
        return {"Content-Type": "application/json"}, wire.dumps(json).encode()
    if files:
        boundary, data = _multipart(_pairs(form or {}), files)
        return {"Content-Type": f"multipart/form-data; boundary={boundary}"}, data
    if form is not None:
        kind = "application/x-www-form-urlencoded"
        return {"Content-Type": kind}, urlencode(_pairs(form)).encode()
    return {}, _bytes(body)


def _pairs(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values as texts; a list gives a name several times, None is left out."""
    pairs = []
    for name, value in values.items():
        several = value if isinstance(value, (list, tuple)) else [value]
        for each in several:
            if each is not None:
                word = str(each).lower() if isinstance(each, bool) else str(each)
                pairs.append((str(name), word))
    return pairs


def _multipart(pairs: list[tuple[str, str]], files: dict[str, Any]) -> tuple[str, bytes]:
    """The boundary and the body of a multipart request."""
    parts = [(f'form-data; name="{_quoted(name)}"', "", word.encode()) for name, word in pairs]
    for name, given in files.items():
        file, content, *typed = given if isinstance(given, (list, tuple)) else (name, given)
        where = f'form-data; name="{_quoted(name)}"; filename="{_quoted(file)}"'
        parts.append((where, typed[0] if typed else "application/octet-stream", _bytes(content)))
    boundary = "part"
    while any(boundary.encode() in content for _, _, content in parts):
        boundary += "-part"
    data = b""
    for where, kind, content in parts:
        line = f"Content-Type: {kind}\r\n" if kind else ""
        data += f"--{boundary}\r\nContent-Disposition: {where}\r\n{line}\r\n".encode()
        data += content + b"\r\n"
    return boundary, data + f"--{boundary}--\r\n".encode()


def _quoted(name: str) -> str:
    return str(name).replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)
