"""The console in a real browser: every page, by keyboard, on a phone, without a script."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsers import PHONE, WIDE, browser, complaints, page_of
from tests.conftest import DOUBLE, Command, script, until
from tests.served import Served, events, key_for, serving

# Each starts a server, a worker and a browser.
pytestmark = pytest.mark.xdist_group("console")

PAGES = (
    "/",
    "/runs",
    "/runs/new",
    "/approvals",
    "/apps",
    "/incidents?all=1",
    "/models",
    "/models/behaviour",
    "/models/compare",
    "/models/versions",
    "/experiments",
    "/telemetry",
    "/costs?by=day",
    "/knowledge",
    "/search?q=number",
    "/journal",
    "/journal/verify",
    "/settings",
    "/settings/users",
    "/settings/values",
)
HOSTILE = "a function double that doubles <script>document.title='owned'</script><img src=x>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a worker, and a run that was asked for in words that try to break out."""
    command = Command(home=tmp_path_factory.mktemp("console") / "home")
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "1"
    command.use_script(script(delay=0.2))
    with serving(command, "--no-monitor") as made:
        key = {"authorization": f"Bearer {key_for(command, 'read', 'build')}"}
        until(lambda: made.ask("GET", "/api/v1/ready", **key)[0] == 200)
        begun = made.ask("POST", "/api/v1/runs", {"task": HOSTILE}, **key)[2]["run"]
        *_, last = events(made.address, f"/api/v1/runs/{begun}/events", **key)
        assert last[1] == "end"
        yield made


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_its_twin_and_can_be_read_by_everybody(
    server: Served, chromium: Browser, path: str
) -> None:
    for scheme, size in (("light", WIDE), ("dark", PHONE)):
        with page_of(chromium, server, scheme=scheme, size=size) as page:  # type: ignore[arg-type]
            answer = page.goto(path)
            assert answer is not None
            assert answer.status == 200
            expect(page.locator("h1")).to_be_visible()
            assert page.title() != "owned"
            assert complaints(page) == []
            assert wider_than_the_window(page) <= 0
            plain, _, query = path.partition("?")
            twin = "/index.json" if path == "/" else f"{plain}.json?{query}"
            if path != "/runs/new":
                assert page.request.get(twin).status == 200


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", WIDE), ("dark", PHONE)])
def test_a_run_is_shown_with_its_candidates_and_nothing_of_it_is_executed(
    server: Served, chromium: Browser, scheme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    with page_of(chromium, server, scheme=scheme, size=size) as page:
        page.goto("/runs")
        page.click("main tbody tr a")
        expect(page.locator(".quote")).to_contain_text("<script>document.title")
        assert page.title() != "owned"
        assert page.locator("main script").count() == 0
        assert page.locator("main img").count() == 0
        expect(page.locator("#heat")).to_contain_text("passed")
        expect(page.locator("#candidate .code")).to_contain_text("def double")
        assert complaints(page) == []
        page.select_option("select[name=against]", index=1)
        page.wait_for_url(re.compile("against="))
        expect(page.locator("#candidate .diff")).to_be_visible()
        expect(page.locator("#candidate .diff ins").first).to_contain_text("return n")
        assert page.locator("#candidate .diff ins .k").count() > 0, "its syntax is marked"
        page.click("#checks summary")
        assert complaints(page) == []
        assert wider_than_the_window(page) <= 0


def test_who_is_signed_out_elsewhere_is_told_on_the_page_that_is_open(
    server: Served, chromium: Browser
) -> None:
    with page_of(chromium, server, steady=False) as page:
        page.goto("/runs")
        expect(page.locator("#connection")).to_be_hidden()
        with page_of(chromium, server, steady=False) as other:
            other.goto("/settings")
            other.click("#sign-out summary")
            other.click("#sign-out button.danger")
            other.wait_for_url("**/login")
        expect(page.locator("#connection")).to_contain_text("signed out", timeout=40_000)
        page.reload()
        assert "/login" in page.url


def wider_than_the_window(page: Page) -> int:
    """By how much a page has to be scrolled sideways."""
    script = "document.documentElement.scrollWidth - window.innerWidth"
    return int(page.evaluate(script))


def test_keys_lead_everywhere(server: Served, chromium: Browser) -> None:
    with page_of(chromium, server) as page:
        page.goto("/")
        page.keyboard.press("g")
        page.keyboard.press("r")
        page.wait_for_url("**/runs")
        page.keyboard.press("j")
        expect(page.locator("tr.here")).to_have_count(1)
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/2*")
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("double")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=double")
        page.keyboard.press("Escape")
        page.keyboard.press("n")
        page.wait_for_url("**/runs/new")


def test_a_run_is_submitted_and_watched_without_loading_the_page_again(
    server: Served, chromium: Browser
) -> None:
    with page_of(chromium, server, size=PHONE) as page:
        page.goto("/runs/new")
        page.fill("textarea[name=task]", DOUBLE)
        page.click("main button.primary")
        page.wait_for_url("**/runs/2*")
        page.evaluate("window.here = 1")
        expect(page.locator("#summary .state")).to_contain_text("solved", timeout=60_000)
        assert page.evaluate("window.here") == 1
        expect(page.locator("#stages")).to_contain_text("explore")
        expect(page.locator("#connection")).to_be_hidden()


def test_everything_can_be_done_without_a_script(server: Served, chromium: Browser) -> None:
    with page_of(chromium, server, script=False, steady=False) as page:
        page.goto("/runs/new")
        page.fill("textarea[name=task]", " ")
        page.click("main button.primary")
        expect(page.locator("[role=alert], .notice")).to_contain_text("task")
        page.fill("textarea[name=task]", DOUBLE)
        page.click("main button.primary")
        page.wait_for_url("**/runs/2*")
        page.click("#cancel summary")
        page.fill("#cancel input[name=reason]", "typed too fast")
        page.click("#cancel button.danger")
        expect(page.locator(".notice")).to_contain_text(re.compile("cancelled|has ended"))
        expect(page.locator("main")).to_contain_text("cancelled by admin: typed too fast")


def test_a_page_says_when_the_server_is_gone_and_goes_on_when_it_is_back(
    chromium: Browser, command: Command
) -> None:
    command.use_script(script())
    with serving(command, "--no-monitor", "--no-worker") as first:
        port = first.address.rpartition(":")[2]
        with page_of(chromium, first, steady=False) as page:
            page.goto("/runs")
            expect(page.locator("#connection")).to_be_hidden()
            first.end()
            expect(page.locator("#connection")).to_be_visible(timeout=15_000)
            command.env["TWINSMITH_SERVER_PORT"] = port
            process = command.start("serve", "--no-monitor", "--no-worker")
            try:
                expect(page.locator("#connection")).to_be_hidden(timeout=30_000)
                command("build", DOUBLE, "--detach")
                expect(page.locator("#runs tbody tr")).to_have_count(1, timeout=15_000)
            finally:
                process.terminate()
                process.communicate(timeout=30)
