"""Prompt templates, one Markdown file a role; what fills them is data and is never expanded."""

from importlib.resources import files
from string import Template


def render(name: str, **values: str) -> str:
    """The template `name` with its `$placeholders` filled."""
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(values)
