"""Figures of a journal by other means: plain loops over its lines, for what analysis is held to."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Line = dict[str, Any]
Key = tuple[str, ...]
NOTICES = frozenset(("advisory", "certificate", "end of life"))


@dataclass(slots=True)
class Told:
    """One run, as its own lines tell it."""

    name: str
    lines: list[Line]
    start: Line = field(default_factory=dict)
    end: Line = field(default_factory=dict)
    judged: Line = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.lines:
            match line["kind"]:
                case "run.started":
                    self.start = line["data"]
                case "run.ended":
                    self.end = line["data"]
                case "candidates.judged":
                    self.judged = line["data"]

    @property
    def replies(self) -> list[Line]:
        return [each["data"] for each in self.lines if each["kind"] == "model.replied"]

    @property
    def solved(self) -> bool:
        return bool(self.end.get("state") == "solved")

    @property
    def over(self) -> bool:
        return self.end.get("state") in ("solved", "not solved")

    def alike(self) -> list[int]:
        """The candidates that did the same as the winner everywhere, that one among them."""
        winner = self.end.get("winner")
        same: list[list[int]] = [each for each in self.judged["clusters"] if winner in each]
        return same[0] if same else []


def lines_of(path: Path) -> list[Line]:
    """The lines of one chain."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def runs_of(folder: Path) -> Iterator[Told]:
    """Every run of a journal in files."""
    for path in sorted((folder / "runs").glob("*.jsonl")):
        yield Told(path.stem, lines_of(path))


def calls(folder: Path, key: Callable[[Told, Line], Key]) -> dict[Key, Counter[str]]:
    """What calls took, added up line by line."""
    found: dict[Key, Counter[str]] = {}
    for run in runs_of(folder):
        for data in run.replies:
            told = found.setdefault(key(run, data), Counter())
            told["answered"] += 1
            told["read"] += "unusable" in data
            told["unusable"] += bool(data.get("unusable"))
            told["repaired"] += bool(data.get("repairs"))
            told["cut"] += data["cut"]
            told["cached"] += data["cached"]
            if not data["cached"]:
                told["tokens_in"] += data["tokens_in"]
                told["tokens_out"] += data["tokens_out"]
                told["micros"] += round(data["usd"] * 1e6)
                told["millis"] += round(data["seconds"] * 1e3)
    return found


def seconds(folder: Path, role: str) -> list[float]:
    """What each call of a role took, in order of length."""
    return sorted(
        data["seconds"]
        for run in runs_of(folder)
        for data in run.replies
        if data["role"] == role and not data["cached"]
    )


def refusals(folder: Path) -> Counter[str]:
    """Tries that a provider refused, by the model that was tried."""
    return Counter(
        said.split(": ")[0]
        for run in runs_of(folder)
        for data in run.replies
        for said in data["failed_attempts"]
        if ": refused: " in said
    )


def work(folder: Path) -> Counter[str]:
    """What became of candidates, all of them together."""
    told: Counter[str] = Counter()
    good = held(folder)
    for run in runs_of(folder):
        for line in run.lines:
            if line["kind"] != "candidate.written":
                continue
            number = line["data"]["candidate"]
            won = run.solved and run.end["winner"] == number
            cells = run.judged["cells"].get(str(number), "")
            told["written"] += 1
            told["broken"] += bool(line["data"]["problem"])
            told["won"] += won
            told["ended"] += run.over
            told["accepted"] += run.solved and number in run.alike()
            told["tested"] += cells[:1] in ("p", "f")
            told["right"] += cells[:1] == "p"
            told["released"] += won and run.name in good
            told["held"] += won and good.get(run.name, False)
    return told


def held(folder: Path) -> dict[str, bool]:
    """The runs that were released, and whether without trouble."""
    trouble = {
        (each["data"]["app"], each["data"]["release"])
        for each in lines_of(folder / "system.jsonl")
        if each["kind"] == "incident.told"
        and each["data"]["stage"] != "closed"
        and each["data"]["text"].split(": ")[0] not in NOTICES
    }
    return {
        run.start["from"]: (run.end["app"], run.end["release"]) not in trouble
        for run in runs_of(folder)
        if run.start.get("kind") == "deploy"
    }


def checks(folder: Path) -> Counter[str]:
    """Checks that critics proposed, held against the accepted program."""
    told: Counter[str] = Counter()
    for run in runs_of(folder):
        asked = [each for each in run.replies if each["role"] == "critic"]
        usable = any(not each.get("unusable") for each in asked)
        if not run.solved or not usable:
            continue
        letters: str = run.judged["cells"][str(run.end["winner"])]
        for place, number in enumerate(run.judged["columns"]):
            known = next(each for each in run.judged["checks"] if each["number"] == number)
            if known["by"] == "critic" and letters[place] != ".":
                told["judged"] += 1
                told["agreed"] += letters[place] == "p"
    return told


def brier(folder: Path) -> tuple[int, float]:
    """How well confidence held against being solved: results, and the mean squared difference."""
    squares = [(run.end["confidence"] - run.solved) ** 2 for run in runs_of(folder) if run.over]
    return len(squares), sum(squares) / len(squares)


def parts(folder: Path) -> Counter[str]:
    """The runs that models took part in, and how many of them were solved."""
    ended = [run for run in runs_of(folder) if run.over]
    return Counter(runs=len(ended), solved=sum(run.solved for run in ended))


def part_of(values: Sequence[float], share: float) -> float:
    """The value below which a share of all lies, between neighbours in proportion."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
