"""The search for secrets in a text: those that are certain, and those that are likely."""

from collections.abc import Iterator
from functools import lru_cache

from twinsmith.core.sensitive.addresses import logins_in
from twinsmith.core.sensitive.blocks import blocks_in
from twinsmith.core.sensitive.formats import tokens_in
from twinsmith.core.sensitive.headers import headers_in
from twinsmith.core.sensitive.named import is_secret_name, named_in
from twinsmith.core.sensitive.places import Place
from twinsmith.core.sensitive.plausible import is_strong
from twinsmith.core.sensitive.spellings import Known, known_values
from twinsmith.core.sensitive.variables import names_in, secrets_in


@lru_cache(maxsize=16)
def known_to(secrets: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> Known:
    """Known secrets, and those that variables hold, prepared for the search."""
    environment = dict(variables)
    return known_values((*secrets, *secrets_in(environment)), names_in(environment))


def certain(text: str, known: Known) -> Iterator[Place]:
    """The places of known secrets, private keys, tokens, and certain logins in addresses."""
    yield from known.places(text)
    yield from blocks_in(text)
    yield from tokens_in(text)
    yield from logins_in(text, strong=True)


def likely(text: str) -> Iterator[Place]:
    """The places of logins in addresses, and of values whose names tell of secrets."""
    yield from logins_in(text)
    yield from named_in(text)
    yield from headers_in(text)


def in_comments(text: str) -> Iterator[Place]:
    """The places of likely secrets in lines that are comments and nothing else."""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith(("#", "//")):
            yield from ((at + begin, at + end) for begin, end in likely(line))
        at += len(line)


def is_named_secret(name: str, value: str) -> bool:
    """Whether a member of a JSON object is a secret by its name and its value."""
    return is_secret_name(name) and is_strong(value)
