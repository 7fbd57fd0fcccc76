"""Places in a text, and masking them."""

from collections.abc import Iterable, Iterator

MASK = "[masked]"

Place = tuple[int, int]
"""The begin and the end of a place in a text."""


def covered(text: str, places: Iterable[Place]) -> str:
    """The text with a mask over every place; places that overlap or touch get one."""
    parts: list[str] = []
    done = 0
    for begin, end in _joined(text, places):
        parts += (text[done:begin], MASK)
        done = end
    return "".join([*parts, text[done:]]) if parts else text


def found(text: str, wanted: str) -> Iterator[Place]:
    """The places where a string stands in a text."""
    begin = text.find(wanted)
    while begin >= 0:
        yield begin, begin + len(wanted)
        begin = text.find(wanted, begin + len(wanted))


def lowered(text: str) -> str:
    """The text in small letters, of the same length, so that places stay as they are."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _joined(text: str, places: Iterable[Place]) -> list[Place]:
    joined: list[Place] = []
    for begin, end in sorted(places):
        if MASK in text[begin:end] and text[begin:end].strip() == MASK:
            # What was masked before stays as it is.
            continue
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
