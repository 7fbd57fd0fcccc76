"""What goes over the wire about versions: what is asked for, and what is answered."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from twinsmith.client.shapes import Asked, Name
from twinsmith.core.trying.versions import InForce, Kind, State

Model = Annotated[str, Field(max_length=300)]


class Again(Asked):
    """A run that is built again with the versions of then; `near` is content with others."""

    near: bool = False


class Given(Asked):
    """A value that is put in force: a model of a role, a setting, a template by its version."""

    key: Name
    value: Model


class Named(Asked):
    """A model or version, or a key of what is in force."""

    what: Model


class Challenged(Asked):
    """A model that gets a share of a role's calls, within guards such as `unusable<=0.1`."""

    role: Name
    model: Model
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    guards: Annotated[tuple[Name, ...], Field(max_length=10)] = ()


class Stopped(Asked):
    """A role whose challenger gets no more calls."""

    role: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """One version with what it is in now, who decided that, and when it took part."""

    kind: Kind
    name: str
    version: str
    state: State
    by: str
    at: str
    first: str
    last: str
    text: str
    """What is public of it: values of settings, a file's hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All versions, and what is in force of them."""

    in_force: tuple[InForce, ...]
    versions: tuple[VersionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """Whether a model is retired only now."""

    retired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was taken back, a line each."""

    restored: tuple[str, ...]
