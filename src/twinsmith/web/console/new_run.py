"""A new run: one sentence and one button; whatever else there is to say may be said, too."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from twinsmith.client.shapes import NewRun
from twinsmith.core.driving import PRIORITIES
from twinsmith.core.errors import ConfigError, TwinsmithError
from twinsmith.core.program import KINDS
from twinsmith.core.task import LONGEST_TASK, LONGEST_TESTS
from twinsmith.core.wording import LANGUAGES
from twinsmith.runs.accepting import submitted
from twinsmith.web.console.prospect import prospect
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.office import office_of
from twinsmith.web.pages import Page, View, page_route, part, shown
from twinsmith.web.problems import status_of

new_run = APIRouter(route_class=Guarded, include_in_schema=False)
FIELDS = tuple(NewRun.model_fields)
LONGEST: Mapping[str, int] = {"task": LONGEST_TASK, "tests": LONGEST_TESTS, "spec": 500_000}
FILED = ("spec", "tests")
"""Fields that may come as a file instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """The form as a person filled it in, with what is wrong in it; nothing of it is lost."""

    texts: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    """What is wrong, by the field; what is wrong with all of it under no name."""

    @property
    def more(self) -> bool:
        """Whether there is something in the part that is folded at first."""
        return any(self.texts.get(name) or name in self.problems for name in FIELDS[1:])


async def form(view: View) -> Page:
    """The form of a new run."""
    return await _page(view, Typed(texts={"task": view.asked("task")}))


page_route(new_run, "/runs/new", "build", form)


@new_run.post("/runs", openapi_extra=needs("build"))
async def submit(request: Request, visit: Visitor) -> Response:
    """Leave a task to the workers, and go where it can be watched."""
    async with request.form() as sent:
        typed = await typed_in(sent)
    view = View(visit=visit, office=office_of(request), names={}, query={}, path="/runs/new")
    wanted, problems = wanted_in(typed)
    status = 400
    if wanted is not None:
        try:
            return RedirectResponse(f"/runs/{await submitted(visit.book, wanted)}", 303)
        except TwinsmithError as error:
            problems, status = {"": str(error)}, status_of(error)
    told = Typed(texts=typed.texts, problems={**typed.problems, **problems})
    return await shown(view, await _page(view, told), status)


async def typed_in(form: FormData) -> Typed:
    """What a person filled in; a file stands for the text of its field."""
    texts = {name: text for name in FIELDS if isinstance(text := form.get(name), str)}
    problems: dict[str, str] = {}
    for name in FILED:
        given = form.get(f"{name}_file")
        if isinstance(given, UploadFile) and given.filename:
            try:
                texts[name] = _text(await given.read(), LONGEST[name])
            except ConfigError as error:
                problems[name] = str(error)
    return Typed(
        texts={name: text.replace("\r\n", "\n") for name, text in texts.items()},
        problems=problems,
    )


def wanted_in(typed: Typed) -> tuple[NewRun | None, dict[str, str]]:
    """The run that is wanted; else what is wrong, by the field."""
    if typed.problems:
        return None, {}
    given = {name: text for name, text in typed.texts.items() if text.strip()}
    try:
        return NewRun.model_validate({"task": "", **given}), {}
    except ValidationError as error:
        return None, {str(each["loc"][0]): _told(each["msg"]) for each in error.errors()}


def _told(message: str) -> str:
    return message[:1].lower() + message[1:]


def _text(given: bytes, most: int) -> str:
    """A file as a text; ConfigError where it is none, or too long."""
    try:
        text = given.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("the file is no text in UTF-8; save it as one") from None
    if len(text) > most:
        raise ConfigError(f"the file has {len(text)} characters; at most {most}: shorten it")
    return text


async def _page(view: View, typed: Typed) -> Page:
    known = await asyncio.to_thread(prospect, view.visit.book, view.office.glance)
    return Page(
        title="New run",
        section="Runs",
        parts={
            "new-run": part(
                "new_run",
                typed=typed,
                given=known.given,
                languages=LANGUAGES,
                kinds=KINDS,
                priorities=PRIORITIES,
                longest=LONGEST,
            ),
            "prospect": part("new_run_prospect", known=known),
        },
        data=known,
        live=False,
        crumbs=(("Runs", "/runs"),),
    )
