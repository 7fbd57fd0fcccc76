"""People who use the cart of the tests all along, and versions of it that get into trouble."""

import ast
import json
import threading
import time
import urllib.error
import urllib.request
from typing import Self

from tests.service_scripts import PIECES

_TOTAL = 'return 200, {"total"'
DIVIDES = PIECES["see_total"].replace(
    _TOTAL, f'1 / len(store.all("items", user=user))\n    {_TOTAL}', 1
)
"""The total of a cart, which an empty cart has none of."""
KEEPS = PIECES["see_total"].replace(_TOTAL, f'KEPT.append(b"x" * 500_000)\n    {_TOTAL}', 1)
"""The total of a cart, of which half a megabyte is kept each time."""


def divides(text: str) -> str:
    """A version that fails whoever has an empty cart."""
    return _with(text, DIVIDES)


def keeps(text: str) -> str:
    """A version that takes half a megabyte with every look at a total."""
    # Before anything is defined: a service that is started by hand never comes to its end.
    return _with(text, KEEPS).replace("\ndef ", "\nKEPT = []\n\n\ndef ", 1)


def _with(text: str, total: str) -> str:
    """A source with another total, however the one in it is written."""
    (known,) = (
        each
        for each in ast.parse(text).body
        if isinstance(each, ast.FunctionDef) and each.name == "see_total"
    )
    lines = text.splitlines(keepends=True)
    assert known.end_lineno is not None
    return "".join([*lines[: known.lineno - 1], total, *lines[known.end_lineno :]])


class Shopper:
    """Somebody with an empty cart who looks at its total all along; remembers every answer."""

    def __init__(self, port: int, *, name: str = "zoe", pause: float = 0.05) -> None:
        self._port = port
        self._pause = pause
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.statuses: list[tuple[float, int]] = []
        values = {"username": name, "password": "Long!7-enough"}
        self._asked("POST", "/register", values)
        self._token = str(json.loads(self._asked("POST", "/login", values)[1])["token"])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def bad(self, since: float = 0.0) -> list[int]:
        """What it was answered besides 200 from a moment on."""
        return [status for at, status in self.statuses if at >= since and status != 200]

    def _look(self) -> None:
        while not self._over.is_set():
            began = time.time()
            status, _ = self._asked("GET", "/cart/total")
            self.statuses.append((began, status))
            time.sleep(self._pause)

    def _asked(self, method: str, path: str, values: object = None) -> tuple[int, str]:
        headers = {"Content-Type": "application/json"}
        if hasattr(self, "_token"):
            headers["Authorization"] = f"Bearer {self._token}"
        data = json.dumps(values).encode() if values is not None else None
        url = f"http://127.0.0.1:{self._port}{path}"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""
