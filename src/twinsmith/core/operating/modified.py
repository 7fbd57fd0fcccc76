"""A release that waits for a person's word as the person may change it: its files and its terms."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import TUNABLE, Action, Terms
from twinsmith.core.operating.deliverable import CHECKS, INTERFACE, Deliverable, deliverable_in
from twinsmith.core.operating.source import NEEDS, REPORT
from twinsmith.core.people.approval import Decision

WHERE = "the modified source"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """A release as it is asked for now, after everything that was changed of it."""

    terms: Terms
    deliverable: Deliverable | None = None
    """None where the action releases nothing: it stops, or removes, or goes back."""


def asked_for(action: Action, decisions: Iterable[Decision]) -> AskedFor:
    """An action after what people changed of it, earliest first."""
    now = AskedFor(terms=action.terms, deliverable=action.deliverable)
    for each in decisions:
        if each.said == "modify":
            files = now.deliverable if each.files is None else deliverable_in(each.files, WHERE)
            now = AskedFor(terms=with_terms(now.terms, each.terms or {}), deliverable=files)
    return now


def with_terms(terms: Terms, given: Mapping[str, float]) -> Terms:
    """Terms with other numbers in them."""
    kinds = {name: type(getattr(terms, name)) for name in TUNABLE}
    return replace(terms, **{name: kinds[name](given[name]) for name in TUNABLE if name in given})


def editable(deliverable: Deliverable | None) -> dict[str, str]:
    """The files that a person may edit, by name: the program's, and the packages it needs."""
    if deliverable is None:
        return {}
    packages = "".join(f"{each}\n" for each in deliverable.source.packages)
    return {**deliverable.source.files, NEEDS: packages}


def edited(deliverable: Deliverable, typed: Mapping[str, str]) -> dict[str, str]:
    """The whole result with some of its files as a person typed them; empty: nothing is different.

    ConfigError where it is no service any more. A browser ends lines in its own way: a file that
    differs in nothing else stays as it is.
    """
    known = editable(deliverable)
    unknown = sorted(set(typed) - set(known))
    if unknown:
        raise ConfigError(f"{unknown[0][:80]!r} is no file of this release; leave it out")
    plain = {name: _plain(text) for name, text in typed.items()}
    changed = {name: text for name, text in plain.items() if text != _plain(known[name])}
    if not changed:
        return {}
    files = {**files_of(deliverable), **changed}
    deliverable_in(files, WHERE)
    return files


def files_of(deliverable: Deliverable) -> dict[str, str]:
    """The files of a result folder from which the same service would be read."""
    source = deliverable.source
    checks = [
        {"name": each.name, "source": each.source, "fresh": each.fresh}
        for each in deliverable.probes.checks
    ]
    report = {"run": source.run, "task": source.task, "kind": source.program.kind}
    files = {
        **editable(deliverable),
        REPORT: json.dumps(report | _figures(deliverable.built), ensure_ascii=False),
        CHECKS: json.dumps(
            {"setup": deliverable.probes.setup, "checks": checks}, ensure_ascii=False
        ),
    }
    if deliverable.spec:
        files[INTERFACE] = deliverable.spec
    if source.tests:
        files[source.tests] = source.test_text
    return files


def _figures(built: str) -> dict[str, float]:
    """What a report said about a build, from `1200 tokens, 0.0300 USD, confidence 0.93`."""
    words = built.replace(",", "").split()
    if len(words) != 6:
        return {}
    return {"tokens": float(words[0]), "usd": float(words[2]), "confidence": float(words[5])}


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
