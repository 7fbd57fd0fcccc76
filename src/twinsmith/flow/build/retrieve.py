"""A task in, pieces of knowledge about it out: few, and only what is near."""

from dataclasses import replace

from twinsmith.core.knowing.knowledge import BUILT, PACK, Hit, program_in
from twinsmith.core.task import Job
from twinsmith.ports import Retriever

# One: of three that are as near as they have to be, every third was of no use (decision 6).
MOST_PIECES = 1
# Documentation and programs that are near, but not near enough, leave room for other pieces.
MOST_LOOKED_AT = 40
# Nearer than what answers a person's question: a small model is distracted by what is merely near.
LEAST_SCORE = 0.6
# Of one part of a program, which is asked for in fewer words (decision 6).
LEAST_SCORE_OF_PART = 0.45
# Tasks resemble each other in how they are worded: of 427 public ones 98 in 100 are this near to
# another at 0.5, 39 in 100 at 0.75, and those ask for nearly the same.
LEAST_SCORE_OF_BUILT = 0.75
LONGEST_PIECE = 1500


async def retrieve(job: Job, known: Retriever) -> tuple[Hit, ...]:
    """The pieces that belong to a task; none, where retrieval is switched off."""
    if not job.effort.retrieval:
        return ()
    # By its meaning, also where it names a function: the name alone says little of it.
    hits = await known.search(job.task.text, MOST_LOOKED_AT, job.task.language, "dense")
    near = [_without_task(hit) for hit in hits if hit.channel == "dense"]
    return tuple(hit for hit in near if _belongs(hit))[:MOST_PIECES]


async def retrieve_part(job: Job, meaning: str, known: Retriever) -> tuple[Hit, ...]:
    """The piece nearest to a part of a program, at most one, none of them built by earlier runs."""
    hits = await known.search(meaning, MOST_LOOKED_AT, job.task.language, "dense")
    near = [hit for hit in hits if hit.channel == "dense" and hit.passage.source != BUILT]
    belong = (h for h in near if not h.passage.source.startswith(PACK))
    return tuple(hit for hit in belong if hit.score >= LEAST_SCORE_OF_PART)[:MOST_PIECES]


def advice(pieces: tuple[Hit, ...]) -> str:
    """The retrieved pieces as a coder reads them."""
    if not pieces:
        return ""
    texts = [hit.passage.text.strip()[:LONGEST_PIECE] for hit in pieces]
    return "Pieces that are known to work; use what fits:\n\n" + "\n\n".join(texts)


def _without_task(hit: Hit) -> Hit:
    """The hit without the task of the earlier run that built it: the coder has its own."""
    if hit.passage.source != BUILT:
        return hit
    return replace(hit, passage=replace(hit.passage, text=program_in(hit.passage)))


def _belongs(hit: Hit) -> bool:
    if hit.passage.source.startswith(PACK):
        # Of documentation found by meaning, four in five passages were of no use.
        return False
    if hit.passage.source != BUILT:
        return hit.score >= LEAST_SCORE
    # A program that is cut does not work any more.
    return hit.score >= LEAST_SCORE_OF_BUILT and len(hit.passage.text) <= LONGEST_PIECE
