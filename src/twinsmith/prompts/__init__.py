"""Prompt templates, one Markdown file a role; what fills them is data and is never expanded.

A run may use other texts than those that are shipped: they hold for the block of `using`, and for
every task that is begun in it.
"""

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from string import Template
from types import MappingProxyType

from twinsmith.core.errors import ConfigError

LONGEST_VERSION = 12
_NONE: Mapping[str, str] = MappingProxyType({})
_instead: ContextVar[Mapping[str, str]] = ContextVar("templates in force", default=_NONE)


def render(name: str, **values: str) -> str:
    """The template `name` with its `$placeholders` filled."""
    return Template(_text(name)).substitute(values)


def version(name: str) -> str:
    """The version of the template `name`: it is another one as soon as a letter has changed."""
    if not name:
        return ""
    instead = _instead.get().get(name)
    return _shipped_version(name) if instead is None else version_of(instead)


def version_of(text: str) -> str:
    """The version of a template's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:LONGEST_VERSION]


@contextmanager
def using(texts: Mapping[str, str]) -> Iterator[None]:
    """Use these texts instead of the shipped templates of their names, within the block."""
    before = _instead.set(MappingProxyType(dict(texts)))
    try:
        yield
    finally:
        _instead.reset(before)


@cache
def shipped() -> Mapping[str, str]:
    """The text of every template that comes with twinsmith, by its name."""
    found = {
        each.name.removesuffix(".md"): each.read_text(encoding="utf-8")
        for each in files(__name__).iterdir()
        if each.name.endswith(".md")
    }
    return MappingProxyType(dict(sorted(found.items())))


def checked(name: str, text: str) -> str:
    """A text that can stand in for a template; ConfigError where something would not be filled."""
    if name not in shipped():
        (near,) = difflib.get_close_matches(name, shipped(), n=1, cutoff=0.0)
        raise ConfigError(f"there is no template {name!r}; did you mean {near!r}?")
    template, known = Template(text), set(Template(shipped()[name]).get_identifiers())
    if not template.is_valid():
        raise ConfigError(
            f"the text for template {name!r} holds a $ that begins no placeholder; write $$"
        )
    unknown = sorted(set(template.get_identifiers()) - known)
    if unknown:
        raise ConfigError(
            f"the text for template {name!r} holds ${unknown[0]}, which nothing fills; it may hold "
            f"{', '.join(f'${each}' for each in sorted(known)) or 'none'}"
        )
    return text


@cache
def _shipped_version(name: str) -> str:
    return version_of(_shipped(name))


def _text(name: str) -> str:
    instead = _instead.get().get(name)
    return _shipped(name) if instead is None else instead


def _shipped(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
