"""What plans and pieces of programs find in the starter knowledge and in packs.

    python -m bench.retrieval_programs [--root FOLDER] [--layer FOLDER] [--show]

Questions are worded as a plan names its pieces: a signature with its meaning, a requirement, a part
of a command or service. Packs are read as the product reads them: what is installed here, or what
Debian's packages hold that were unpacked under --root. Passages of packs and others have a
threshold each, chosen with the even questions and judged by the odd ones.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.retrieval_pieces import NAMES, PIECES, Asked, sentences
from bench.retrieval_texts import embedder
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.packs.catalogue import PACKS, Machine, places
from twinsmith.adapters.knowledge.packs.reading import read_places
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.core.knowing.knowledge import PACK, Channel

LANGUAGE_PACKS = ("python", "flask", "jwt", "go", "rust", "c", "cpp", "perl")
K = 3
LOOKED_AT = 30
LEAST = [n / 100 for n in range(30, 76, 5)]
MOST_WRONG = 0.2
"""Of the pieces that are told, at most so many may be wrong: a small model copies them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that was found."""

    score: float
    name: str
    right: bool
    pack: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a question found, best first."""

    asked: Asked
    hits: tuple[Hit, ...]

    @property
    def place(self) -> int:
        """Of the first right one among a few, counted from 1; 0 where there is none."""
        return next((n for n, hit in enumerate(self.hits[:K], 1) if hit.right), 0)


def judged(question: Asked, name: str) -> bool:
    return any(part.casefold() in name.casefold() for part in question.right)


async def answers(
    library: Library, questions: Sequence[Asked], channel: Channel | None = "dense"
) -> list[Found]:
    """As a build asks: by meaning, in the language of the program; None chooses by the question."""
    made = []
    for question in questions:
        found = await library.search(question.text, LOOKED_AT, question.language, channel)
        hits = tuple(
            Hit(
                score=hit.score,
                name=hit.passage.symbol,
                right=judged(question, hit.passage.symbol),
                pack=hit.passage.source.startswith(PACK),
            )
            for hit in found
        )
        made.append(Found(asked=question, hits=hits))
    return made


def figures(found: Sequence[Found]) -> str:
    """How many questions with an answer have it first, and among a few."""
    able = [each for each in found if each.asked.right]
    first, few = (sum(0 < each.place <= most for each in able) for most in (1, K))
    return f"hit@1 {first}/{len(able)}, hit@{K} {few}/{len(able)}"


def separation(found: Sequence[Found]) -> str:
    """Scores of right and wrong passages in the first place."""
    firsts = [each.hits[0] for each in found if each.hits]
    right = sorted(hit.score for hit in firsts if hit.right)
    wrong = sorted(hit.score for hit in firsts if not hit.right)
    return f"first and right: {spread(right)}; first and wrong: {spread(wrong)}"


def spread(scores: list[float]) -> str:
    if not scores:
        return "none"
    low, middle, high = (scores[int(share * (len(scores) - 1))] for share in (0.1, 0.5, 0.9))
    return f"{len(scores)}, {low:.2f} / {middle:.2f} / {high:.2f} (10th, 50th, 90th percentile)"


def at(found: Sequence[Found], least: float, most: int, *, pack: bool) -> tuple[int, ...]:
    """With a threshold: questions helped, questions only misled, pieces told, wrong ones."""
    helped = misled = told = wrong = 0
    for each in found:
        near = [hit.right for hit in each.hits if hit.pack == pack and hit.score >= least][:most]
        told, wrong = told + len(near), wrong + near.count(False)
        helped += any(near)
        misled += bool(near) and not any(near)
    return helped, misled, told, wrong


def thresholds(found: Sequence[Found], most: int, *, pack: bool) -> None:
    """A table by threshold; the one that the even questions choose, judged by the odd ones."""
    even, odd = found[::2], found[1::2]
    whose = "packs" if pack else "starter"
    print(f"{whose}, up to {most} told: helped, misled, told, wrong; chosen with | judged by")
    for least in LEAST:
        cells = (
            "".join(f"{n:>5}" for n in at(half, least, most, pack=pack)) for half in (even, odd)
        )
        print(f"{least:6.2f}  " + "  |".join(cells))
    fit = [least for least in LEAST if _precise(even, least, most, pack=pack)]
    if not fit:
        print(f"no threshold tells at most {MOST_WRONG:.0%} wrong pieces")
        return
    helped, misled, told, wrong = at(odd, fit[0], most, pack=pack)
    able = sum(bool(each.asked.right) for each in odd)
    print(
        f"proposed: {fit[0]:.2f}, the least at which at most {MOST_WRONG:.0%} of pieces told are "
        f"wrong; on the other half {helped} of {able} helped, {misled} of {len(odd)} only misled, "
        f"{wrong} of {told} pieces wrong"
    )


def _precise(found: Sequence[Found], least: float, most: int, *, pack: bool) -> bool:
    _, _, told, wrong = at(found, least, most, pack=pack)
    return told > 0 and wrong <= MOST_WRONG * told


def show(found: Sequence[Found]) -> None:
    for each in found:
        mark = each.place or ("-" if each.asked.right else "none")
        print(f"{mark!s:>4} {each.asked.language:<7}{each.asked.text[:90]}")
        for hit in each.hits[:K]:
            print(f"{'':>8}{hit.score:.2f} {'right' if hit.right else 'wrong'}  {hit.name[:90]}")


async def add_packs(library: Library, machine: Machine) -> None:
    for name in LANGUAGE_PACKS:
        found = places(PACKS[name], machine)
        if not found:
            print(f"pack {name}: not here; {PACKS[name].install}")
            continue
        read = read_places(found, lambda _done, _total: None)
        began = time.monotonic()
        added = await library.add_pack(read, PACKS[name].source, lambda _done, _path: None)
        seconds = time.monotonic() - began
        brought = ", ".join(sorted({place.origin.package for place in found}))
        print(
            f"pack {name}: {added.passages} passages of {brought} in {seconds:.0f} s, "
            f"{added.passages / seconds:.0f} a second, {read.left_out} left out"
        )


async def measure(machine: Machine, *, shown: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, model = SqliteStore(Path(folder) / "knowledge.db"), embedder(threads=2)
        library = Library(store, Path(folder), model, SystemClock(), "bench", least_cosine=0.0)
        await library.add_starter()
        for what in ("starter alone", "starter and packs"):
            if what == "starter and packs":
                await add_packs(library, machine)
            named = await answers(library, NAMES, channel=None)
            print(f"\nnames and what compilers say, {what}: {figures(named)}")
            if shown:
                show(named)
            for kind, asked in (("pieces", PIECES), ("whole sentences", sentences())):
                found = await answers(library, asked)
                print(f"\n{kind}, {what}: {library.stats().passages} passages; {figures(found)}")
                print(separation(found))
                if shown:
                    show(found)
                for most in (1, K):
                    thresholds(found, most, pack=False)
                    if what == "starter and packs":
                        thresholds(found, most, pack=True)
        await library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path("/"))
    layers = sorted(Path.home().glob(".cache/twinsmith-tests/sandbox/layers/python-*"))
    parser.add_argument("--layer", type=Path, default=layers[-1] if layers else None)
    parser.add_argument("--show", action="store_true", help="each question and what it found")
    options = parser.parse_args()
    asyncio.run(measure(Machine(root=options.root, layer=options.layer), shown=options.show))


if __name__ == "__main__":
    main()
