"""A task in, what is known about it out: little, and only what is near."""

from twinsmith.core.knowledge import Hit
from twinsmith.core.task import Job
from twinsmith.ports import Retriever

MOST_PIECES = 3
# Nearer than what answers a person's question: a small model is distracted by what is merely near.
LEAST_SCORE = 0.5
LONGEST_PIECE = 1500


async def retrieve(job: Job, known: Retriever) -> tuple[Hit, ...]:
    """The pieces that belong to a task; none, where retrieval is switched off."""
    if not job.effort.retrieval:
        return ()
    hits = await known.search(job.task.text, MOST_PIECES, job.task.language)
    return tuple(hit for hit in hits if hit.channel == "dense" and hit.score >= LEAST_SCORE)


def advice(pieces: tuple[Hit, ...]) -> str:
    """Pieces as a coder reads them."""
    if not pieces:
        return ""
    texts = [hit.passage.text.strip()[:LONGEST_PIECE] for hit in pieces]
    return "Pieces that are known to work; use what fits:\n\n" + "\n\n".join(texts)
