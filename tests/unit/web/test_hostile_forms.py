"""Made-up forms, files, queries and headers at every page: refused cleanly, nothing comes back."""

import re
from collections.abc import Iterator

import pytest
from httpx2 import Response

from tests.web_clients import Site, site
from twinsmith.web.guard import rule_of

EVIL = "<script>alert(4711)</script>"
NAMES = "task tests spec language kind seed priority budget_usd budget_tokens text reason note"
MORE = "title command scope days scopes roles name to data port host replace current wanted again"
VALUES = (
    EVIL,
    "",
    "\x00",
    "²",
    "-1",
    "1e400",
    "NaN",
    "../../etc/passwd",
    "\u202e" * 500,
    "🙂" * 9000,
)
NAMES = "q state cursor span diff candidate against since until run kind who by view"
QUERIES = (*NAMES.split(), "a", "b", "app", "all", "language", "changed", "task")
FILES = {
    "spec_file": ("../../spec.yaml", b"\xff\xfe\x00: [", "application/x-yaml"),
    "tests_file": (EVIL, b"assert " + b"(" * 5000, "text/x-python"),
}
YAML_BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(20)
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site(tmp_path_factory.mktemp("site"))


def checked(answer: Response, told: object) -> None:
    """No answer breaks, tells of the inside, or has markup of whoever asked."""
    assert answer.status_code < 500 or answer.status_code == 503, (told, answer.text[:400])
    assert EVIL not in answer.text or answer.headers["content-type"] == "application/json", told
    assert "Traceback" not in answer.text, told
    assert "root:" not in answer.text, told
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def pages(place: Site, method: str) -> Iterator[str]:
    """The address of every page or form, about something that is not there."""
    for known, route in place.routes():
        inside = rule_of(route) != "open" or method == "POST"
        if inside and known == method and not route.path.startswith(("/api/", "/live")):
            yield re.sub(r"{\w+}", "nothing", route.path)


def test_no_form_breaks_whatever_is_typed(shared: Site) -> None:
    header = shared.key("ann", "admin")
    for path in pages(shared, "POST"):
        for value in VALUES:
            form = dict.fromkeys(f"{NAMES} {MORE}".split(), value)
            sent = shared.client.post(path, headers=header, data=form, follow_redirects=False)
            checked(sent, (path, value[:20]))


@pytest.mark.parametrize("content", [b"", b"--x", b"--x\r\n\r\n--x--", b"\xff" * 5000, b"{}"])
@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "multipart/form-data; boundary=" + "y" * 3000,
        "application/x-www-form-urlencoded; charset=utf-7",
        "application/json",
        "text/plain\tx",
    ],
)
def test_no_body_breaks_a_form(shared: Site, kind: str, content: bytes) -> None:
    header = shared.key("ann", "admin") | {"content-type": kind}
    for path in ("/runs", "/login", "/approvals/nothing/modify", "/overrides", "/settings/keys"):
        sent = shared.client.post(path, headers=header, content=content, follow_redirects=False)
        checked(sent, (path, kind[:40], content[:10]))
        assert 400 <= sent.status_code < 500, (path, sent.status_code)


def test_no_file_breaks_a_new_run(shared: Site) -> None:
    header = shared.key("ann", "admin")
    task = {"task": "a function that adds one to a number"}
    for files in (
        FILES,
        {"spec_file": ("s.yaml", YAML_BOMB.encode(), "text/yaml")},
        {"spec_file": ("s.json", b"[" * 200_000, "application/json")},
        {"spec_file": ("s.yaml", b"openapi: 3.1.0\nx: 2026-99-99", "text/yaml")},
        {"spec_file": ("s.yaml", b'openapi: 3.1.0\nx: !!int ""', "text/yaml")},
        {"spec_file": ("s.yaml", b"openapi: 3.1.0\nx: !!timestamp y", "text/yaml")},
        {"spec_file": ("s.yaml", b"!!python/object/apply:os.system [id]", "text/yaml")},
        {"tests_file": ("t.py", b"x" * 300_000, "text/x-python")},
        {"tests_file": ("t.py", b"__import__('os').system('id')", "text/x-python")},
        {f"other{number}": ("o", b"o", "x/y") for number in range(1100)},
    ):
        sent = shared.client.post(
            "/runs", headers=header, data=task, files=files, follow_redirects=False
        )
        checked(sent, list(files)[:2])
        assert sent.status_code in (400, 422), list(files)[:2]


def test_no_query_breaks_a_page(shared: Site) -> None:
    header = shared.key("ann", "admin") | {"accept": "text/html"}
    for path in pages(shared, "GET"):
        for value in (EVIL, "\x00", "²", "9" * 30, "-1", "%F0", "🙂" * 90, "x" * 2000):
            params = dict.fromkeys(QUERIES, value)
            checked(shared.client.get(path, headers=header, params=params), (path, value[:20]))


@pytest.mark.parametrize("name", ["cookie", "x-forwarded-for", "referer", "if-none-match"])
def test_no_header_breaks_a_page(shared: Site, name: str) -> None:
    header = shared.key("ann", "admin")
    for value in (
        EVIL,
        "twinsmith=" + "x" * 5000,
        ",,,,",
        "\xff\xfe",
        "a" * 9000,
        '"; W/"',
        "//x/y",
    ):
        told = {**header, name: value}
        sent = [(key.encode(), each.encode("latin-1", "replace")) for key, each in told.items()]
        for path in ("/runs", "/api/v1/runs", "/api/v1/nothing"):
            checked(shared.client.get(path, headers=sent), (name, value[:20]))
        done = shared.client.post("/overrides", headers=sent, follow_redirects=False)
        checked(done, (name, value[:20]))
        assert "//x" not in done.headers.get("location", "")
