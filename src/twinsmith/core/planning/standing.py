"""How far a program meets what was asked for, requirement by requirement, by what ran."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from twinsmith.core.execution import ProbeResult
from twinsmith.core.planning.contract import Contract, Operation
from twinsmith.core.planning.dialogue import called_in
from twinsmith.core.planning.requirement import Requirement, Requirements, introduces
from twinsmith.core.planning.serving import serving
from twinsmith.core.probe import ABOUT_ACCOUNTS, Probe
from twinsmith.core.replies.python_names import UNREADABLE

REFUSED = 400
BROKEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far one requirement is met: its functions, and the checks for and against it."""

    requirement: Requirement
    functions: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    """Checks that passed, and would have failed if the functions did nothing."""
    against: tuple[str, ...] = ()
    """Checks that this program fails and most other candidates pass."""
    why: str = ""
    """The reason why the requirement is not met; empty where it is met."""

    @property
    def met(self) -> bool:
        """Whether a check that could have failed has shown it, and none speaks against it."""
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The requirements and the contract of a task, and how far the best candidate meets them."""

    requirements: Requirements
    contract: Contract | None = None
    """The routes of a service; None for other programs."""
    standings: tuple[Standing, ...] = ()
    pieces: Mapping[str, str] = field(default_factory=dict)
    """The functions of the best candidate that models wrote, by name."""

    @property
    def brought(self) -> bool:
        """Whether the kit brings everything that was asked for, so that no model wrote anything."""
        contract = self.contract
        return bool(self.standings) and contract is not None and not contract.pieces

    @property
    def unmet(self) -> tuple[Standing, ...]:
        """The requirements that nothing has shown to be met."""
        return tuple(each for each in self.standings if not each.met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One check and what the chosen program did with it."""

    probe: Probe
    result: ProbeResult
    holds: bool | None = None
    """Whether the check holds, where the probe alone does not tell; None: as the probe says."""
    telling: frozenset[str] = frozenset()
    """The functions that the check depends on: without one of them it fails."""
    refusal: bool = False
    """Whether a program that refuses everything passes the check too."""
    elsewhere: bool = False
    """Whether most other candidates pass the check."""

    @property
    def passed(self) -> bool:
        """Whether the chosen program passes the check."""
        return self.result.outcome == "passed" if self.holds is None else self.holds


def majority(held: Iterable[bool]) -> bool:
    """Whether at least half of the values are true; False where there are none."""
    each = list(held)
    return bool(each) and 2 * sum(each) >= len(each)


def standings(
    requirements: Sequence[Requirement], contract: Contract, trials: Sequence[Trial]
) -> tuple[Standing, ...]:
    """How far a service meets each requirement."""
    return tuple(_standing(each, contract, trials) for each in requirements)


def plain_standings(
    requirements: Sequence[Requirement], trials: Sequence[Trial]
) -> tuple[Standing, ...]:
    """How far a library or command meets each requirement, by the checks written for it."""
    found = []
    for each in requirements:
        own = [trial for trial in trials if trial.probe.about == each.number]
        shown = [trial for trial in own if trial.passed and trial.telling]
        against = [trial for trial in own if not trial.passed and trial.elsewhere]
        found.append(_judged(each, own, shown, against))
    return tuple(found)


def _judged(
    requirement: Requirement,
    own: Sequence[Trial],
    shown: Sequence[Trial],
    against: Sequence[Trial],
    functions: tuple[str, ...] = (),
) -> Standing:
    """The standing of one requirement: met where more checks show it than speak against it."""
    why = ""
    if against and len(against) >= len(shown):
        why = f"most others pass a check that this one fails: {against[0].probe.name}"
    elif not shown:
        failed = [trial for trial in own if not trial.passed]
        why = (
            f"it does not do what was expected: {failed[0].probe.name}"
            if failed
            else "no check that could fail has shown it"
        )
    return Standing(
        requirement=requirement,
        functions=functions,
        shown=tuple(trial.probe.name for trial in shown),
        against=tuple(trial.probe.name for trial in against),
        why=why,
    )


def _standing(requirement: Requirement, contract: Contract, trials: Sequence[Trial]) -> Standing:
    serves = serving(requirement, contract.operations)
    functions = tuple(each.function for each in serves)
    if not serves:
        return Standing(requirement=requirement, why="no part of the program does it")
    brought = all(each.part for each in serves)
    own = [trial for trial in trials if _is_about(trial, requirement, serves)]
    shown = [t for t in own if t.passed and (brought or _shows(t, requirement, serves))]
    against = [
        t for t in own if not t.passed and t.elsewhere and t.probe.about == requirement.number
    ]
    if not shown and all(t.passed for t in own) and introduces(requirement.quote):
        shown = _all_shown(contract.pieces, trials)
    return _judged(requirement, own, shown, against, functions)


def _all_shown(pieces: Sequence[Operation], trials: Sequence[Trial]) -> list[Trial]:
    """A passed check for each of these operations; empty where one of them has none."""
    found = []
    for each in pieces:
        own = (t for t in trials if t.passed and not t.refusal and each.function in t.telling)
        if (first := next(own, None)) is None:
            return []
        found.append(first)
    return found


def _is_about(trial: Trial, requirement: Requirement, serves: Sequence[Operation]) -> bool:
    names = frozenset(each.function for each in serves)
    if all(each.part for each in serves):
        # Only what the kit itself is tried with; a dialogue may pass without it.
        accounts = any(each.part in ("register", "login") for each in serves)
        own = accounts and trial.probe.about == ABOUT_ACCOUNTS
        return own or bool(names.intersection(trial.probe.functions))
    if trial.probe.about:
        return trial.probe.about == requirement.number
    return bool(names.intersection(trial.probe.functions or called_in(trial.probe.source, names)))


def _shows(trial: Trial, requirement: Requirement, serves: Sequence[Operation]) -> bool:
    """Whether a passed check would have failed without this requirement."""
    own = bool(trial.telling & {each.function for each in serves})
    if requirement.refuses:
        return own and any(refused_by(trial.result, each) for each in serves)
    return own and not trial.refusal


def refused_by(result: ProbeResult, operation: Operation) -> bool:
    """Whether an operation refused something during a check."""
    shape = re.escape(operation.path).replace(r"\{", "{").replace(r"\}", "}")
    path = re.compile(re.sub(r"\{\w+\}", "[^/]+", shape))
    return any(
        entry[0] == operation.method
        and path.fullmatch(str(entry[1]).partition("?")[0])
        and isinstance(entry[2], int)
        and REFUSED <= entry[2] < BROKEN
        for entry in transcript(result)
    )


def transcript(result: ProbeResult) -> list[list[object]]:
    """The answers of a service during a check: method, path, status, kind and text of each."""
    try:
        read = ast.literal_eval(result.value) if result.value else []
    except UNREADABLE:
        return []
    return [entry for entry in read if isinstance(entry, list) and len(entry) == 5]


def table(standings: Sequence[Standing]) -> str:
    """The requirements as a Markdown table: words, functions, checks and result of each."""
    lines = ["| | requirement | pieces | checks | result |", "|---|---|---|---|---|"]
    for each in standings:
        shown = "; ".join(f"`{name}`" for name in each.shown[:3]).replace("|", "\\|")
        more = f" and {len(each.shown) - 3} more" if len(each.shown) > 3 else ""
        result = "met" if each.met else f"**not met**: {each.why}".replace("|", "\\|")
        pieces = ", ".join(f"`{name}`" for name in each.functions)
        quote = each.requirement.quote.replace("|", "\\|")
        lines.append(
            f"| {each.requirement.number} | {quote} | {pieces} | {shown}{more} | {result} |"
        )
    return "\n".join(lines)
