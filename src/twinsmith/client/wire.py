"""Requests to a server: sent again where that is safe, answers as values, problems as errors."""

import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from twinsmith import __version__
from twinsmith.client.address import checked_address, is_loopback
from twinsmith.client.problems import problem_in
from twinsmith.core.errors import ConfigError, Conflict, EngineError, TwinsmithError, Unknown

T = TypeVar("T")
Params = Mapping[str, str | int | float | bool]
API = "/api/v1"
TRIES = 5
"""How often a request is sent that gets no answer."""
PATIENCE_SECONDS = 60.0
"""How long answers are borne that say when to come again."""
FIRST_WAIT = 0.25
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
"""Some deeds wait for others that let go of an app or a run."""

_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


class Wire:
    """The way to one server and back; its key is shown nowhere."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        plain: bool = False,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = checked_address(url, plain=plain)
        self.sleep = sleep
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ConfigError("the key holds what no key holds; give the line that was printed")
        self._key = key
        headers = {"user-agent": f"twinsmith/{__version__}"}
        self._http = httpx2.Client(
            base_url=f"{self.url}{API}",
            headers={**headers, **({"authorization": f"Bearer {key}"} if key else {})},
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            # A key goes to nobody but the server that it is for.
            follow_redirects=False,
            trust_env=not is_loopback(httpx2.URL(self.url).host),
            transport=transport,
        )

    def __repr__(self) -> str:
        """The way by its end, without the key."""
        return f"Wire({self.url!r})"

    def close(self) -> None:
        """End all connections."""
        self._http.close()

    def get(self, path: str, kind: type[T], params: Params | None = None) -> T:
        """The value that an address has."""
        return self._value(self._sent(self._http.build_request("GET", path, params=params)), kind)

    def standing(self, path: str, kind: type[T]) -> T:
        """The value of an address that has one, too, where it answers 503."""
        request = self._http.build_request("GET", path)
        return self._value(self._sent(request, accepted=(503,)), kind)

    def content(self, path: str, params: Params | None = None) -> bytes:
        """The bytes at an address."""
        return self._sent(self._http.build_request("GET", path, params=params)).content

    def post(self, path: str, kind: type[T], body: BaseModel | None = None, *, key: str = "") -> T:
        """What came of a deed, which is done once however often it has to be sent."""
        answer = self._sent(
            self._http.build_request(
                "POST",
                path,
                json=body.model_dump(mode="json") if body is not None else None,
                headers={"idempotency-key": key or secrets.token_hex(16)},
            )
        )
        if "idempotency-replayed" in answer.headers and answer.content.startswith(b'{"note"'):
            raise Conflict(
                "it was done, but what it showed once was lost on the way; undo it and do it anew"
            )
        return self._value(answer, kind)

    def patch(self, path: str, kind: type[T], body: BaseModel) -> T:
        """A thing after a change."""
        told = body.model_dump(mode="json")
        return self._value(self._sent(self._http.build_request("PATCH", path, json=told)), kind)

    def delete(self, path: str, kind: type[T]) -> T:
        """A thing as it was taken away."""
        return self._value(self._sent(self._http.build_request("DELETE", path)), kind)

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Params | None = None,
        quiet: float = ANSWER_SECONDS,
    ) -> Iterator[httpx2.Response]:
        """An answer that is read while it comes; ReadTimeout where nothing does for `quiet` s."""
        timeout = httpx2.Timeout(quiet, connect=CONNECT_SECONDS)
        request = self._http.build_request(
            "GET", path, headers=headers, params=params, timeout=timeout
        )
        answer = self._sent(request, stream=True)
        try:
            yield answer
        finally:
            answer.close()

    def unreachable(self, error: httpx2.HTTPError) -> EngineError:
        """The error that no answer came, in one line."""
        why = " ".join(self._without_key(str(error) or type(error).__name__).split())
        if _is_distrust(error):
            return EngineError(
                f"{self.url} shows a certificate that does not hold: {why}; where its authority "
                "is your own, name it in SSL_CERT_FILE"
            )
        return EngineError(f"{self.url} cannot be reached: {why}; is 'twinsmith serve' running?")

    def _sent(
        self,
        request: httpx2.Request,
        *,
        accepted: tuple[int, ...] = (),
        stream: bool = False,
    ) -> httpx2.Response:
        """A good answer; the request is sent again where none came, or where it is to come later.

        What it carries stays the same, so that it is done once.
        """
        tried, waited = 0, 0.0
        while True:
            try:
                answer = self._http.send(request, stream=stream)
                if answer.is_success or answer.status_code in accepted:
                    return answer
                answer.read()
            except httpx2.HTTPError as error:
                tried += 1
                if tried >= TRIES or not _may_be_sent_again(request.method, error):
                    raise self.unreachable(error) from None
                self.sleep(FIRST_WAIT * 2 ** (tried - 1))
                continue
            wait = wait_of(answer)
            if wait is None or waited + wait > PATIENCE_SECONDS:
                raise self._problem(answer)
            waited += wait
            self.sleep(wait)

    def _value(self, answer: httpx2.Response, kind: type[T]) -> T:
        try:
            value: T = _adapter(kind).validate_json(answer.content)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "body"
            raise EngineError(
                f"{self.url} answered with something else than expected ({place}: "
                f"{first['msg'].lower()}); is it a twinsmith server of version {__version__}?"
            ) from None
        return value

    def _problem(self, answer: httpx2.Response) -> TwinsmithError:
        error = problem_in(answer, self.url)
        return type(error)(self._without_key(str(error)))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def wait_of(answer: httpx2.Response) -> float | None:
    """How long to wait before a request is sent again; None: it is not to be sent again."""
    told = answer.headers.get("retry-after", "")
    comes_later = answer.status_code in (409, 429, 503) and told.isascii() and told.isdecimal()
    return float(told) if comes_later else None


def named(name: str) -> str:
    """A name as a part of an address; Unknown where nothing can have it."""
    if not name or name in (".", ".."):
        raise Unknown(f"{name!r} is no name of anything; give one")
    return quote(name, safe="")


def _may_be_sent_again(method: str, error: httpx2.HTTPError) -> bool:
    """Whether a request that got no answer may be sent again without being done twice."""
    if _is_distrust(error) or not isinstance(error, httpx2.TransportError):
        return False
    # Looking changes nothing, a deed has its key; anything else may be done already.
    return method in ("GET", "POST") or isinstance(error, httpx2.ConnectError)


def _is_distrust(error: BaseException | None) -> bool:
    """Whether a certificate is the reason of an error."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    # Building one takes a millisecond; there is one a type for the life of the process.
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
