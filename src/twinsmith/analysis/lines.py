"""Lines of a journal, each checked by its own hash, those that figures are made of picked out.

The hash of a line covers all of it but the hash itself, which stands at its end. So nothing has to
be parsed to see that a line was altered, and what tells nothing of models is never parsed at all.
"""

import hashlib
from collections.abc import Iterator

from twinsmith.core.behaviour.figures import Read

TELLING = frozenset(
    (
        b"run.started",
        b"run.ended",
        b"kind.read",
        b"model.replied",
        b"model.failed",
        b"candidate.written",
        b"candidates.judged",
        b"insights.crossed",
        b"incident.told",
    )
)
"""The kinds of events that figures are made of."""
_KIND = b'"kind":"'
_HASH = b',"hash":"'
_END = len('"}')
_DIGEST = 64
_TAIL = len(_HASH) + _DIGEST + _END


def picked(text: bytes) -> tuple[list[bytes], Read]:
    """The lines of a block that tell something of models, and what became of all lines."""
    lines = list(_lines(text))
    kept: list[bytes] = []
    torn = altered = 0
    sha, size = hashlib.sha256, _TAIL
    for line in lines:
        if line[-size : -_DIGEST - _END] != _HASH or line[:1] != b"{":
            torn += 1
        elif sha(line[:-size] + b"}").hexdigest().encode() != line[-_DIGEST - _END : -_END]:
            altered += 1
        else:
            begin = line.find(_KIND) + len(_KIND)
            if line[begin : line.find(b'"', begin)] in TELLING:
                kept.append(line)
    return kept, Read(lines=len(lines), torn=torn, altered=altered)


def _lines(text: bytes) -> Iterator[bytes]:
    return (line for line in text.split(b"\n") if line)
