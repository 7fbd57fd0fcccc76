"""Sources after repair."""

from twinsmith.core.program import Kind
from twinsmith.core.replies.repair import Repaired, repair


def mended(
    source: str, language: str = "python", *, entry: str = "f", kind: Kind = "function"
) -> str:
    """The source after repair; a second one finds nothing to do."""
    done = repair(source, language=language, entry=entry, kind=kind)
    assert bool(done.repairs) == (done.source != source)
    again = repair(done.source, language=language, entry=entry, kind=kind)
    assert again == Repaired(source=done.source)
    return done.source
