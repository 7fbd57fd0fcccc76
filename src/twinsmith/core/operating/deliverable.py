"""A finished service that is to serve: its source, the checks it was accepted by, its interface."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.source import NEXT, REPORT, Source, source_in
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.spec import contract_from
from twinsmith.core.probe import Probe, Probes

CHECKS, INTERFACE = "checks.json", "openapi.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliverable:
    """A service with everything that a release asks of it."""

    source: Source
    probes: Probes = field(default_factory=Probes)
    """The dialogues that the service was accepted by."""
    spec: str = ""
    """Its interface as an OpenAPI document; empty where it has none."""
    built: str = ""
    """What building it took and how sure it is, in words; empty where nobody tells."""

    @property
    def contract(self) -> Contract | None:
        """The contract that its interface tells; None where it tells none that can be read."""
        try:
            document = json.loads(self.spec or "null")
            return contract_from(document) if isinstance(document, dict) else None
        except (ValueError, RecursionError, ConfigError):
            return None

    @property
    def health(self) -> str:
        """The path that is asked whether the service is ready."""
        if self.source.framed:
            return "/health"
        contract = self.contract
        routes = contract.operations if contract else ()
        named = (each.path for each in routes if each.method == "GET" and each.part == "health")
        return next(named, "/")


def deliverable_in(files: Mapping[str, str], where: str) -> Deliverable:
    """The service in the files of a result; ConfigError says why there is none to deploy."""
    source = source_in(files, where)
    if source.program.kind != "service":
        raise ConfigError(
            f"{where} holds a {source.program.kind}, and only services are deployed; "
            f"twinsmith package {where} puts it in a container that you run yourself"
        )
    return Deliverable(
        source=source,
        probes=checks_in(files[CHECKS], where) if CHECKS in files else Probes(),
        spec=files.get(INTERFACE, ""),
        built=_built(files.get(REPORT, "")),
    )


def _built(report: str) -> str:
    """What a report tells of the tokens, the money and the confidence of a build."""
    try:
        told = json.loads(report or "{}")
        tokens, usd, sure = (float(told[name]) for name in ("tokens", "usd", "confidence"))
    except (ValueError, KeyError, TypeError):
        return ""
    return f"{tokens:.0f} tokens, {usd:.4f} USD, confidence {sure:.2f}"


def checks_in(text: str, where: str) -> Probes:
    """The checks that a result was handed over with; ConfigError where they cannot be read."""
    try:
        raw = json.loads(text)
        checks = tuple(
            Probe(
                name=str(each["name"]),
                origin="plan",
                source=str(each["source"]),
                fresh=each.get("fresh") is True,
            )
            for each in raw["checks"]
        )
        return Probes(checks=checks, setup=str(raw["setup"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(
            f"{CHECKS} in {where} cannot be read ({type(error).__name__}: {error}); {NEXT}"
        ) from None
