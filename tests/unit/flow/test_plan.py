import json

import pytest

from twinsmith.core.errors import BadReply
from twinsmith.flow.build.plan import MOST_CHECKS, read_plan

GOOD = {"entry": "f", "signature": "def f():", "approach": " Do it. ", "checks": ["assert f()"]}


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "Sure!\n```\n{}\n```\nDone."])
def test_a_plan_is_read_with_or_without_a_fence(wrap: str) -> None:
    plan = read_plan(wrap.replace("{}", json.dumps(GOOD)))
    assert (plan.entry, plan.approach, plan.checks) == ("f", "Do it.", ("assert f()",))


def test_checks_are_bounded() -> None:
    plan = read_plan(json.dumps({**GOOD, "checks": ["assert f()"] * 99}))
    assert len(plan.checks) == MOST_CHECKS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("I cannot help with that.", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({**GOOD, "entry": "not a name"}), "'not a name' is not a name"),
        (json.dumps({**GOOD, "entry": ""}), "no 'entry'"),
        (json.dumps({**GOOD, "approach": 3}), "no 'approach'"),
        (json.dumps({**GOOD, "checks": "assert f()"}), "not a list of texts"),
        (json.dumps({**GOOD, "checks": [1]}), "not a list of texts"),
    ],
)
def test_a_plan_that_cannot_be_used_is_a_bad_reply(text: str, says: str) -> None:
    with pytest.raises(BadReply, match=says):
        read_plan(text)
