"""Who asks, and whether they may: the one place that every request to a route goes through."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast
from urllib.parse import quote, urlsplit

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match

from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.people.account import Person
from twinsmith.core.people.actor import Actor
from twinsmith.core.people.answered import Asking
from twinsmith.core.people.role import Permission
from twinsmith.runs.book import Book
from twinsmith.web.addresses import address_of
from twinsmith.web.cookies import renewed, token_in
from twinsmith.web.office import Office, office_of
from twinsmith.web.problems import Refused, answer, refusal

RULE = "x-permission"
ONCE = "x-shown-once"
SAFE = ("GET", "HEAD", "OPTIONS")
API = "/api/v1"
LONGEST_KEY = 200
Rule = Permission | Literal["open"]
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def needs(rule: Rule, *, shown_once: bool = False) -> dict[str, Any]:
    """The rule of a route, which stands in its description: a permission, or open to strangers.

    What is shown once is not kept for whoever asks again.
    """
    return {RULE: rule, **({ONCE: True} if shown_once else {})}


def rule_of(route: APIRoute) -> Rule:
    """The rule of a route; a route without one is a mistake, told when the server is made."""
    rule = (route.openapi_extra or {}).get(RULE)
    assert rule is not None, f"{route.methods} {route.path} has no rule; see web/guard.needs"
    return cast("Rule", rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request by somebody who is known, with the book that they read and write in."""

    person: Person
    book: Book

    def may(self, permission: Permission) -> bool:
        """Whether the person may do something."""
        return permission in self.person.permissions


class Guarded(APIRoute):
    """A route whose rule is kept before anything of it is done."""

    def get_route_handler(self) -> Handler:
        """The handler behind the guard."""
        handler, rule = super().get_route_handler(), rule_of(self)

        async def guarded(request: Request) -> Response:
            office = office_of(request)
            person = await _recognised(request, office)
            office.limits.spend(person.name if person else address_of(request, office.settings))
            if rule != "open" and person is None:
                return _stranger(request)
            if rule != "open" and person is not None and rule not in person.permissions:
                await _told(office, request, person, "person.refused", {"needs": rule})
                raise Refused(403, _lacking(person, rule))
            if rule == "open":
                # Who signs in may be signed in already: nothing is done in their name.
                person = None
            if request.method not in SAFE:
                await _check_origin(request, person)
                await self._check_kind(request)
            response = await self._answered(request, handler, office, person)
            return renewed(request, response)

        return guarded

    async def _check_kind(self, request: Request) -> None:
        """Refuse a body of another kind than the route reads: JSON, everywhere in the API."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.body_field is None or not request.url.path.startswith("/api/"):
            return
        if kind != "application/json" and await request.body():
            raise Refused(415, f"a body of {kind[:60] or 'no kind'} came; send application/json")

    async def _answered(
        self, request: Request, handler: Handler, office: Office, person: Person | None
    ) -> Response:
        """The answer of a route, done once for each Idempotency-Key and told in the journal."""
        key = request.headers.get("idempotency-key", "")
        if request.method in SAFE or person is None:
            return await handler(request)
        if not key or request.method != "POST":
            response = await handler(request)
        elif len(key) > LONGEST_KEY:
            raise Refused(400, f"Idempotency-Key has {len(key)} characters; at most {LONGEST_KEY}")
        else:
            response = await office.once.done(
                await _asking(person, key, request),
                lambda: handler(request),
                shown_once=ONCE in (self.openapi_extra or {}),
            )
        await _told(office, request, person, "person.acted", {"status": response.status_code})
        return response


async def _recognised(request: Request, office: Office) -> Person | None:
    """Who asks; nobody where what they carry does not hold."""
    given = request.headers.get("authorization", "")
    if given:
        kind, _, secret = given.partition(" ")
        person = None
        if kind.lower() == "bearer":
            person = await asyncio.to_thread(office.identity.by_key, secret.strip())
        request.state.person = person
        return person
    token = token_in(request, office)
    found = await asyncio.to_thread(office.identity.by_session, token) if token else None
    request.state.person = found.person if found else None
    request.state.token = found.token if found else ""
    return found.person if found else None


def _lacking(person: Person, rule: Permission) -> str:
    """What somebody may not do, and who can let them."""
    if person.key is None:
        return f"{person.name} may not {rule}; an administrator gives roles"
    return (
        f"key {person.key.id} of {person.name} may not {rule}; that takes a key with this scope, "
        "of somebody whose roles permit it"
    )


def _stranger(request: Request) -> Response:
    if request.url.path.startswith("/api/") or request.url.path == "/metrics":
        raise Refused(401, "sign in with an API key: Authorization: Bearer tws_…")
    if request.method == "GET" and not request.url.path.startswith("/live"):
        path = quote(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
        return RedirectResponse(f"/login?next={path}", status_code=303)
    raise Refused(401, "your session is over; sign in again at /login")


async def _check_origin(request: Request, person: Person | None) -> None:
    """Refuse what another site's page lets a person's browser send."""
    origin = request.headers.get("origin", "")
    if origin and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise Refused(403, f"a page of {origin[:100]} sent this; send it from the console itself")
    # Read before anything else does, so that every reader gets it.
    await request.body()
    if person is None or person.session is None:
        return
    given = request.headers.get("x-csrf-token", "")
    if not given and "form" in request.headers.get("content-type", ""):
        form = await request.form()
        given = str(form.get("csrf", ""))
    if not secrets.compare_digest(given.encode(), person.session.csrf.encode()):
        raise Refused(403, "this form is of another session; load the page again and send it anew")


async def _asking(person: Person, key: str, request: Request) -> Asking:
    told = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    digest = hashlib.sha256(told + await request.body()).hexdigest()
    return Asking(who=person.name, key=key, digest=digest)


async def _told(
    office: Office, request: Request, person: Person, kind: str, more: dict[str, Json]
) -> None:
    """Tell the journal what somebody did, or may not do."""
    route = request.scope.get("route")
    data: dict[str, Json] = {
        "method": request.method,
        "route": getattr(route, "path", request.url.path),
        "about": {str(k): str(v)[:200] for k, v in request.path_params.items()},
        **more,
    }
    await visit_of(request, office, person).book.tell(SYSTEM, kind, data)


async def astray(request: Request, error: Exception) -> Response:
    """A request for what is not there, or not in this way: strangers learn neither."""
    assert isinstance(error, HTTPException)
    office = office_of(request)
    person = await _recognised(request, office)
    try:
        office.limits.spend(person.name if person else address_of(request, office.settings))
        if person is None:
            return _stranger(request)
    except Refused as refused:
        return refusal(request, refused)
    path = request.url.path[:200]
    if error.status_code == 404:
        return answer(request, 404, f"{path} is not known; {API}/openapi.json lists what is")
    told = ", ".join(sorted(_methods(request)))
    text = f"{request.method} {path} is not possible; {told} is"
    return answer(request, 405, text, headers={"allow": told})


def _methods(request: Request) -> set[str]:
    """The methods that an address knows."""
    routes = [each for each in request.app.routes if isinstance(each, APIRoute)]
    fitting = (each for each in routes if each.matches(request.scope)[0] != Match.NONE)
    return {method for each in fitting for method in each.methods or ()}


def visit_of(request: Request, office: Office, person: Person) -> Visit:
    """A request of a person, with the book as they act in it."""
    where = f"{person.way} at {address_of(request, office.settings)}"
    actor = Actor(name=person.name, way="api" if person.key else "console", where=where)
    return Visit(person=person, book=office.book.acting_as(actor))


async def _visit(request: Request) -> Visit:
    person = getattr(request.state, "person", None)
    assert isinstance(person, Person), "a route that is open to strangers has no visit"
    return visit_of(request, office_of(request), person)


Visitor = Annotated[Visit, Depends(_visit)]
"""What a route asks for that needs to know who asks."""
