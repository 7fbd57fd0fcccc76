"""The application: the API and the console behind one guard, made from settings."""

from fastapi import FastAPI
from starlette.types import ASGIApp

from twinsmith import __version__
from twinsmith.settings import Settings
from twinsmith.web.addresses import names_of
from twinsmith.web.api.analysis import analysis
from twinsmith.web.api.apps import apps
from twinsmith.web.api.experiments import experiments
from twinsmith.web.api.journal import journal
from twinsmith.web.api.known import known
from twinsmith.web.api.people import people
from twinsmith.web.api.runs import runs
from twinsmith.web.api.system import system
from twinsmith.web.api.telemetry import telemetry
from twinsmith.web.api.users import users
from twinsmith.web.api.versions import versions
from twinsmith.web.console.app import app as app_page
from twinsmith.web.console.app_deeds import app_deeds
from twinsmith.web.console.approval import approval
from twinsmith.web.console.approval_edit import approval_edit
from twinsmith.web.console.approvals import approvals
from twinsmith.web.console.apps import apps as app_pages
from twinsmith.web.console.behaviour import behaviour
from twinsmith.web.console.costs import costs
from twinsmith.web.console.entrance import entrance
from twinsmith.web.console.experiments import experiments as experiment_pages
from twinsmith.web.console.incidents import incidents
from twinsmith.web.console.journal import journal as journal_pages
from twinsmith.web.console.knowledge import knowledge
from twinsmith.web.console.models import models
from twinsmith.web.console.new_run import new_run
from twinsmith.web.console.overview import overview
from twinsmith.web.console.run import run as run_page
from twinsmith.web.console.runs import runs as run_pages
from twinsmith.web.console.search import search
from twinsmith.web.console.settings import settings as settings_pages
from twinsmith.web.console.static import static
from twinsmith.web.console.telemetry import telemetry as telemetry_pages
from twinsmith.web.console.users import users as user_pages
from twinsmith.web.console.versions import versions as version_pages
from twinsmith.web.guard import API, Guarded, astray, needs, rule_of
from twinsmith.web.headers import Sealed
from twinsmith.web.observed import Observed
from twinsmith.web.office import Office, office_for
from twinsmith.web.problems import tell_problems

API_ROUTERS = (
    runs,
    people,
    apps,
    known,
    analysis,
    experiments,
    journal,
    users,
    system,
    telemetry,
    versions,
)
PAGES = (
    static,
    entrance,
    overview,
    models,
    behaviour,
    costs,
    experiment_pages,
    telemetry_pages,
    knowledge,
    search,
    approvals,
    approval,
    approval_edit,
    journal_pages,
    settings_pages,
    user_pages,
    version_pages,
    new_run,
    run_pages,
    run_page,
    app_pages,
    app_page,
    app_deeds,
    incidents,
)


def application(settings: Settings) -> tuple[ASGIApp, FastAPI, Office]:
    """What serves requests, the application in it with its routes, and what its routes share."""
    office = office_for(settings)
    app = FastAPI(
        title="twinsmith",
        version=__version__,
        summary="One sentence in; a tested, running, watched and self-healing program out.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.office = office
    app.router.route_class = Guarded
    _describe(app)
    for router in (*API_ROUTERS, *PAGES):
        # Each as it is, and not behind another one: what is listed here is all there is.
        app.router.routes.extend(router.routes)
    tell_problems(app)
    for status in (404, 405):
        app.add_exception_handler(status, astray)
    for route in app.routes:
        assert isinstance(route, Guarded), f"{route} is not guarded; see web/guard.Guarded"
        rule_of(route)
    given = settings.values.server
    sealed = Sealed(
        Observed(app, office.book.telemetry),
        largest=int(given.body_mb * (1 << 20)),
        names=names_of(settings),
        secure=office.secure,
    )
    return sealed, app, office


def _describe(app: FastAPI) -> None:
    """The description of the API, for whoever has signed in."""

    @app.get(f"{API}/openapi.json", openapi_extra=needs("read"), tags=["system"])
    def description() -> dict[str, object]:
        """The API as OpenAPI 3.1 tells it."""
        told = app.openapi()
        told.setdefault("components", {})["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "description": "An API key: tws_…"}
        }
        told["security"] = [{"key": []}]
        return told
