"""Which way of looking suits a question: by meaning, or by the words it is made of."""

import re

from twinsmith.core.knowledge import Channel

# Names as programs write them; what compilers and interpreters say.
_NAME = re.compile(r"\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|::|\w\.\w|\(\)|`")
_SAID = re.compile(
    r"\b(?:error|warning|panic|exception)\b\s*[:\[(]|\b[A-Z]\w*(?:Error|Exception|Warning)\b"
    r"|\b[Ee]\d{3,4}\b|\bSIG[A-Z]{3,}\b|undefined reference|segmentation fault|[Tt]raceback"
)


def channel_for(query: str) -> Channel:
    """Identifiers and error messages are found by their words, all else by what it means."""
    return "lexical" if _NAME.search(query) or _SAID.search(query) else "dense"
