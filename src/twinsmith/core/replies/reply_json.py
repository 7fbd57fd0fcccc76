"""The JSON in a model's reply."""

import json
import re
from collections.abc import Mapping

from twinsmith.core.errors import BadReply

LONGEST_WORDS = 300
_ECHO = re.compile(r"leaves something open|\bthat changes results\b|\bstays? empty\b")
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def value_in(text: str, what: str) -> object:
    """The JSON value in a reply, bare or in a fence; BadReply names `what` it should be."""
    fenced = _FENCED.search(text)
    try:
        value: object = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"{what} is not JSON ({error})") from None
    return value


def object_in(text: str, what: str) -> Mapping[str, object]:
    """The JSON object in a reply; BadReply names `what` it should be."""
    raw = value_in(text, what)
    if not isinstance(raw, dict):
        raise BadReply(f"{what} is not a JSON object")
    return raw


def object_schema(properties: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of an object that has all of these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def words(raw: Mapping[str, object], name: str) -> str:
    """A text of a JSON object in one line and of a bounded length; empty where it is none."""
    value = raw.get(name)
    return " ".join(value.split())[:LONGEST_WORDS] if isinstance(value, str) else ""


def open_question(raw: Mapping[str, object]) -> tuple[str, str]:
    """The question that a task leaves open, and the usual answer; both or neither.

    Small models give back the words in which they were asked.
    """
    question, assumed = words(raw, "question"), words(raw, "assumed")
    asks = question and assumed and not _ECHO.search(f"{question} {assumed}")
    return (question, assumed) if asks else ("", "")
