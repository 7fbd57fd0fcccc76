"""Figures of a made-up journal: recomputed by other means they agree to the last token."""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from bench.journals import Levels, Plan, day_of, write
from tests import tally
from twinsmith.adapters.journal.file_blocks import file_blocks
from twinsmith.analysis.facts import Facts
from twinsmith.analysis.figures import Only, rows, total, trusts
from twinsmith.core.behaviour.figures import Dimension, Row

DAYS = 12
PARTS = ("written", "broken", "won", "ended", "accepted", "tested", "right", "released", "held")


def shape(day: int) -> Levels:
    """Two models in turn, and a version that is new from day 8 on."""
    levels = Levels(right=0.35, version="2" if day >= 8 else "1")
    return replace(levels, model="google:gemini-2.5-flash") if day % 3 == 2 else levels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("journal")
    write(Plan(shape=shape, days=DAYS, runs=9, folder=place))
    return place


@pytest.fixture(scope="module")
def facts(folder: Path) -> Iterator[Facts]:
    told = Facts()
    told.take(file_blocks(folder, {}))
    yield told
    told.close()


def by(facts: Facts, *names: Dimension) -> dict[tuple[str, ...], Row]:
    return {row.key: row for row in rows(facts, names, Only())}


def counted(row: Row) -> Counter[str]:
    """The figures of a row in the units of the tally."""
    calls = row.calls
    names = ("answered", "cached", "tokens_in", "tokens_out", "read", "unusable", "repaired", "cut")
    told = Counter({name: getattr(calls, name) for name in names})
    told["micros"] = round(calls.usd * 1e6)
    told["millis"] = round(calls.seconds * 1e3)
    return told


def test_calls_agree_to_the_last_token_by_model_version_and_role(
    facts: Facts, folder: Path
) -> None:
    other = tally.calls(folder, lambda _, data: (data["model"], data["version"], data["role"]))
    mine = {key: counted(row) for key, row in by(facts, "model", "version", "role").items()}
    assert len(other) == 12
    assert {key: told for key, told in mine.items() if any(told.values())} == other


def test_calls_agree_by_everything_that_belongs_to_a_run(facts: Facts, folder: Path) -> None:
    other = tally.calls(
        folder,
        lambda run, data: (
            run.start["language"],
            run.start["kind"],
            str(data["ensemble"]),
            data["template"],
            run.name,
        ),
    )
    mine = by(facts, "language", "kind", "ensemble", "template", "run")
    asked = {key: counted(row) for key, row in mine.items() if row.calls.answered}
    assert asked == other


def test_how_long_calls_took_agrees(facts: Facts, folder: Path) -> None:
    for (role,), row in by(facts, "role").items():
        if not role:
            continue
        took = tally.seconds(folder, role)
        assert row.calls.whole.mean == pytest.approx(mean(took))
        assert row.calls.whole.p50 == pytest.approx(tally.part_of(took, 0.5))
        assert row.calls.whole.p95 == pytest.approx(tally.part_of(took, 0.95))


def test_tries_in_vain_count_for_the_model_that_was_tried(facts: Facts, folder: Path) -> None:
    refused = {
        key[0]: row.calls.refused for key, row in by(facts, "model").items() if row.calls.refused
    }
    assert refused == tally.refusals(folder)
    assert refused


def test_what_became_of_candidates_agrees_by_each_of_three_truths(
    facts: Facts, folder: Path
) -> None:
    whole = total(facts, Only()).work
    other = tally.work(folder)
    assert Counter({name: getattr(whole, name) for name in PARTS}) == other
    assert 0 < other["held"] < other["released"], "the journal has releases with trouble"


def test_checks_of_critics_and_runs_agree(facts: Facts, folder: Path) -> None:
    whole = total(facts, Only())
    checks = tally.checks(folder)
    assert (whole.checks.judged, whole.checks.agreed) == (checks["judged"], checks["agreed"])
    other = tally.parts(folder)
    assert (whole.part.runs, whole.part.solved) == (other["runs"], other["solved"])


def test_how_well_confidence_held_agrees(facts: Facts, folder: Path) -> None:
    results, score = tally.brier(folder)
    trust = next(
        each for each in trusts(facts, Only()) if (each.model, each.truth) == ("", "outcome")
    )
    assert trust.results == results == sum(each.results for each in trust.table)
    assert trust.brier == pytest.approx(score)
    for line in trust.table:
        assert line.least <= line.said <= line.most
        assert 0 <= line.held <= 1


def test_groups_add_up_to_the_whole(facts: Facts) -> None:
    whole = total(facts, Only())
    groups = [row.calls for row in by(facts, "model", "version", "role", "day").values()]
    assert sum(each.tokens_in for each in groups) == whole.calls.tokens_in
    assert sum(each.tokens_out for each in groups) == whole.calls.tokens_out
    assert sum(each.answered for each in groups) == whole.calls.answered
    assert sum(each.usd for each in groups) == pytest.approx(whole.calls.usd, abs=1e-9)


def test_from_a_day_on_only_what_came_then_counts(facts: Facts) -> None:
    first = day_of(8)
    days = by(facts, "day")
    later = [row for (day,), row in days.items() if day >= first]
    told = total(facts, Only(since=first))
    assert 0 < told.calls.answered == sum(row.calls.answered for row in later)
    assert not total(facts, Only(since="2030-01-01")).calls.answered


def test_what_is_read_in_pieces_is_what_is_read_at_once(folder: Path, tmp_path: Path) -> None:
    """A journal that grows line by line, and breaks off within one, tells the same in the end."""
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True)
    grown, whole = Facts(), Facts()
    random_ = random.Random(4)
    paths = sorted(folder.rglob("*.jsonl"))
    while paths:
        for path in random_.sample(paths, min(9, len(paths))):
            target = home / path.relative_to(folder)
            have = target.stat().st_size if target.exists() else 0
            text = path.read_bytes()
            target.write_bytes(text[: have + random_.randrange(1, 4000)])
            if target.stat().st_size == len(text):
                paths.remove(path)
        grown.take(file_blocks(home, grown.offsets))
    whole.take(file_blocks(folder, {}))
    names: tuple[Dimension, ...] = ("model", "version", "role", "kind")
    mine, theirs = (
        {
            row.key: (counted(row), row.work, row.checks, row.part)
            for row in rows(each, names, Only())
        }
        for each in (grown, whole)
    )
    assert mine == theirs
    assert grown.read == whole.read
    before = grown.version
    grown.take(file_blocks(home, grown.offsets))
    assert grown.version == before, "nothing is read twice"
    for each in (grown, whole):
        each.close()


def test_a_chain_that_is_shorter_than_it_was_is_read_anew(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(folder, home)
    told = Facts()
    told.take(file_blocks(home, {}))
    path = next((home / "runs").glob("*.jsonl"))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]))
    told.take(file_blocks(home, told.offsets))
    (row,) = rows(told, (), Only(where={"run": path.stem}))
    other = tally.calls(home, lambda run, _: (run.name,))[path.stem,]
    assert row.calls.answered == other["answered"] == 1
    told.close()
