"""One story in a real browser: submitted, asked, answered, watched, approved, deployed, healed."""

import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browsers import browser, complaints, page_of
from tests.delivered import Traffic, Yard, yard
from tests.served import serving
from tests.service_scripts import notes_script

pytestmark = pytest.mark.xdist_group("heal")

TASK = (
    "Create a REST API in Python that keeps notes: notes with a title and a text are added, "
    "listed, read and deleted"
)
LEAK = "    KEPT.append(b'x' * 300_000)\n"
HEALED_SECONDS = 300


def test_from_a_sentence_to_a_healed_service(tmp_path: Path) -> None:
    env = {
        "TWINSMITH_APPROVALS_NEEDED": "first_deploy",
        "TWINSMITH_BUILD_ANSWER_SECONDS": "600",
        "TWINSMITH_BUILD_RETRIEVAL": "false",
        "TWINSMITH_DEPLOY_SOAK_SECONDS": "2",
        "TWINSMITH_MONITOR_STEADY_SECONDS": "5",
    }
    with yard(tmp_path / "home", env) as local, browser() as chromium:
        local.command.use_script(asking())
        with (
            serving(local.command) as server,
            page_of(chromium, server) as page,
        ):
            run = submitted(page)
            answered(page)
            expect(page.locator("#summary .state")).to_contain_text("solved", timeout=120_000)
            assert complaints(page) == []
            approved(page)
            leaky(local, run, tmp_path / "leaky")
            healed(page)


def asking() -> dict[str, object]:
    """The script of the notes, in which the slow thinkers plan different fields."""
    script = notes_script()
    replies = script["replies"]
    assert isinstance(replies, list)
    plan = next(each for each in replies if each.get("when") == "You plan an HTTP service")
    other = json.loads(plan["text"])
    other["routes"][0]["takes"] = {"title": "string", "text": "string", "tag": "string"}
    return {**script, "replies": [{**plan, "text": json.dumps(other), "ensemble": 2}, *replies]}


def submitted(page: Page) -> str:
    """The run of a task that was typed into the one field."""
    page.goto("/")
    page.keyboard.press("n")
    page.fill("textarea[name=task]", TASK)
    page.click("main button.primary")
    page.wait_for_url("**/runs/2*")
    return page.url.rpartition("/")[2]


def answered(page: Page) -> None:
    """Answer what the run asks, where it asks it: it comes without loading the page anew."""
    question = page.locator("#asks .ask")
    expect(question).to_contain_text("Does POST /notes take", timeout=60_000)
    question.get_by_role("button", name=re.compile("^title, text$|^text, title$")).click()
    expect(page.locator(".notice")).to_contain_text("answered")


def approved(page: Page) -> None:
    """Deploy what was built, and give one's word for it."""
    page.click("#deploy summary")
    page.fill("#deploy input[name=name]", "notes")
    page.click("#deploy button.primary")
    expect(page.locator(".notice")).to_be_visible()
    page.goto("/approvals")
    page.locator("#requests a[href^='/approvals/'], main a[href^='/approvals/2']").first.click(
        timeout=60_000
    )
    expect(page.locator("main")).to_contain_text("notes")
    assert complaints(page) == []
    page.get_by_role("link", name="Edit and check again").click()
    expect(page.locator("main textarea").first).to_be_visible()
    assert complaints(page) == []
    page.go_back()
    page.keyboard.press("a")
    page.locator("#approve button").click()
    expect(page.locator("main")).to_contain_text("admin")
    page.goto("/apps")
    page.locator("main a[href='/apps/notes']").first.click(timeout=120_000)
    expect(page.locator("main")).to_contain_text("serving", timeout=60_000)
    assert complaints(page) == []


def leaky(local: Yard, run: str, folder: Path) -> None:
    """Release a version that keeps memory with every list of notes."""
    result = local.command.home / "runs" / run / "result"
    for path in [each for each in result.rglob("*") if each.is_file()]:
        target = folder / path.relative_to(result)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        if path.name == "solution.py":
            head, mark, rest = text.partition("def list_notes(")
            line, end, body = rest.partition(":\n")
            text = f"{head}KEPT = []\n\n\n{mark}{line}{end}{LEAK}{body}"
        target.write_text(text)
    local.command("deploy", str(folder), "--name", "notes")


def healed(page: Page) -> None:
    """Use the app until its incident is over, looking on."""
    with Traffic(int(app_of(page)["port"]), "/notes") as traffic:
        page.goto("/apps/notes")
        link = page.locator("main a[href^='/incidents/2']").first
        link.wait_for(timeout=120_000)
        link.click()
        page.wait_for_url("**/incidents/2*")
        page.evaluate("window.here = 1")
        main = page.locator("main")
        expect(main).to_contain_text("memory leak")
        expect(main).to_contain_text(re.compile("closed"), timeout=HEALED_SECONDS * 1000)
        deadline = time.monotonic() + HEALED_SECONDS
        while "closed" not in main.locator(".state").first.inner_text():
            assert time.monotonic() < deadline
            page.wait_for_timeout(500)
        assert page.evaluate("window.here") == 1
        assert complaints(page) == []
    assert set(traffic.statuses) == {200}
    page.goto("/apps/notes")
    expect(page.locator("main")).to_contain_text("rolled back")
    assert app_of(page)["serving"] == 3


def app_of(page: Page) -> dict[str, int]:
    """The app as the list's own data tells it."""
    (seen,) = page.request.get("/apps.json").json()["apps"]
    return dict(seen["app"])
