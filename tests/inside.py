"""A service in Python run inside the test: a stand-in for its kit, asked without any network.

Dialogues run for real. What the kit promises by itself is taken for granted, and shown elsewhere.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program


class Refused(Exception):
    """What the kit answers by itself."""


class Store:
    """Rows by table, as the kit keeps them."""

    def __init__(self, _path: str, keys: Mapping[str, tuple[str, str]]) -> None:
        self._keys = {name: key for name, (key, _) in keys.items()}
        self._rows: dict[str, list[dict[str, object]]] = {name: [] for name in keys}
        self._last = 0

    def add(self, table: str, **fields: object) -> dict[str, object]:
        self._last += 1
        row = {self._keys[table]: self._last, **fields}
        self._rows[table].append(row)
        return dict(row)

    def all(self, table: str, **equal: object) -> list[dict[str, object]]:
        rows = self._rows[table]
        return [dict(row) for row in rows if all(row.get(n) == v for n, v in equal.items())]

    def get(self, table: str, key: object = None, **equal: object) -> dict[str, object] | None:
        named = {} if key is None else {self._keys[table]: key}
        return next(iter(self.all(table, **named, **equal)), None)

    def remove(self, table: str, key: object) -> bool:
        rows = self._rows[table]
        self._rows[table] = [row for row in rows if row[self._keys[table]] != key]
        return len(self._rows[table]) < len(rows)


class Inside:
    """One service that nobody has asked anything yet."""

    def __init__(self, program: Program) -> None:
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Any]]] = []
        self._sent: Mapping[str, object] = {}
        self._user = ""
        self.transcript: list[list[object]] = []
        told = ModuleType("contract")
        told.__dict__["OPENAPI"] = {}
        modules = {"kit": self._kit(), "contract": told}
        sys.modules.update(modules)
        try:
            exec(compile(program.source, "solution.py", "exec"), {"__name__": "solution"})
        finally:
            for name in modules:
                del sys.modules[name]

    def _kit(self) -> ModuleType:
        kit = ModuleType("kit")

        def route(method: str) -> Callable[[str], Callable[..., Any]]:
            def at(path: str) -> Callable[..., Any]:
                shape = re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", path))

                def keep(function: Callable[..., Any]) -> Callable[..., Any]:
                    self._routes.append((method.upper(), shape, function))
                    return function

                return keep

            return at

        def answer(_store: Store, work: Callable[[], Any], good: int, _form: str = "") -> object:
            given = work()
            return given if isinstance(given, tuple) else (good, given)

        def sent(**kinds: object) -> dict[str, object]:
            if not kinds.keys() <= self._sent.keys():
                raise Refused(400)
            return {name: self._sent[name] for name in kinds}

        def current_user() -> str:
            if not self._user:
                raise Refused(401)
            return self._user

        methods = ("get", "post", "put", "patch", "delete")
        kit.__dict__.update(
            Store=Store,
            app=SimpleNamespace(**{method: route(method) for method in methods}),
            answer=answer,
            body=sent,
            form=sent,
            query=sent,
            text=str,
            current_user=current_user,
            jsonify=lambda value=None, **named: (200, value or named),
            part=lambda _name, value, kind: kind(value),
            register=lambda *_: (201, {}),
            login=lambda _store, taken, who, *_: (200, {"token": taken[who]}),
            serve=lambda: None,
        )
        return kit

    def http(
        self,
        method: str,
        path: str,
        json: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> SimpleNamespace:
        """One request, as a check writes it."""
        self._sent = json or query or {}
        self._user = (headers or {}).get("Authorization", "").removeprefix("Bearer ")
        status, said = self._answered(method, path)
        text = to_json(said)
        kind = "application/json"
        self.transcript.append([method, path, status, kind, text])
        return SimpleNamespace(status=status, text=text, headers={"Content-Type": kind})

    def _answered(self, method: str, path: str) -> tuple[int, object]:
        for known, shape, function in self._routes:
            match = shape.fullmatch(path)
            if known == method and match:
                try:
                    status, said = function(**match.groupdict())
                except Refused as error:
                    return error.args[0], {}
                except Exception:  # noqa: BLE001  (a service answers, whatever a model wrote)
                    return 500, {}
                return status, said
        return 404, {}


to_json = json.dumps


def executed(program: Program, probes: Probes) -> Execution:
    """What a sandbox would tell; each check finds a service that nobody has asked."""
    return Execution(
        candidate=0, results=tuple(_tried(program, probe, probes.setup) for probe in probes.checks)
    )


def _tried(program: Program, probe: Probe, setup: str) -> ProbeResult:
    if not probe.fresh:
        return ProbeResult(name=probe.name, outcome="passed")
    service = Inside(program)
    names: dict[str, object] = {"http": service.http}
    exec(setup, names)
    names["http"] = service.http
    detail = ""
    try:
        exec(probe.source, names)
    except Exception as error:  # noqa: BLE001  (whatever a check raises, it has failed)
        detail = f"{type(error).__name__}: {error} in {probe.name}"
    outcome: Outcome = "failed" if detail else "passed"
    value = repr(service.transcript)
    return ProbeResult(name=probe.name, outcome=outcome, detail=detail, value=value)
