"""What a run's result depends on besides its task, where it differs from the settings.

Arrangements lie one over the other: what is in force in the database, what an experiment tries,
what a person tells `build`. A job carries the whole of it, so that every worker asks the same
models with the same templates, after a kill too.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from twinsmith.core.effort import ENSEMBLES, Effort
from twinsmith.core.errors import ConfigError
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.model import ROLES, Role

PROMPT = "prompt."
ROUTES = "*"
"""Among models that are asked: those that the settings choose, in their order."""
SETTINGS: tuple[str, ...] = (
    *(f"build.{field.name}" for field in fields(Effort)),
    "build.voting",
    *(f"quality.{field.name}" for field in fields(Thresholds)),
    "quality.review",
    "quality.sanitize",
    "gateway.reply_tokens",
)
"""The settings that take part in a result. A seed and budgets are told with each run."""
PLACES: tuple[str, ...] = (*ROLES, *(f"{number}.{role}" for number in ENSEMBLES for role in ROLES))
"""Whom a model is given to: a role, or the role of one ensemble."""

Template = Callable[[str, str], str]
"""The version that a person means: a template's name, and a file or a version, in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """What a run's result depends on besides its task, where it differs from the settings."""

    settings: tuple[tuple[str, str], ...] = ()
    """Settings with their values as text: `("build.votes", "2")`."""
    models: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The models of a role, or of the role of one ensemble: `("1.coder", ("openai:x",))`."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Templates by their versions, whose texts the registry keeps."""

    def __bool__(self) -> bool:
        """Whether anything differs from the settings."""
        return bool(self.settings or self.models or self.prompts)

    def asks(self, role: Role, ensemble: int) -> tuple[str, ...]:
        """The models that a role of an ensemble asks; none: those of the settings."""
        models = dict(self.models)
        return models.get(f"{ensemble}.{role}") or models.get(role, ())

    @property
    def words(self) -> tuple[str, ...]:
        """The arrangement as a person types it, a word for each difference."""
        return (
            *(f"{key}={value}" for key, value in self.settings),
            *(f"{place}={','.join(names)}" for place, names in self.models),
            *(f"{PROMPT}{name}={version}" for name, version in self.prompts),
        )


AS_SET = Arrangement()


def over(below: Arrangement, above: Arrangement) -> Arrangement:
    """Two arrangements as one; what both tell of is as the upper one tells it.

    The model of a whole role also goes over those that lie below for one ensemble of it.
    """
    roles = {place for place, _ in above.models if "." not in place}
    models = {
        place: names for place, names in below.models if place.rpartition(".")[2] not in roles
    }
    return Arrangement(
        settings=_sorted({**dict(below.settings), **dict(above.settings)}),
        models=tuple(sorted({**models, **dict(above.models)}.items())),
        prompts=_sorted({**dict(below.prompts), **dict(above.prompts)}),
    )


def read_arrangement(words: Sequence[str], template: Template) -> Arrangement:
    """The arrangement that a person types, a word for each difference.

    A setting is told as `build.votes=2`, models as `coder=openai:gpt-4o-mini`, a template as
    `prompt.code=FILE`. ConfigError says what is wrong, and what was meant perhaps.
    """
    settings: dict[str, str] = {}
    models: dict[str, tuple[str, ...]] = {}
    prompts: dict[str, str] = {}
    for word in words:
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals or not key or not value:
            raise ConfigError(
                f"{word!r} tells no difference; for example: build.votes=2, "
                "coder=openai:gpt-4o-mini, prompt.code=FILE"
            )
        if key in settings or key in models or key.removeprefix(PROMPT) in prompts:
            raise ConfigError(f"{key!r} is told twice; tell it once")
        if key in SETTINGS:
            settings[key] = value
        elif key in PLACES:
            models[key] = names_in(value)
        elif key.startswith(PROMPT):
            name = key.removeprefix(PROMPT)
            prompts[name] = template(name, value)
        else:
            raise ConfigError(_unknown(key))
    return Arrangement(
        settings=_sorted(settings), models=tuple(sorted(models.items())), prompts=_sorted(prompts)
    )


def names_in(value: str) -> tuple[str, ...]:
    """The models of a list with commas; ConfigError where one of them is no `provider:model`."""
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in names:
        provider, colon, model = name.partition(":")
        if not (provider and colon and model):
            raise ConfigError(f"{name!r} is not a model; write provider:model")
    return names


def _sorted(texts: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(texts.items()))


def _unknown(key: str) -> str:
    near = difflib.get_close_matches(key, (*SETTINGS, *PLACES, f"{PROMPT}code"), n=1, cutoff=0)
    return (
        f"{key!r} takes no part in a result that could be tried; did you mean {near[0]!r}? "
        "What can be: settings of [build] and [quality], gateway.reply_tokens, a role or "
        "1.ROLE, prompt.NAME"
    )
