"""Versions of what takes part in results: noted, listed, pinned, promoted, retired, taken back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.model import ROLES
from twinsmith.core.trying.arrangement import (
    PLACES,
    PROMPT,
    ROUTES,
    SETTINGS,
    Arrangement,
    read_arrangement,
)
from twinsmith.core.trying.challenger import Challenge
from twinsmith.core.trying.versions import (
    KINDS,
    InForce,
    KnownVersion,
    State,
    Verb,
    Version,
    entries_of,
    is_version,
    model_and_version,
    spelled,
)
from twinsmith.runs.book import Book
from twinsmith.runs.noted import kept_template
from twinsmith.settings import Settings

if TYPE_CHECKING:
    from twinsmith.client.version_shapes import Overview, VersionRow


def overview(book: Book, kind: str = "") -> "Overview":
    """Every version of a kind; without one, of templates only the latest and what is decided."""
    from twinsmith.client.version_shapes import Overview
    from twinsmith.prompts import shipped, version_of
    from twinsmith.wiring.trying import forces_of, registry_of

    if kind and kind not in KINDS:
        raise ConfigError(f"versions of kind {kind!r} are not known; one of {', '.join(KINDS)}")
    entries = forces_of(book.settings).entries()
    known = registry_of(book.settings).listed()
    views = [_view(each, entries) for each in known if kind in ("", each.version.kind)]
    now = {(name, version_of(text)) for name, text in shipped().items()}
    shown = (
        each
        for each in views
        if kind
        or each.kind != "prompt"
        or each.state != "active"
        or (each.name, each.version) not in now
    )
    return Overview(in_force=entries, versions=tuple(shown))


def in_force(book: Book) -> tuple[InForce, ...]:
    """All that differs from the settings for new runs."""
    from twinsmith.wiring.trying import forces_of

    return forces_of(book.settings).entries()


def read(book: Book, words: Sequence[str], *, files: bool = True) -> Arrangement:
    """The arrangement that a person types; texts of templates are kept in the registry.

    Without `files` a template is named by its version: who types is not on this machine.
    """
    from twinsmith.wiring.trying import refuse_unknown

    found = read_arrangement(words, lambda name, value: _template(book, name, value, files=files))
    refuse_unknown(book.settings, found)
    return found


async def put_in_force(book: Book, arrangement: Arrangement, verb: Verb) -> tuple[InForce, ...]:
    """Let an arrangement hold for every new run; ConfigError where it could not."""
    from twinsmith.wiring.trying import forces_of, refuse_unknown

    settings = book.settings
    await asyncio.to_thread(refuse_unknown, settings, arrangement)
    _refuse_told(settings, arrangement)
    await asyncio.to_thread(_refuse_retired, book, arrangement)
    by, at = book.actor.signature, SystemClock().now()
    entries = entries_of(arrangement, verb, by=by, at=at)
    forces = forces_of(settings)
    before = {each.key: each.value for each in await asyncio.to_thread(forces.entries)}
    # The model of a whole role takes the place of those of its ensembles.
    narrower = [f"{n}.{each.key}" for each in entries if each.key in ROLES for n in ENSEMBLES]
    await asyncio.to_thread(forces.put, entries, narrower)
    for each in entries:
        data: dict[str, Json] = {
            "key": each.key,
            "value": each.value,
            "before": before.get(each.key, ""),
        }
        await book.tell(SYSTEM, f"version.{verb}", data)
    await _end_challenges(book, arrangement)
    return entries


async def give(book: Book, key: str, value: str, verb: Verb, *, files: bool = True) -> InForce:
    """Put one value in force: a model of a role, a setting, or a template.

    A role that is pinned to a model asks nothing else; one that is promoted is asked first, and
    where it does not answer, those of the settings are. Without `files` a template is named by its
    version: who types is not on this machine.
    """
    if key in PLACES:
        await asyncio.to_thread(_refuse_missing, book.settings, _model(value))
        wanted = Arrangement(models=((key, (value, ROUTES) if verb == "promoted" else (value,)),))
    else:
        wanted = await asyncio.to_thread(read, book, [f"{_key(key)}={value}"], files=files)
    return (await put_in_force(book, wanted, verb))[0]


async def retire(book: Book, model: str) -> bool:
    """Let nobody ask a model, or a version of it, any more; False where that is so already."""
    from twinsmith.wiring.trying import registry_of

    name, version = await asyncio.to_thread(_known_model, book, model)
    for each in await asyncio.to_thread(in_force, book):
        asked = each.value.split(",") if each.key in PLACES else []
        if any(_covers((name, version), model_and_version(one)) for one in asked):
            raise ConfigError(
                f"{each.key} asks {each.value}, which {each.by} {each.verb}; "
                f"first: twinsmith models restore {each.key}"
            )
    retired = Version(kind="model", name=name, version=version)
    by, now = book.actor.signature, SystemClock().now()
    fresh = await asyncio.to_thread(registry_of(book.settings).retire, retired, by, now)
    if fresh:
        await book.tell(SYSTEM, "version.retired", {"key": spelled(name, version)})
    return fresh


async def restore(book: Book, what: str) -> tuple[str, ...]:
    """Take back what was pinned or promoted for a key, or that a model is retired."""
    from twinsmith.wiring.trying import forces_of, registry_of

    settings = book.settings
    if what in PLACES or what in SETTINGS or what.startswith(PROMPT):
        dropped = await asyncio.to_thread(forces_of(settings).drop, [what])
        if not dropped:
            known = [each.key for each in await asyncio.to_thread(in_force, book)]
            others = f"in force: {', '.join(known)}" if known else "nothing is"
            raise ConfigError(f"{what} was neither pinned nor promoted; {others}")
        told = [f"{each.key} is no longer {each.verb} to {each.value}" for each in dropped]
        data: dict[str, Json] = {"key": what, "before": dropped[0].value}
    else:
        name, version = await asyncio.to_thread(_known_model, book, what)
        wanted = Version(kind="model", name=name, version=version)
        if not await asyncio.to_thread(registry_of(settings).retire, wanted, "", ""):
            raise ConfigError(f"{what} is not retired; see: twinsmith models versions")
        told = [f"{what} may be asked again"]
        data = {"key": spelled(name, version), "before": "retired"}
    await book.tell(SYSTEM, "version.restored", data)
    return tuple(told)


async def end_challenge(book: Book, ended: Challenge) -> bool:
    """Keep and journal how a challenge ended; False where it had ended."""
    from twinsmith.wiring.trying import challengers_of

    if not await asyncio.to_thread(challengers_of(book.settings).end, ended):
        return False
    data: dict[str, Json] = {
        "id": ended.id,
        "role": ended.role,
        "model": ended.model,
        "course": ended.course,
        "why": ended.why,
    }
    await book.tell(SYSTEM, "challenger.ended", data, key=f"challenger.ended:{ended.id}")
    return True


async def _end_challenges(book: Book, arrangement: Arrangement) -> None:
    """End the challenges of roles that ask something else from now on."""
    from twinsmith.wiring.trying import challengers_of

    running = await asyncio.to_thread(challengers_of(book.settings).running)
    for place, names in arrangement.models:
        for each in running:
            if place.rpartition(".")[2] == each.role:
                ended = replace(
                    each,
                    course="promoted" if names[0] == each.model else "stopped",
                    ended=SystemClock().now(),
                    ended_by=book.actor.signature,
                    why=f"{place} asks {', '.join(names)} from now on",
                )
                await end_challenge(book, ended)


def _template(book: Book, name: str, value: str, *, files: bool) -> str:
    from twinsmith.wiring.trying import registry_of

    if registry_of(book.settings).get("prompt", name, value) is not None:
        return value
    if not files:
        raise ConfigError(f"template {name!r} has no version {value!r}; see the list of versions")
    try:
        text = Path(value).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(
            f"prompt.{name}={value}: no file that can be read ({why}), and no version of this "
            "template; see: twinsmith models versions"
        ) from None
    return kept_template(book.settings, name, text)


def refuse_model(book: Book, place: str, model: str) -> None:
    """ConfigError where a role cannot be given a model."""
    _refuse_missing(book.settings, _model(model))
    wanted = Arrangement(models=((place, (model,)),))
    _refuse_told(book.settings, wanted)
    _refuse_retired(book, wanted)


def _key(key: str) -> str:
    if "." not in key:
        raise ConfigError(
            f"role {key!r} is unknown; one of {', '.join(ROLES)}, or of one ensemble: 1.coder"
        )
    return key


def _known_model(book: Book, what: str) -> tuple[str, str]:
    """The model and version that a person means: one that took part, or that could."""
    from twinsmith.wiring.trying import registry_of

    name, version = model_and_version(what)
    if all(each.version.name != name for each in registry_of(book.settings).listed("model")):
        _model(what)
    return name, version


def _model(name: str) -> str:
    from twinsmith.wiring.models import endpoint_of

    endpoint_of(name)
    return name


def _refuse_told(settings: Settings, arrangement: Arrangement) -> None:
    """ConfigError where the environment says otherwise: that goes before what is in force."""
    from twinsmith.wiring.trying import told_here

    keys = [key for key, _ in arrangement.settings]
    for place, _ in arrangement.models:
        number, _, role = place.rpartition(".")
        keys += [f"ensemble_{n}.{role}" for n in ENSEMBLES if number in ("", str(n))]
    for key in keys:
        if told_here(settings, key):
            raise ConfigError(
                f"{key} is set by {settings.sources[key]} in the environment, which goes before "
                "what is pinned or promoted; unset it first"
            )


def _refuse_retired(book: Book, arrangement: Arrangement) -> None:
    from twinsmith.wiring.trying import registry_of

    known = [each for each in registry_of(book.settings).listed("model") if each.retired_by]
    for _, names in arrangement.models:
        for name in names:
            for each in known:
                retired = (each.version.name, each.version.version)
                if _covers(retired, model_and_version(name)):
                    raise ConfigError(
                        f"{spelled(*retired)} was retired by {each.retired_by} on "
                        f"{each.retired_at[:10]}; first: twinsmith models restore "
                        f"{spelled(*retired)}"
                    )


def _covers(retired: tuple[str, str], asked: tuple[str, str]) -> bool:
    """Whether what is retired leaves nothing of what is asked: all of it, or the one version."""
    if retired[0] != asked[0]:
        return False
    return not retired[1] or (bool(asked[1]) and is_version(retired[1], asked[1]))


def _refuse_missing(settings: Settings, model: str) -> None:
    """ConfigError where an embedded model is not here, or its file is another one."""
    from twinsmith.wiring.trying import file_hash

    name, version = model_and_version(model)
    provider, _, short = name.partition(":")
    if provider != "embedded":
        return
    from twinsmith.adapters.models.catalogue import find_language

    digest = file_hash(settings, find_language(short).name)
    if not digest:
        raise ConfigError(f"{name} is not installed; first: twinsmith models install {short}")
    if not is_version(f"{short}@{digest[:12]}", version):
        raise ConfigError(f"the file of {name} here has the version {short}@{digest[:12]}")


def _view(known: KnownVersion, entries: Sequence[InForce]) -> "VersionRow":
    """A version with its state: what is in force of it, unless it is retired."""
    from twinsmith.client.version_shapes import VersionRow

    it = known.version
    meant = next((each for each in entries if _is_meant(it, each)), None)
    state: State = "retired" if known.retired_by else meant.verb if meant else "active"
    by, at = (meant.by, meant.at) if meant else ("", "")
    return VersionRow(
        kind=it.kind,
        name=it.name,
        version=it.version,
        state=state,
        by=known.retired_by or by,
        at=known.retired_at or at,
        first=known.first,
        last=known.last,
        text="" if it.kind == "prompt" else it.text,
    )


def _is_meant(it: Version, entry: InForce) -> bool:
    """Whether a version is what an entry puts in force."""
    match it.kind:
        case "model":
            asked = entry.value.split(",") if entry.key in PLACES else []
            pairs = (model_and_version(one) for one in asked)
            return any(name == it.name and is_version(it.version, v) for name, v in pairs)
        case "prompt":
            return entry.key == f"{PROMPT}{it.name}" and entry.value == it.version
        case "settings" | "twinsmith" | "pipeline":
            return False
        case _:
            assert_never(it.kind)
