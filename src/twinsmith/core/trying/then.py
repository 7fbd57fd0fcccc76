"""The versions of an earlier run, and what of them is not to be had any more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinsmith.core import members
from twinsmith.core.events import Entry
from twinsmith.core.trying.versions import is_version, spelled

LONGEST_HASH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What took part in the result of a run, by its journal."""

    models: Mapping[str, tuple[tuple[str, str], ...]]
    """By place such as `1.coder`: the models that answered with their versions, first ones first;
    those that would have been asked where nobody was."""
    prompts: Mapping[str, str]
    settings: Mapping[str, str]
    """The settings that took part, their values as text."""
    twinsmith: str
    pipeline: str
    told: bool
    """Whether the run named its versions; one of an earlier release did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What can take part in a result now, as far as anybody knows."""

    models: Mapping[str, str]
    """By model: the version of its file here, or the latest that it has answered as."""
    prompts: frozenset[tuple[str, str]]
    """The templates by name and version whose texts are known."""
    pipeline: str
    script: str
    """The scripted model that answers instead of all others; empty where none does."""


def then_of(entries: Iterable[Entry]) -> Then:
    """What took part in the result of a run that its journal tells of."""
    versions: members.Object = {}
    answered: dict[str, dict[tuple[str, str], None]] = {}
    prompts: dict[str, str] = {}
    for entry in entries:
        data = entry.event.data
        if entry.event.kind == "run.started":
            versions = members.member(data, "versions")
        elif entry.event.kind == "model.replied" and members.text(data, "role"):
            place = f"{members.whole(data, 'ensemble') or 1}.{members.text(data, 'role')}"
            model = members.text(data, "model"), members.text(data, "version")
            answered.setdefault(place, {})[model] = None
            if members.text(data, "template"):
                prompts[members.text(data, "template")] = members.text(data, "template_version")
    wanted = members.member(versions, "models")
    settings = members.member(members.member(versions, "settings"), "values")
    return Then(
        models={**_wanted(wanted), **{place: tuple(each) for place, each in answered.items()}},
        prompts={**_texts(members.member(versions, "prompts")), **prompts},
        settings={key: as_text(value) for key, value in settings.items()},
        twinsmith=members.text(versions, "twinsmith"),
        pipeline=str(versions.get("pipeline", "")),
        told=bool(versions),
    )


def differences(then: Then, now: Now) -> tuple[str, ...]:
    """What of then is not to be had now, a line each; empty where all of it is."""
    found = []
    if not then.told:
        found.append("the run was begun by a release that did not name its versions")
    elif then.pipeline != now.pipeline:
        found.append(f"the pipeline is {now.pipeline}, it was {then.pipeline}")
    for model, version in sorted({each for models in then.models.values() for each in models}):
        found += _model_differs(model, version, now)
    for name, version in sorted(then.prompts.items()):
        if version and (name, version) not in now.prompts:
            found.append(f"the text of template {name!r} in version {version} is not known")
    return tuple(dict.fromkeys(found))


def asked_as_then(then: Then, *, near: bool) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The models of then as an arrangement names them; `near` is content with other versions."""
    return tuple(
        (place, tuple(dict.fromkeys(spelled(m, "" if near else v) for m, v in models)))
        for place, models in sorted(then.models.items())
        if models and not any(model.startswith("scripted:") for model, _ in models)
    )


def as_text(value: object) -> str:
    """The value of a setting as a person types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _model_differs(model: str, version: str, now: Now) -> list[str]:
    scripted = model.startswith("scripted:")
    if scripted or now.script:
        if model == now.script or (not scripted and model in now.models):
            return []
        return [f"{now.script or 'no script'} answers instead of {model}"]
    known = now.models.get(model)
    if model.startswith("embedded:") and not known:
        return [f"{model} is not installed"]
    if known and version and not is_version(known, version):
        return [f"{model} is of version {known} now, it was {version}"]
    return []


def _wanted(models: members.Object) -> dict[str, tuple[tuple[str, str], ...]]:
    """The models that each place would have asked first; only files have a version before."""
    return {
        place: tuple(
            (members.text(each, "model"), _hash_in(members.text(each, "version")))
            for each in members.objects(models, place)
        )
        for place in models
    }


def _hash_in(told: str) -> str:
    """A version that is the hash of a file; nobody knew any other before a reply."""
    return told if len(told) == LONGEST_HASH and not told.strip("0123456789abcdef") else ""


def _texts(values: members.Object) -> dict[str, str]:
    return {key: value for key, value in values.items() if isinstance(value, str)}
