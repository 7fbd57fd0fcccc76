"""A service that is started anew: nothing that earlier checks did to it is left."""

from dataclasses import replace

import pytest

from tests.sandboxes import BACKENDS, code, run, sandbox
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.probe import Probes

COUNTING = """
import http.server, os
asked = 0
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        if self.path == '/die': os._exit(3)
        with open('asked', 'a') as file, open('/tmp/asked', 'a') as other:
            file.write('x')
            other.write('x')
        kept = os.path.getsize('asked'), os.path.getsize('/tmp/asked')
        body = repr([asked, *kept]).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print('starting', flush=True)
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
"""


@pytest.fixture(params=BACKENDS)
def box(request: pytest.FixtureRequest) -> IsolatedSandbox:
    return sandbox(str(request.param))


def counted(*numbers: tuple[int, bool]) -> Probes:
    """Checks that want the service to have been asked so often, some of a fresh one."""
    sources = [f"assert http('GET', '/').text == '{[n, n, n]}'" for n, _ in numbers]
    checks = code(*sources).checks
    fresh = (replace(each, fresh=new) for each, (_, new) in zip(checks, numbers, strict=True))
    return Probes(checks=tuple(fresh))


async def test_a_fresh_service_was_never_asked_and_others_go_on_counting(
    box: IsolatedSandbox,
) -> None:
    probes = counted((1, False), (2, False), (1, True), (2, False), (1, True), (1, True))
    execution = await run(COUNTING, kind="service", probes=probes, box=box)
    assert [(r.outcome, r.detail) for r in execution.results] == [("passed", "")] * 6
    # One for the first two, one for each that wanted another.
    assert execution.log.count("starting\n") == 4


async def test_the_first_check_needs_no_second_start(box: IsolatedSandbox) -> None:
    probes = counted((1, True), (2, False))
    execution = await run(COUNTING, kind="service", probes=probes, box=box)
    assert [r.outcome for r in execution.results] == ["passed"] * 2
    assert execution.log.count("starting\n") == 1


async def test_one_that_died_is_there_again_for_a_fresh_check(box: IsolatedSandbox) -> None:
    (check,) = counted((1, True)).checks
    dying = code("http('GET', '/die')", "http('GET', '/')").checks
    execution = await run(COUNTING, kind="service", probes=Probes(checks=(*dying, check)), box=box)
    assert [r.outcome for r in execution.results] == ["raised", "killed", "passed"]
