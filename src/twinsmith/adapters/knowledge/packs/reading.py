"""A pack in, its articles out: bounded, each text once, and a line for what cannot be read."""

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from twinsmith.adapters.knowledge.packs.article import LARGEST_FILE, Article, Place
from twinsmith.core.knowing.knowledge import Skipped

MOST_PASSAGES = 3000
"""Of a pack: a minute or two of embedding on two cores."""

# Nothing that is read may move a cursor or end a passage.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read of a pack."""

    articles: tuple[Article, ...]
    skipped: tuple[Skipped, ...]
    left_out: int
    """Passages beyond the most that a pack may have."""

    @property
    def passages(self) -> int:
        """How many there are."""
        return sum(len(article.parts) for article in self.articles)


def read_places(
    places: list[Place], told: Callable[[int, int], None], most: int = MOST_PASSAGES
) -> Read:
    """Read files in their order; what two of them say in the same words is told once."""
    articles: list[Article] = []
    skipped: list[Skipped] = []
    seen: set[str] = set()
    left_out, room = 0, most
    for number, place in enumerate(places, 1):
        read = _article(place)
        told(number, len(places))
        if isinstance(read, Skipped):
            skipped.append(read)
            continue
        new = [part for part in read.parts if part.text not in seen]
        new = list({part.text: part for part in new}.values())
        seen.update(part.text for part in new)
        left_out += max(len(new) - room, 0)
        if new := new[:room]:
            room -= len(new)
            articles.append(replace(read, parts=tuple(new)))
    return Read(articles=tuple(articles), skipped=tuple(skipped), left_out=left_out)


def _article(place: Place) -> Article | Skipped:
    try:
        text = _text(place)
        return Article(place=place, parts=tuple(place.read(text, place.about)))
    except (OSError, ValueError, SyntaxError, RecursionError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return Skipped(path=place.path, reason=reason)


def _text(place: Place) -> str:
    """The text of a file, unpacked where it is packed; neither is read beyond a bound."""
    with place.file.open("rb") as file:
        if place.file.suffix != ".gz":
            data = file.read(LARGEST_FILE + 1)
        else:
            with gzip.GzipFile(fileobj=file) as packed:
                data = packed.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE:,} bytes")
    return _CONTROLS.sub("", data.decode("utf-8", "replace"))
