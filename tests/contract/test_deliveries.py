"""What deliveries are remembered by: one contract for memory, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.contract.test_packaged import SOURCE
from tests.databases import fresh_url
from twinsmith.adapters.deliveries.memory import (
    MemoryActions,
    MemoryApprovals,
    MemoryApps,
    MemoryOverrides,
    MemoryReleases,
    MemorySecrets,
)
from twinsmith.adapters.deliveries.secret_folder import SecretFolder
from twinsmith.adapters.deliveries.tables import (
    ActionTable,
    AppTable,
    OverrideTable,
    ReleaseTable,
)
from twinsmith.adapters.desk.approvals import ApprovalTable
from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.instance import Image
from twinsmith.core.people.approval import ApprovalRequest, Decision, Dossier
from twinsmith.core.people.override import Override
from twinsmith.core.probe import Probe, Probes
from twinsmith.ports import (
    ActionQueue,
    Approvals,
    Apps,
    Overrides,
    Releases,
    SecretBox,
)

SHOP = App(name="shop", host="local", port=8100)
PROBES = Probes(checks=(Probe(name="a", origin="plan", source="assert True"),), setup="x = 1")
FIRST = Release(
    app="shop",
    number=1,
    run="r-1",
    deliverable=Deliverable(source=SOURCE, probes=PROBES, spec='{"openapi": "3.1.0"}'),
    image=Image(reference="abc", digest="def", base="debian@sha256:1"),
)
ASKED = Queued(run="r-1", app="shop", kind="deploy", state="asking", by="user:ann", at="2026-1")
REQUEST = ApprovalRequest(
    id="r-1.a1",
    run="r-1",
    app="shop",
    by="user:ann",
    dossier=Dossier(what="deploy shop", occasions=("first_deploy",), diff="+a", findings=("f",)),
    asked="2026-11-18T10:00:00+00:00",
    until="2026-11-19T10:00:00+00:00",
)
HELD = Override(scope="shop", kind="pause", reason="why", by="user:ann", at="2026-11-18")


@dataclass
class Memory:
    """Everything that deliveries are remembered by."""

    apps: Apps
    releases: Releases
    actions: ActionQueue
    approvals: Approvals
    overrides: Overrides


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Memory]:
    """Opens the same memory, each time as another process would."""
    if request.param == "memory":
        releases = MemoryReleases()
        only = Memory(
            apps=MemoryApps(releases),
            releases=releases,
            actions=MemoryActions(),
            approvals=MemoryApprovals(),
            overrides=MemoryOverrides(),
        )
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: Memory(
        apps=AppTable(url),
        releases=ReleaseTable(url),
        actions=ActionTable(url),
        approvals=ApprovalTable(url),
        overrides=OverrideTable(url),
    )


def test_apps_are_kept_replaced_and_forgotten_with_their_releases(
    opened: Callable[[], Memory],
) -> None:
    opened().apps.save(SHOP)
    opened().apps.save(replace(SHOP, name="blog", port=8101))
    opened().apps.save(replace(SHOP, serving=2, good=1))
    assert [each.name for each in opened().apps.listed()] == ["blog", "shop"]
    assert opened().apps.get("shop") == replace(SHOP, serving=2, good=1)
    assert opened().apps.get("nobody") is None
    opened().releases.save(FIRST)
    opened().apps.remove("shop")
    opened().apps.remove("shop")
    assert opened().apps.get("shop") is None
    assert opened().releases.listed("shop") == ()


def test_releases_come_back_as_they_were(opened: Callable[[], Memory]) -> None:
    second = replace(FIRST, number=2, parent=1, image=None)
    opened().releases.save(second, FIRST)
    opened().releases.save(replace(FIRST, state="serving"), replace(second, state="refused"))
    kept = opened().releases.listed("shop")
    assert kept == (replace(FIRST, state="serving"), replace(second, state="refused"))
    assert kept[0].deliverable.source.digest == SOURCE.digest
    assert kept[0].deliverable.probes == PROBES
    assert opened().releases.listed("blog") == ()


def test_actions_get_their_places_when_they_are_let_in(opened: Callable[[], Memory]) -> None:
    for number in (1, 2, 3):
        opened().actions.put(replace(ASKED, run=f"r-{number}", at=f"2026-{number}"))
    opened().actions.put(replace(ASKED, run="r-1", app="other"))
    assert opened().actions.admit("r-2").place == 1
    assert opened().actions.admit("r-1").place == 2
    assert opened().actions.admit("r-2").place == 1
    listed = opened().actions.listed()
    assert [(each.run, each.app, each.state) for each in listed] == [
        ("r-2", "shop", "queued"),
        ("r-1", "shop", "queued"),
        ("r-3", "shop", "asking"),
    ]
    opened().actions.change("r-2", "done")
    opened().actions.change("r-2", "running")
    assert [each.run for each in opened().actions.listed()] == ["r-1", "r-3"]
    assert opened().actions.listed(over=True)[0].state == "done"


def test_nobody_shares_a_place(opened: Callable[[], Memory]) -> None:
    runs = [f"r-{number}" for number in range(8)]
    for run in runs:
        opened().actions.put(replace(ASKED, run=run))
    with ThreadPoolExecutor(4) as threads:
        places = list(threads.map(lambda run: opened().actions.admit(run).place, runs))
    assert sorted(places) == list(range(1, 9))


def test_the_first_decision_counts(opened: Callable[[], Memory]) -> None:
    assert opened().approvals.put(REQUEST) == REQUEST
    assert opened().approvals.put(replace(REQUEST, app="other")) == REQUEST
    said = Decision(
        said="modify", by="user:bob", at="2026", note="n", files={"a.py": "1"}, terms={"x": 1.0}
    )
    assert opened().approvals.decide("r-1.a1", said)
    assert not opened().approvals.decide("r-1.a1", replace(said, said="approve"))
    assert not opened().approvals.decide("nobody", said)
    assert opened().approvals.get("r-1.a1") == replace(REQUEST, decision=said)
    assert opened().approvals.listed() == (replace(REQUEST, decision=said),)
    assert opened().approvals.get("nobody") is None


def test_an_override_holds_until_it_is_lifted(opened: Callable[[], Memory]) -> None:
    opened().overrides.put(HELD)
    opened().overrides.put(replace(HELD, scope="all", kind="cancel"))
    assert opened().overrides.listed() == (HELD, replace(HELD, scope="all", kind="cancel"))
    assert opened().overrides.lift("shop", "now") == 1
    assert opened().overrides.lift("shop", "now") == 0
    assert [each.lifted for each in opened().overrides.listed()] == ["now", ""]


@pytest.fixture(params=["memory", "folder"])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> SecretBox:
    return MemorySecrets() if request.param == "memory" else SecretFolder(tmp_path / "s")


def test_secrets_stay_with_their_app_and_a_key_is_always_there(box: SecretBox) -> None:
    first = dict(box.of("shop"))
    assert list(first) == ["SECRET_KEY"]
    box.put("shop", {"API_KEY": "x"})
    box.put("shop", {"OTHER": "y"})
    assert dict(box.of("shop")) == {**first, "API_KEY": "x", "OTHER": "y"}
    assert "API_KEY" not in box.of("blog")
    box.remove("shop")
    box.remove("shop")
    assert "API_KEY" not in box.of("shop")
