"""Prompt templates, one Markdown file a role; what fills them is data and is never expanded."""

import hashlib
from functools import cache
from importlib.resources import files
from string import Template

LONGEST_VERSION = 12


def render(name: str, **values: str) -> str:
    """The template `name` with its `$placeholders` filled."""
    return Template(_text(name)).substitute(values)


@cache
def version(name: str) -> str:
    """The version of the template `name`: it is another one as soon as a letter has changed."""
    return hashlib.sha256(_text(name).encode()).hexdigest()[:LONGEST_VERSION] if name else ""


def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
