"""The raw model: one greedy answer to the plain sentence, taken and started as it is."""

import re

from bench.programs_asked import Asked
from bench.programs_truth import Delivered
from twinsmith.core.model import Prompt
from twinsmith.core.wording import spoken

LONGEST_REPLY = 4096
_FENCED = re.compile(r"^ {0,3}```[^\n]*\n(.*?)(?:^ {0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


def prompt_of(asked: Asked) -> Prompt:
    """The sentence with its language, and for a service where it has to listen."""
    service = (
        "\nIt listens on 127.0.0.1 and on the port in the environment variable PORT."
        if asked.kind == "service"
        else ""
    )
    text = (
        f"Write this program in {spoken(asked.language)}, as one whole file in one fenced code "
        f"block.\n\n{asked.text}\n{service}"
    )
    return Prompt(
        key=f"raw/{asked.name}",
        role="coder",
        nth=0,
        text=text.rstrip() + "\n",
        task=asked.text,
        seed=0,
        max_tokens=LONGEST_REPLY,
        temperature=0.0,
    )


def answered(asked: Asked, answer: str) -> Delivered:
    """The program in an answer: its longest block of code, or all of it where there is none."""
    blocks = _FENCED.findall(answer)
    source = max(blocks, key=len) if blocks else answer
    return Delivered(language=asked.language, source=source)
