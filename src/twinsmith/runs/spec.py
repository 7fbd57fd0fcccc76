"""Reading the OpenAPI document that a person gives in a file or within the task."""

import json
import re

import yaml

from twinsmith.core.errors import ConfigError
from twinsmith.core.planning.spec import contract_from

_FENCED = re.compile(r"```(?:ya?ml|json)?[ \t]*\n(.*?)```", re.DOTALL)
_YAML = re.compile(r"^(?:openapi|swagger): *[\"']?\d", re.MULTILINE)
_JSON = re.compile(r"\"(?:openapi|swagger)\"\s*:\s*\"\d")
MOST_VALUES = 200_000
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""What the reader raises itself for values such as 2026-99-99 or `!!int ""`."""
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)


def read_spec(text: str, name: str) -> str:
    """An OpenAPI document as JSON text; ConfigError says in a line what is wrong with it."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())[:160]
        raise ConfigError(f"{name} is neither YAML nor JSON: {said}; mend it") from None
    except RecursionError:
        raise ConfigError(f"{name} is nested too deeply; make it flatter") from None
    except _UNREADABLE:
        raise ConfigError(
            f"{name} has a value that is not what it says: a date that is none, a tag; mend it"
        ) from None
    if not isinstance(document, dict):
        raise ConfigError(f"{name} is no OpenAPI document: it is not an object; mend it")
    if _size(document, {}) > MOST_VALUES:
        raise ConfigError(f"{name} holds more than {MOST_VALUES} values; leave some out")
    try:
        told = json.dumps(document, default=str)
    except (ValueError, RecursionError):
        raise ConfigError(f"{name} refers to itself without end; mend it") from None
    except TypeError:
        raise ConfigError(f"{name} has a date or a list as a name; put it in quotes") from None
    # Read once more by the flow; here, so that a mistake is told before anything starts.
    contract_from(json.loads(told))
    return told


def spec_in(task: str) -> str:
    """The OpenAPI document that was pasted into a task; empty where there is none."""
    parts = [match[1] for match in _FENCED.finditer(task)]
    bare = _YAML.search(task) or (_OBJECT.search(task) if _JSON.search(task) else None)
    parts += [task[bare.start() :]] if bare else []
    found = next((part for part in parts if _YAML.search(part) or _JSON.search(part)), "")
    return read_spec(found, "the OpenAPI document in the task") if found else ""


def _size(value: object, known: dict[int, int]) -> int:
    """How many values there are, counting what is referred to wherever it is: that can explode."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = 1  # one that refers to itself is told below
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(min(_size(each, known), MOST_VALUES) for each in inner)
    return known[id(value)]
