"""A release as a person changes it: the whole result is made of it again, and nothing is lost."""

from dataclasses import replace

import pytest

from tests.waiting import SHOP, without
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, Terms
from twinsmith.core.operating.deliverable import Deliverable, deliverable_in
from twinsmith.core.operating.modified import (
    asked_for,
    editable,
    edited,
    files_of,
    with_terms,
)
from twinsmith.core.people.approval import Decision

TYPED = {"solution.py": "print(2)\r\n", "requirements.txt": "flask\r\npyjwt\r\n"}
ACTION = Action(run="r", kind="deploy", app="shop", deliverable=SHOP)


@pytest.mark.parametrize(
    "deliverable",
    [
        SHOP,
        without(SHOP),
        replace(
            SHOP, source=replace(SHOP.source, tests="test_solution.py", test_text="assert True\n")
        ),
    ],
)
def test_a_result_is_read_as_it_was_written(deliverable: Deliverable) -> None:
    assert deliverable_in(files_of(deliverable), "x") == deliverable


def test_a_person_edits_the_program_and_its_packages() -> None:
    assert set(editable(SHOP)) == {"solution.py", "store.py", "requirements.txt"}
    assert editable(None) == {}


def test_what_differs_in_line_ends_only_is_no_change() -> None:
    assert edited(SHOP, {"solution.py": "print('a shop')\r\n"}) == {}
    changed = edited(SHOP, TYPED)
    after = deliverable_in(changed, "x")
    assert after.source.program.source == "print(2)\n"
    assert after.source.packages == ("flask", "pyjwt")
    assert (after.probes, after.spec, after.built) == (SHOP.probes, SHOP.spec, SHOP.built)


def test_no_other_file_gets_in() -> None:
    for name in ("report.json", "../evil.py", "new.py"):
        with pytest.raises(ConfigError, match="no file of this release"):
            edited(SHOP, {name: "{}"})


def test_changes_of_a_person_hold_for_those_that_come_after() -> None:
    files = edited(SHOP, {"store.py": "KEPT = []\n"})
    said = [
        Decision(said="modify", by="u", at="1", terms={"canary_share": 0.0, "unheard": 3.0}),
        Decision(said="modify", by="u", at="2", files=files),
        Decision(said="reject", by="u", at="3", terms={"memory_mb": 64.0}),
    ]
    now = asked_for(ACTION, said)
    assert now.deliverable is not None
    assert now.deliverable.source.files["store.py"] == "KEPT = []\n"
    assert now.terms == replace(Terms(), canary_share=0)
    assert with_terms(Terms(), {"battery": 0.0}).battery is False
