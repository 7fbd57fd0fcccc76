"""What pages are dressed with: the stylesheet, the script, colours of code."""

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Response

from twinsmith.core.errors import Unknown
from twinsmith.web.guard import Guarded, needs

static = APIRouter(route_class=Guarded, include_in_schema=False)
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@static.get("/static/{name}", openapi_extra=needs("open"))
def dress(name: str) -> Response:
    """One of the files."""
    text = _code() if name == "code.css" else _files().get(name)
    if text is None:
        raise Unknown(f"there is no file {name[:60]!r}")
    return Response(text, media_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def _files() -> dict[str, str]:
    folder = files("twinsmith.web").joinpath("static")
    return {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir()}


@cache
def _code() -> str:
    """Colours of code on a light and on a dark ground, both of enough contrast."""
    from pygments.formatters.html import HtmlFormatter

    light = HtmlFormatter(style="xcode").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    ground = ".code { background: var(--raised); color: var(--ink); }"
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{ground}\n"
