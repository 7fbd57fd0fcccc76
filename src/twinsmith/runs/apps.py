"""Apps as a person sees them: where they are, how they stand, what they wrote."""

from dataclasses import dataclass

from twinsmith.core.driving import DrivingState
from twinsmith.core.errors import ConfigError, EngineError, Unknown
from twinsmith.core.operating.action import Action, Queued, before
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.instance import InstanceStatus, instance_name
from twinsmith.core.people.override import Override, holding
from twinsmith.runs.book import Book


@dataclass(frozen=True, slots=True, kw_only=True)
class AppView:
    """An app with how its serving release stands, and what holds or changes it."""

    app: App
    status: InstanceStatus | None
    override: Override | None
    under_way: tuple[str, ...] = ()
    """The runs of actions that are not over, in their order."""
    problem: str = ""
    """Why its host cannot be asked; empty where it can."""


def found(book: Book, name: str) -> App:
    """The app of that name; Unknown where there is none."""
    from twinsmith.wiring.delivering import apps_of

    apps = apps_of(book.settings)
    app = apps.get(name)
    if app is None:
        known = ", ".join(each.name for each in apps.listed())
        hint = f"there are: {known}" if known else "there is none yet: twinsmith deploy RUN"
        raise Unknown(f"app {name!r} is not known; {hint}")
    return app


async def views(book: Book) -> tuple[AppView, ...]:
    """Every app as it stands now."""
    from twinsmith.wiring.delivering import apps_of

    return tuple([await view(book, app) for app in apps_of(book.settings).listed()])


async def view(book: Book, app: App) -> AppView:
    """One app as it stands now."""
    from twinsmith.core.errors import HostError
    from twinsmith.wiring.delivering import hosting_of, overrides_of, queue_of_actions

    settings = book.settings
    status, problem = None, ""
    if app.serving:
        try:
            host = hosting_of(settings, app.host).host
            status = await host.status(instance_name(app.name, app.serving))
        except HostError as error:
            problem = str(error)
    return AppView(
        app=app,
        status=status,
        override=holding(overrides_of(settings).listed(), app.name),
        under_way=tuple(
            each.run for each in queue_of_actions(settings).listed() if each.app == app.name
        ),
        problem=problem,
    )


def releases(book: Book, name: str) -> tuple[Release, ...]:
    """The releases of an app, oldest first."""
    from twinsmith.wiring.delivering import releases_of

    return releases_of(book.settings).listed(found(book, name).name)


async def logs(book: Book, name: str, lines: int) -> str:
    """The last lines that the serving release of an app wrote, without its secrets."""
    from twinsmith.wiring.delivering import hosting_of, secrets_of

    app = found(book, name)
    if not app.serving:
        raise ConfigError(f"app {name} has no release that serves; see: twinsmith releases {name}")
    host = hosting_of(book.settings, app.host).host
    text = await host.logs(instance_name(app.name, app.serving), lines=lines)
    for secret in secrets_of(book.settings).of(app.name).values():
        text = text.replace(secret, "***")
    return text


def queued(book: Book, *, over: bool = False) -> tuple[Queued, ...]:
    """The execution queue in its order; with `over`, also what is done."""
    from twinsmith.wiring.delivering import queue_of_actions

    return queue_of_actions(book.settings).listed(over=over)


def wanted(book: Book) -> tuple[tuple[Action, DrivingState], ...]:
    """Every action that is not over with how its run stands, also one that no worker has taken."""
    found = []
    for each in book.driving.listed():
        try:
            given = book.given(each.run)
        except EngineError:
            continue
        if isinstance(given, Action):
            found.append((given, each.state))
    return tuple(found)


def in_front(book: Book, run: str) -> Queued | None:
    """The first action that has to be over before this one's turn comes; None where none has."""
    listed = queued(book)
    mine = next((each for each in listed if each.run == run), None)
    first = before(mine, listed) if mine is not None else ()
    return first[0] if first else None
