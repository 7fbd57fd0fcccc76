"""The whole API under made-up requests: nothing breaks, and answers keep their form."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance

from tests.models import FOLDER, installed
from tests.web_clients import Site, site

NEITHER_READY = "/api/v1/ready"
"""Answers 503 where no worker lives, as it says."""
EXAMPLES = 12


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server whose embedder is there."""
    for name in ("minilm-l6-v2", "minilm-l6-v2-tokenizer"):
        installed(name)
    return site(tmp_path_factory.mktemp("site"), models=str(FOLDER))


# The server draws its own numbers in a thread of this process while a case is made.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
def test_no_made_up_request_breaks_the_server(place: Site) -> None:
    header = place.key("fuzz", "admin")
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", place.app, headers=header)
    operations = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    assert len(operations) > 50
    tried: dict[str, int] = {}
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def tries(case: Case[Any]) -> None:
            answer = case.call(headers=header)
            told = f"{case.method} {case.formatted_path} {answer.status_code} {answer.text[:300]}"
            assert answer.status_code < 500 or case.path == NEITHER_READY, told
            if answer.status_code >= 400 and case.path != NEITHER_READY:
                kind = answer.headers["content-type"][0]
                assert kind == "application/problem+json", told
                assert {"status", "detail", "number"} <= set(answer.json()), told
            else:
                case.validate_response(answer, checks=[response_schema_conformance])
            tried[case.path] = tried.get(case.path, 0) + 1

        tries()
    assert all(tried.get(operation.path) for operation in operations)


def test_the_description_is_openapi_3_1_and_tells_every_route_and_its_rule(place: Site) -> None:
    header = place.key("reader", "viewer")
    told = place.client.get("/api/v1/openapi.json", headers=header).json()
    assert told["openapi"].startswith("3.1")
    described = {
        (method.upper(), path) for path, methods in told["paths"].items() for method in methods
    }
    known = {(method, route.path) for method, route in place.routes() if route.include_in_schema}
    assert {path for _, path in known if not path.startswith("/api/")} == {"/metrics"}
    assert described == known
    rules = [each["x-permission"] for path in told["paths"].values() for each in path.values()]
    assert len(rules) == len(described)
