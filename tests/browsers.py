"""A real browser for tests of the console, and what an accessibility check finds in a page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.served import PASSWORD, Served

WIDE, PHONE = (1280, 800), (390, 844)
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window; skips where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed; run: apt-get install -y chromium")
    with sync_playwright() as playwright:
        # As root it has no sandbox of its own; it sees the server of this test only.
        made = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield made
        finally:
            made.close()


@contextmanager
def page_of(
    chromium: Browser,
    server: Served,
    *,
    scheme: Literal["light", "dark"] = "light",
    size: tuple[int, int] = WIDE,
    script: bool = True,
    steady: bool = True,
) -> Iterator[Page]:
    """A page in which the first administrator is signed in.

    Where the server is `steady`, a page that complains of anything fails.
    """
    said: list[str] = []
    context = chromium.new_context(
        color_scheme=scheme,
        viewport={"width": size[0], "height": size[1]},
        java_script_enabled=script,
        base_url=server.address,
    )
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    if server.link:
        token = server.link.partition("token=")[2]
        page.goto(f"/welcome?token={token}")
        if page.locator("input[name=again]").count():
            page.fill("input[name=password]", PASSWORD)
            page.fill("input[name=again]", PASSWORD)
            page.click("button.primary")
    if not page.locator("nav.rail").count():
        page.goto("/login")
        page.fill("input[name=name]", "admin")
        page.fill("input[name=password]", PASSWORD)
        page.click("button.primary")
    page.wait_for_selector("nav.rail")
    said.clear()
    try:
        yield page
        assert not steady or said == [], said
    finally:
        context.close()


def complaints(page: Page) -> list[str]:
    """What the accessibility check finds in a page, a line for each place."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary'][:300]}"
        for rule in found
        for node in rule["nodes"]
    ]
