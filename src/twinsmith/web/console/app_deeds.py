"""What a person does with apps by a form: each deed is an action, and left to the workers."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.runs.deploy import acting, deploying
from twinsmith.web.api.apps import begun
from twinsmith.web.console.deeds import told
from twinsmith.web.guard import Guarded, Visit, Visitor, needs

app_deeds = APIRouter(route_class=Guarded, include_in_schema=False)
Reason = Annotated[str, Form(max_length=500)]
DANGEROUS: tuple[ActionKind, ...] = ("rollback", "stop", "remove")


@app_deeds.post("/apps/{app}/rollback", openapi_extra=needs("operate"))
async def rollback(
    request: Request,
    visit: Visitor,
    app: str,
    to: Annotated[int, Form(ge=0, lt=1 << 31)] = 0,
    reason: Reason = "",
) -> Response:
    """Let an earlier release serve again."""
    return await told(request, visit, _done(visit, "rollback", app, reason, to=to))


@app_deeds.post("/apps/{app}/stop", openapi_extra=needs("operate"))
async def stop(request: Request, visit: Visitor, app: str, reason: Reason = "") -> Response:
    """Stop an app; its data stays."""
    return await told(request, visit, _done(visit, "stop", app, reason))


@app_deeds.post("/apps/{app}/start", openapi_extra=needs("operate"))
async def start(request: Request, visit: Visitor, app: str, reason: Reason = "") -> Response:
    """Start an app again."""
    return await told(request, visit, _done(visit, "start", app, reason))


@app_deeds.post("/apps/{app}/restart", openapi_extra=needs("operate"))
async def restart(request: Request, visit: Visitor, app: str, reason: Reason = "") -> Response:
    """Start the serving release of an app anew."""
    return await told(request, visit, _done(visit, "restart", app, reason))


@app_deeds.post("/apps/{app}/remove", openapi_extra=needs("operate"))
async def remove(
    request: Request,
    visit: Visitor,
    app: str,
    data: Annotated[bool, Form()] = False,
    reason: Reason = "",
) -> Response:
    """Remove an app; with `data`, its data, too."""
    work = _done(visit, "remove", app, reason, data=data)
    return await told(request, visit, work, to="/apps")


@app_deeds.post("/runs/{run}/deploy", openapi_extra=needs("deploy"))
async def deploy(
    request: Request,
    visit: Visitor,
    run: str,
    name: Annotated[str, Form(max_length=30)] = "",
    host: Annotated[str, Form(max_length=20)] = "",
    port: Annotated[int, Form(ge=0, le=65_535)] = 0,
    replace: Annotated[bool, Form()] = False,
) -> Response:
    """Release what a run has built, behind all gates."""

    async def work() -> str:
        wanted = await asyncio.to_thread(
            deploying,
            visit.book,
            visit.book.find(run),
            name=name.strip(),
            host=host,
            port=port,
            replace=replace,
        )
        return await _begun(visit, wanted)

    return await told(request, visit, work())


async def _done(
    visit: Visit, kind: ActionKind, app: str, reason: str, *, to: int = 0, data: bool = False
) -> str:
    """Leave an action to the workers; what is dangerous has a reason."""
    if kind in DANGEROUS and not reason.strip():
        raise ConfigError(f"to {kind} {app} needs a reason; say why in the form")
    action = await asyncio.to_thread(acting, visit.book, kind, app, to=to, data=data, why=reason)
    return await _begun(visit, action)


async def _begun(visit: Visit, action: Action) -> str:
    done = await begun(visit, action)
    return f"{action.title}: run {done.run} does it, see /runs/{done.run}"
