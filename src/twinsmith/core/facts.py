"""The facts of a search for the journal, bounded: what two ensembles wrote, and how it is judged.

The board of a run is made of these facts again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from twinsmith.core.board_items import LETTERS, NOT_RUN, Share
from twinsmith.core.checks.inputs import input_text
from twinsmith.core.events import Json
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import BY_THE_WORDS, Check, Selection
from twinsmith.core.planning.contract import Contract, line
from twinsmith.core.planning.requirement import Requirements
from twinsmith.core.planning.standing import Standing
from twinsmith.core.probe import Probe
from twinsmith.core.program import FILE_NAMES, Candidate, Program
from twinsmith.core.verdict import Finding, Verdict

Facts = dict[str, Json]
LONGEST_SOURCE = 20_000
LONGEST_PLAN = 2000
LONGEST_TEXT = 300
LONGEST_NAME = 120
MOST_CHECKS = 60
MOST_FINDINGS = 4
MOST_LINES = 20
MOST_NAMES = 5
DIGITS = 3


def cut(text: str, most: int) -> str:
    """The beginning of a text as the journal can keep it: UTF-8 has no halves of characters."""
    return text[:most].encode("utf-8", "replace").decode()


def facts_of_requirements(wanted: Requirements) -> Facts:
    """The facts of requirements as they were read off the task."""
    return {
        "requirements": [
            {
                "number": each.number,
                "text": cut(each.what, LONGEST_TEXT),
                "quote": cut(each.quote, LONGEST_TEXT),
                "refuses": each.refuses,
            }
            for each in wanted.each
        ]
    }


def facts_of_standings(stands: Iterable[Standing]) -> Facts:
    """The facts of requirements after checks ran: which of them are met, and what showed it."""
    return {
        "requirements": [
            {
                "number": each.requirement.number,
                "text": cut(each.requirement.what, LONGEST_TEXT),
                "met": each.met,
                "why": cut(each.why, LONGEST_TEXT),
                "shown": _names(each.shown),
                "against": _names(each.against),
                "functions": list[Json](each.functions),
            }
            for each in stands
        ]
    }


def facts_of_plan(ensemble: int, text: str) -> Facts:
    """The facts of a slow thinker's plan."""
    return {"ensemble": ensemble, "text": cut(text, LONGEST_PLAN)}


def facts_of_pieces(contract: Contract) -> Facts:
    """The facts of the functions that a service is made of."""
    return {
        "pieces": [
            {
                "name": each.function,
                "route": line(each).partition(";")[0],
                "quote": cut(each.quote, LONGEST_TEXT),
                "kit": bool(each.part),
            }
            for each in contract.operations
        ]
    }


def facts_of_wrong(suspects: Mapping[str, str]) -> Facts:
    """The facts of pieces that have to be written anew, each with the complaint about it."""
    # A list: as a member called `reset_password` the complaint itself would be masked.
    return {
        "wrong": [{"name": name, "why": cut(told, LONGEST_TEXT)} for name, told in suspects.items()]
    }


def facts_of_crossing(source: int, to: int, kind: str, lines: Sequence[str]) -> Facts:
    """The facts of what one ensemble learned from another."""
    told: list[Json] = [cut(each, LONGEST_TEXT) for each in lines[:MOST_LINES]]
    return {"source": source, "to": to, "kind": kind, "lines": told}


def facts_of_candidate(
    candidate: Candidate, shares: Sequence[Share], before: Sequence[Candidate], room: int
) -> Facts:
    """The facts of a new candidate; `room` is how much of its source may be told.

    A file that an earlier candidate has word for word is told by the number of that one.
    """
    program = candidate.program
    return {
        "candidate": candidate.number,
        "ensemble": candidate.ensemble,
        "way": candidate.way,
        "language": program.language if program else "",
        "files": _files(program, before, min(room, LONGEST_SOURCE)) if program else [],
        "problem": cut(candidate.problem, LONGEST_TEXT),
        "repairs": [cut(each, LONGEST_TEXT) for each in candidate.repairs[:MOST_NAMES]],
        "told": cut(candidate.told, 2 * LONGEST_TEXT),
        "of": list(candidate.of),
        "shares": [
            {"name": each.name, "ensemble": each.ensemble, "nth": each.nth} for each in shares
        ],
    }


def sources(program: Program) -> dict[str, str]:
    """The texts of all files of a program by their names, the main one first."""
    main = FILE_NAMES.get(program.language, "program")
    return {main: program.source, **{each.name: each.text for each in program.files}}


def shown_checks(pool: Pool) -> list[list[Check]]:
    """The checks of a pool in groups that expect the same, those given first; not too many."""
    alike: dict[tuple[int, str], list[Check]] = defaultdict(list)
    for check in pool.checks:
        alike[check.probe, check.expected].append(check)
    ranked = sorted(
        alike.values(),
        key=lambda same: (not any(each.given for each in same), same[0].probe, same[0].expected),
    )
    return ranked[:MOST_CHECKS]


def facts_of_check(same: Sequence[Check], pool: Pool, number: int) -> Facts:
    """The facts of one check under the number that the board knows it by."""
    first = same[0]
    probe = pool.probes[first.probe]
    given = any(each.given for each in same)
    critics: set[int] = {each.ensemble for each in same if not each.given and each.ensemble > 0}
    about = pool.about.get(first.probe, frozenset())
    return {
        "number": number,
        "name": cut(probe.name, LONGEST_NAME),
        "text": cut(input_text(probe.asks) if probe.asks else probe.source, LONGEST_TEXT),
        "expected": cut(first.expected, LONGEST_TEXT),
        "given": given,
        "by": _giver(probe) if given else _proposer(same),
        "ensembles": list[Json](sorted(critics)),
        "times": sum(each.times for each in same),
        "requirements": list[Json](sorted(each for each in about if each > 0)),
    }


def facts_of_selection(
    pool: Pool, chosen: Selection, verdicts: Sequence[Verdict], numbers: Sequence[int]
) -> Facts:
    """The facts of a selection: who did what with the checks that are shown, and who leads."""
    firsts = tuple(same[0] for same in shown_checks(pool))
    between = chosen.separating
    return {
        "columns": list[Json](numbers),
        "cells": {str(number): _row(pool, number, firsts) for number in pool.seen},
        "verdicts": {str(each.candidate): [each.passed, each.total] for each in verdicts},
        "barred": list[Json](sorted(pool.barred)),
        "scores": {
            str(each.candidate): [
                round(value, DIGITS)
                for value in (each.total, each.agreement, each.checks, each.given)
            ]
            for each in chosen.scores
        },
        "clusters": [list[Json](cluster) for cluster in chosen.clusters],
        "winner": chosen.winner,
        "runner_up": chosen.runner_up,
        "confidence": round(chosen.confidence, DIGITS),
        "separating": {
            "asked": cut(input_text(between.call), LONGEST_TEXT),
            "leader": cut(between.winner, LONGEST_TEXT),
            "runner_up": cut(between.runner_up, LONGEST_TEXT),
        }
        if between
        else None,
    }


def facts_of_findings(findings: Sequence[Finding]) -> list[Json]:
    """The facts of what speaks against a candidate, what blocks it first."""
    ranked = sorted(findings, key=lambda each: each.severity != "blocking")
    return [
        {
            "what": cut(each.what, LONGEST_NAME),
            "where": cut(each.where, LONGEST_NAME),
            "evidence": cut(each.evidence, LONGEST_TEXT),
            "severity": each.severity,
        }
        for each in ranked[:MOST_FINDINGS]
    ]


def _files(program: Program, before: Sequence[Candidate], room: int) -> list[Json]:
    known = [(each.number, sources(each.program)) for each in before if each.program]
    told: list[Json] = []
    for name, text in sources(program).items():
        same = next((number for number, files in known if files.get(name) == text), None)
        if same is not None:
            told.append({"name": name, "as": same})
            continue
        kept = cut(text, max(0, room))
        room -= len(kept)
        told.append({"name": name, "text": kept, "cut": len(kept) < len(text)})
    return told


def _row(pool: Pool, number: int, checks: tuple[Check, ...]) -> str:
    """The outcomes of a candidate in these checks, a letter each."""
    seen = pool.seen[number]
    held = frozenset(replace(pool, checks=checks).held(number))
    letters = []
    for check in checks:
        if check.probe >= len(seen):
            letters.append(NOT_RUN)
        elif check in held:
            letters.append(LETTERS["passed"])
        else:
            outcome = seen[check.probe].outcome
            # It ran to its end, and gave something else than the check expects.
            letters.append(LETTERS["failed" if outcome == "passed" else outcome])
    return "".join(letters)


def _giver(probe: Probe) -> str:
    """Who gave a check that decides; what a contract promises is no input of its own."""
    if probe.origin == "task":
        return "task"
    return "person" if probe.origin == "person" or probe.asks else "contract"


def _proposer(same: Sequence[Check]) -> str:
    """Who proposed a check: a critic, the words of the task, or the contract of a service."""
    if any(each.ensemble > 0 for each in same):
        return "critic"
    return "words" if any(each.ensemble == BY_THE_WORDS for each in same) else "contract"


def _names(found: Sequence[str]) -> list[Json]:
    return [cut(each, LONGEST_NAME) for each in found[:MOST_NAMES]]
