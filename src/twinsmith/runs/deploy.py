"""A wish of a person turned into an action with an app; what cannot be is said before it begins."""

from collections.abc import Mapping
from pathlib import Path

from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.app import rollback_target
from twinsmith.core.operating.deliverable import Deliverable, deliverable_in
from twinsmith.core.operating.instance import app_name, host_name
from twinsmith.core.telemetry import new_trace, place_of_run
from twinsmith.flow.traced import here
from twinsmith.runs.apps import found, releases
from twinsmith.runs.book import Book
from twinsmith.runs.package import result_in
from twinsmith.runs.submit import new_run

LOWEST_PORT = 1024


def deploying(
    book: Book,
    what: str,
    *,
    name: str = "",
    host: str = "",
    port: int = 0,
    replace: bool = False,
    secrets: Mapping[str, str] | None = None,
) -> Action:
    """The action that deploys a result; ConfigError says in one line why it cannot be."""
    from twinsmith.wiring.delivering import apps_of, is_free, secrets_of, terms_of

    settings = book.settings
    files, where = result_in(book, what)
    deliverable = deliverable_in(files, where)
    app = app_name(name or _named(deliverable, what))
    known = apps_of(settings).get(app)
    wanted = host_name(host or (known.host if known else settings.values.hosting.host))
    if known is not None and known.host != wanted:
        raise ConfigError(
            f"app {app} runs on {known.host}; deploy it there, or remove it first, or give "
            "another --name"
        )
    if port and (known is None or not known.serving or known.port != port):
        if known is not None and known.serving:
            raise ConfigError(f"app {app} has port {known.port}; leave --port out, or remove it")
        if not LOWEST_PORT <= port < 1 << 16:
            raise ConfigError(f"port {port} cannot be used; one from {LOWEST_PORT} to 65535")
        if not is_free(port):
            raise ConfigError(f"port {port} is taken by another program; give another --port")
    if secrets:
        secrets_of(settings).put(app, secrets)
    trace, link = _traced(book, deliverable.source.run)
    return Action(
        run=new_run(),
        kind="deploy",
        app=app,
        host=wanted,
        port=port,
        deliverable=deliverable,
        replace=replace,
        by=book.actor.signature,
        terms=terms_of(settings),
        trace=trace,
        link=link,
    )


def acting(
    book: Book, kind: ActionKind, name: str, *, to: int = 0, data: bool = False, why: str = ""
) -> Action:
    """Any other action with an app; ConfigError where there is no such app, or nothing to do."""
    from twinsmith.wiring.delivering import terms_of

    app = found(book, name)
    if kind == "rollback":
        rollback_target(app, releases(book, name), to)
    if kind in ("start", "stop", "restart") and not app.serving:
        raise ConfigError(f"app {name} has never served; deploy a version of it")
    said = book.settings.masking.text(" ".join(why.split()))
    return Action(
        run=new_run(),
        kind=kind,
        app=app.name,
        host=app.host,
        to=to,
        data=data,
        about=(f"{book.actor.name}: {said}",) if said else (),
        by=book.actor.signature,
        terms=terms_of(book.settings),
        trace=here() or new_trace().text,
    )


def _traced(book: Book, run: str) -> tuple[str, str]:
    """Where a release goes on, and where it was asked for.

    It goes on in the trace of the run that built it, where that is known here.
    """
    asked = here() or new_trace().text
    try:
        built = book.job(run)
    except EngineError:
        return asked, ""
    return place_of_run(run, built.trace).text, asked


def _named(deliverable: Deliverable, what: str) -> str:
    """A name for an app that nobody gave one: after the folder, else after the run."""
    folder = Path(what).expanduser()
    stem = folder.resolve().name if folder.is_dir() else ""
    plain = "".join(c if c.isalnum() else "-" for c in stem.lower()).strip("-")[:30]
    if plain[:1].isalpha() and plain not in ("result", "app") and plain.isascii():
        return plain
    return f"app-{(deliverable.source.run or deliverable.source.digest)[-4:]}"
