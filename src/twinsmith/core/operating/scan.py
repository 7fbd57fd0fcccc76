"""A scan of a program before it is released: what was found, what of it blocks, how risky it is."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from twinsmith.core.judging.security_findings import security_findings
from twinsmith.core.masking import Masking
from twinsmith.core.operating.inspected import RISKS, Inspected, Risk
from twinsmith.core.operating.licences import USUAL, is_allowed, is_strong_copyleft
from twinsmith.core.operating.locked import Pin
from twinsmith.core.program import FILE_NAMES, Program
from twinsmith.core.sensitive.places import MASK, Place, covered
from twinsmith.core.sensitive.search import certain, known_to, likely
from twinsmith.core.verdict import Finding

ScanKind = Literal["code", "dependency", "secret", "licence"]
SCAN_KINDS: tuple[ScanKind, ...] = get_args(ScanKind)
Blocks = Risk | Literal["never"]
_TEXTS = re.compile(r"""(["'])(?:\\.|(?!\1).)+\1""")
_OF_SECRET = "a secret stands in the source"  # noqa: S105
_LONGEST = 200
NOT_SCANNED = "the packages of the operating system are not scanned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFinding:
    """One thing that a scan found; a secret in its evidence is masked."""

    kind: ScanKind
    what: str
    where: str
    evidence: str
    severity: Risk

    def text(self) -> str:
        """The finding in one line."""
        said = " ".join(f"{self.what} ({self.where}): {self.evidence}".split())
        return f"{self.severity} {self.kind}: {said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory:
    """A known weakness of one version of a package."""

    name: str
    """Its identifier, such as PYSEC-2026-1."""
    aliases: tuple[str, ...] = ()
    fixed_in: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What is known about packages, and about which nobody could be asked."""

    known: Mapping[str, tuple[Advisory, ...]] = field(default_factory=dict)
    """Advisories by `name==version` of packages; those without any need not be there."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """Packages that nobody could be asked about, each with the reason, by `name==version`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """From which severity on each kind of finding blocks a release, and which licences may be."""

    code: Blocks = "high"
    dependency: Blocks = "high"
    secret: Blocks = "high"  # noqa: S105
    licence: Blocks = "high"
    licences: frozenset[str] = USUAL

    def blocks(self, finding: ScanFinding) -> bool:
        """Whether nobody may release with this finding."""
        levels = {"code": self.code, "dependency": self.dependency, "secret": self.secret}
        level = levels.get(finding.kind, self.licence)
        return level != "never" and RISKS.index(finding.severity) >= RISKS.index(level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """A risk, and the finding that it comes from, in words."""

    level: Risk
    reason: str


def blocking(findings: Iterable[ScanFinding], policy: Policy) -> tuple[ScanFinding, ...]:
    """The findings that a policy lets nobody release with, the worst first."""
    return tuple(each for each in worst_first(findings) if policy.blocks(each))


def risk(findings: Iterable[ScanFinding]) -> Rated:
    """The risk of releasing a program with these findings: that of the worst."""
    ranked = worst_first(findings)
    if not ranked:
        return Rated(level="low", reason="nothing was found")
    return Rated(level=ranked[0].severity, reason=ranked[0].text())


def worst_first(findings: Iterable[ScanFinding]) -> tuple[ScanFinding, ...]:
    """The findings, each once, by severity, then by kind."""

    def rank(finding: ScanFinding) -> tuple[int, int]:
        return -RISKS.index(finding.severity), SCAN_KINDS.index(finding.kind)

    return tuple(sorted(dict.fromkeys(findings), key=rank))


def inspected(findings: Iterable[ScanFinding], policy: Policy) -> Inspected:
    """The result of a scan as a release reads it, one line a finding."""
    ranked = worst_first(findings)
    return Inspected(
        findings=tuple(each.text() for each in ranked),
        blocking=tuple(each.text() for each in blocking(ranked, policy)),
        risk=risk(ranked).level,
    )


def code_findings(
    program: Program, reviewed: Iterable[Finding], masking: Masking
) -> tuple[ScanFinding, ...]:
    """What reviewers, and our own rules for Python, say about the code of a program."""
    found = [*reviewed, *_own_rules(program)]
    return tuple(dict.fromkeys(_of_code(each, masking) for each in found))


def _own_rules(program: Program) -> Iterator[Finding]:
    if program.language != "python":
        return
    for name, text in files_of(program).items():
        for each in security_findings(text):
            yield replace(each, where=f"{name} {each.where}")


def _of_code(finding: Finding, masking: Masking) -> ScanFinding:
    is_secret = finding.what.startswith(_OF_SECRET)
    said = _TEXTS.sub(MASK, finding.evidence) if is_secret else masking.text(finding.evidence)
    return ScanFinding(
        kind="secret" if is_secret else "code",
        what=finding.what,
        where=finding.where,
        evidence=said[:_LONGEST],
        severity="high" if finding.severity == "blocking" else "low",
    )


def files_of(program: Program) -> dict[str, str]:
    """Every file of a program by name, the main one first."""
    beside = {each.name: each.text for each in program.files}
    return {FILE_NAMES[program.language]: program.source, **beside}


def secret_findings(files: Mapping[str, str], masking: Masking) -> tuple[ScanFinding, ...]:
    """Secrets in the files of a program, one finding a line; what they are is never shown."""
    known = known_to(masking.secrets, masking.variables)
    found: list[ScanFinding] = []
    for name, text in files.items():
        sure: list[Place] = [*certain(text, known), *masking.rules(text)]
        places = [*sure, *likely(text)]
        severities: dict[int, Risk] = {_line(text, begin): "high" for begin, _ in places}
        severities |= {_line(text, begin): "critical" for begin, _ in sure}
        found += [
            ScanFinding(
                kind="secret",
                what=f"{_OF_SECRET}; take it from the environment",
                where=f"{name} line {line}",
                evidence=masked[:_LONGEST],
                severity=severities[line],
            )
            for line, masked in sorted(_masked_lines(text, places).items())
        ]
    return tuple(found)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _masked_lines(text: str, places: Iterable[Place]) -> dict[int, str]:
    """The first line of every place, with masks over all secrets in it, by its number."""
    several = list(places)
    lines: dict[int, str] = {}
    for begin, _ in several:
        start = text.rfind("\n", 0, begin) + 1
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        inside = [
            (max(one, start) - start, min(two, end) - start)
            for one, two in several
            if one < end and two > start
        ]
        lines[_line(text, begin)] = covered(text[start:end], inside).strip()
    return lines


def spelled(pin: Pin) -> str:
    """One version of a package as `name==version`."""
    return f"{pin.name}=={pin.version}"


def licence_findings(
    pins: Collection[Pin], licences: Mapping[str, str], policy: Policy
) -> tuple[ScanFinding, ...]:
    """Packages whose licences a policy does not name; one that nobody knows is a finding, too.

    Licences go by `name==version`: what is known of another version is not known of this one.
    """
    return tuple(
        ScanFinding(
            kind="licence",
            what=_licence_trouble(licence),
            where=spelled(pin),
            evidence=licence or "no licence is told",
            severity="high" if is_strong_copyleft(licence) else "medium",
        )
        for pin in pins
        for licence in (licences.get(spelled(pin), ""),)
        if not is_allowed(licence, policy.licences)
    )


def _licence_trouble(licence: str) -> str:
    if not licence:
        return "the licence of a package is not known"
    if is_strong_copyleft(licence):
        return "the licence of a package reaches for the whole program"
    return "the licence of a package is not among those allowed"


def dependency_findings(pins: Collection[Pin], advised: Advised) -> tuple[ScanFinding, ...]:
    """Known weaknesses of packages; that nobody could be asked is a finding as well."""
    found = [
        ScanFinding(
            kind="dependency",
            what=f"{each.name} is known of a package",
            where=spelled(pin),
            evidence=_advice(each),
            severity="high",
        )
        for pin in pins
        for each in advised.known.get(spelled(pin), ())
    ]
    unasked = [spelled(pin) for pin in pins if spelled(pin) in advised.unasked]
    if unasked:
        found.append(
            ScanFinding(
                kind="dependency",
                what=f"advisories could not be asked about {len(unasked)} of {len(pins)} packages",
                where=", ".join(unasked)[:_LONGEST],
                evidence=advised.unasked[unasked[0]][:_LONGEST],
                severity="low",
            )
        )
    return tuple(found)


def _advice(advisory: Advisory) -> str:
    fixed = f"fixed in {', '.join(advisory.fixed_in)}" if advisory.fixed_in else "not fixed yet"
    also = f" ({', '.join(advisory.aliases)})" if advisory.aliases else ""
    return f"{fixed}{also}; {advisory.summary}"[:_LONGEST].rstrip("; ")


def image_findings() -> tuple[ScanFinding, ...]:
    """What no scan here looks at: the system's packages in the image that a program runs in."""
    return (
        ScanFinding(
            kind="dependency",
            what=NOT_SCANNED,
            where="image",
            evidence="a tool for container images can look at them",
            severity="low",
        ),
    )
