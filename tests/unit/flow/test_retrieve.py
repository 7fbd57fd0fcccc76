from dataclasses import replace

from tests.worlds import DOUBLE, TASK, job_of, passage, with_effort
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.core.knowing.knowledge import BUILT, MEANING_ENDS, Channel, Hit
from twinsmith.flow.build.retrieve import LONGEST_PIECE, MOST_PIECES, advice, retrieve


class Known(NothingKnown):
    """Finds what it was given."""

    def __init__(self, *hits: Hit) -> None:
        self._hits = hits

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        assert (query, language, channel) == (TASK, "python", "dense")
        return self._hits[:k]


def piece(score: float, text: str = "def twice(n): return n + n") -> Hit:
    return Hit(passage=passage(text), score=score, channel="dense")


def made(score: float, source: str = DOUBLE) -> Hit:
    """A program that an earlier run made."""
    text = f"double a number\n{MEANING_ENDS}\n{source}"
    return Hit(
        passage=replace(passage(text, path="r0"), source=BUILT), score=score, channel="dense"
    )


async def test_a_program_of_an_earlier_run_is_shown_without_its_task() -> None:
    (hit,) = await retrieve(job_of(), Known(made(0.75)))
    assert (hit.passage.text, hit.passage.source, hit.passage.path) == (DOUBLE, BUILT, "r0")
    assert advice((hit,)).endswith(f"use what fits:\n\n{DOUBLE.strip()}")


async def test_a_program_has_to_be_nearer_than_a_piece() -> None:
    near = await retrieve(job_of(), Known(made(0.74), piece(0.6), piece(0.59)))
    assert near == (piece(0.6),)


async def test_documentation_is_not_told_by_its_meaning() -> None:
    found = replace(piece(0.9), passage=replace(piece(0.9).passage, source="pack:python"))
    assert await retrieve(job_of(), Known(found)) == ()


async def test_programs_that_are_not_near_enough_push_no_piece_out() -> None:
    many = [made(0.7)] * 10 + [piece(0.6)] * 10
    assert await retrieve(job_of(), Known(*many)) == (piece(0.6),) * MOST_PIECES


async def test_a_program_is_shown_whole_or_not_at_all() -> None:
    whole, longer = "x" * LONGEST_PIECE, "x" * (LONGEST_PIECE + 1)
    assert len(await retrieve(job_of(), Known(made(0.9, whole)))) == 1
    assert await retrieve(job_of(), Known(made(0.9, longer))) == ()
    (cut,) = await retrieve(job_of(), Known(piece(0.9, longer)))
    assert advice((cut,)).endswith(f"\n\n{whole}")


async def test_what_was_found_by_words_says_nothing_about_a_task() -> None:
    assert await retrieve(job_of(), Known(replace(piece(9.0), channel="lexical"))) == ()


async def test_nothing_is_looked_up_where_retrieval_is_switched_off() -> None:
    assert await retrieve(with_effort(job_of(), retrieval=False), Known(piece(0.9))) == ()
    assert advice(()) == ""
