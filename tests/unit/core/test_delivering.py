"""Pure decisions about apps: which release serves, who comes first, who is asked, who is worse."""

import json
from dataclasses import replace

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, Queued, before
from twinsmith.core.operating.app import (
    App,
    Release,
    ReleaseState,
    diff,
    next_number,
    rollback_target,
    served,
)
from twinsmith.core.operating.canary import Exchange, exchanges_in, worse, worse_share
from twinsmith.core.operating.deliverable import Deliverable, checks_in, deliverable_in
from twinsmith.core.operating.inspected import Inspected, at_least
from twinsmith.core.operating.instance import Image, app_name, host_name, instance_name
from twinsmith.core.operating.route import one_upstream, split
from twinsmith.core.operating.source import Source
from twinsmith.core.people.approval import (
    ApprovalRequest,
    Decision,
    Dossier,
    decision_in,
    may_decide,
    message_of,
    needed,
)
from twinsmith.core.people.override import Override, command_of, holding, words
from twinsmith.core.program import Program
from twinsmith.flow.deliver.approve import occasions

SHOP = App(name="shop", host="local", port=8100, serving=3, good=2)
THING = Deliverable(source=Source(program=Program(source="print(1)", kind="service")))
IMAGE = Image(reference="a", digest="b")


def release(number: int, state: ReleaseState, *, parent: int = 0, built: bool = True) -> Release:
    image = IMAGE if built else None
    return Release(
        app="shop",
        number=number,
        run=f"r-{number}",
        deliverable=THING,
        state=state,
        parent=parent,
        image=image,
    )


RELEASES = (
    release(1, "replaced"),
    release(2, "replaced", parent=1),
    release(3, "serving", parent=2),
    release(4, "refused", parent=3, built=False),
)


def test_names_of_apps_hosts_and_instances() -> None:
    assert app_name("shop-2") == "shop-2"
    for wrong in ("", "Shop", "2shop", "a b", "a" * 31, "../x", "shöp"):
        with pytest.raises(ConfigError, match="cannot be the name of an app"):
            app_name(wrong)
    assert host_name("podman") == "podman"
    with pytest.raises(ConfigError, match="one of local, docker, podman"):
        host_name("moon")
    assert instance_name("shop", 3, trial=True) == "shop-3-trial"


def test_one_release_serves_and_the_one_before_is_left() -> None:
    assert next_number(RELEASES) == 5
    assert next_number(()) == 1
    app, releases = served(SHOP, RELEASES, 2, left="rolled back")
    assert (app.serving, app.wanted, app.good) == (2, "running", 2)
    assert [each.state for each in releases] == ["replaced", "serving", "rolled back", "refused"]


def test_what_was_rolled_back_is_known_good_no_more_and_no_rollback_leads_to_it_again() -> None:
    leaky = replace(SHOP, serving=3, good=3)
    app, releases = served(leaky, RELEASES, 1, left="rolled back")
    assert (app.serving, app.good) == (1, 1)
    with pytest.raises(ConfigError, match="nothing to go back to"):
        rollback_target(app, releases, 0)
    # One that was rolled back itself and is let serve again has to prove itself anew.
    again, _ = served(app, releases, 3, left="rolled back")
    assert (again.serving, again.good) == (3, 0)
    # What replaces a good one has not lasted yet.
    new, _ = served(leaky, RELEASES, 2, left="replaced")
    assert new.good == 3


def test_a_rollback_goes_to_the_last_known_good_one_or_where_it_is_told() -> None:
    assert rollback_target(SHOP, RELEASES, 0).number == 2
    assert rollback_target(SHOP, RELEASES, 1).number == 1
    # The serving one is the good one: then to the one that it replaced.
    assert rollback_target(replace(SHOP, good=3), RELEASES, 0).number == 2
    with pytest.raises(ConfigError, match=r"no release 4 that could serve; there are: 1, 2, 3"):
        rollback_target(SHOP, RELEASES, 4)
    with pytest.raises(ConfigError, match="nothing to go back to"):
        rollback_target(replace(SHOP, serving=1, good=1), RELEASES[:1], 0)


def test_a_diff_shows_what_changed_in_which_file() -> None:
    text = diff({"a.py": "x = 1\n", "b.py": "same\n"}, {"a.py": "x = 2\n", "b.py": "same\n"})
    assert "--- a/a.py" in text
    assert "+x = 2" in text
    assert "b.py" not in text


def test_actions_of_one_app_wait_for_those_before_them() -> None:
    first, second, other, asking, over = (
        Queued(run="1", app="shop", kind="deploy", state="running", place=1),
        Queued(run="2", app="shop", kind="rollback", state="queued", place=2),
        Queued(run="3", app="blog", kind="deploy", state="queued", place=3),
        Queued(run="4", app="shop", kind="deploy", state="asking"),
        Queued(run="5", app="shop", kind="deploy", state="done", place=0),
    )
    queue = (first, second, other, asking, over)
    assert before(second, queue) == (first,)
    assert before(first, queue) == ()
    assert before(other, queue) == ()


def exchanges(*statuses: int, seconds: float = 0.01) -> list[Exchange]:
    return [Exchange(path=f"/{n}", status=s, seconds=seconds) for n, s in enumerate(statuses)]


def test_a_version_that_fails_where_the_old_one_answers_is_worse() -> None:
    assert worse(exchanges(200, 404), exchanges(200, 404)) == ""
    assert worse(exchanges(200), exchanges(500)) == "GET /0 gave 200 before and gives 500 now"
    assert worse(exchanges(200), exchanges(0)) == "GET /0 gave 200 before and gives nothing now"
    # What did not work before need not work now.
    assert worse(exchanges(500), exchanges(500)) == ""


def test_a_version_that_takes_much_longer_is_worse() -> None:
    assert worse(exchanges(200), exchanges(200, seconds=0.05)) == ""
    assert "takes 0.500 s" in worse(exchanges(200), exchanges(200, seconds=0.5))


def test_shares_of_failures_count_only_with_enough_requests() -> None:
    good, bad = exchanges(*[200] * 30), exchanges(*[200] * 20, *[500] * 10)
    assert worse_share(good, bad) == "33% of 30 requests fail, 0% of 30 did before"
    assert worse_share(good, bad[15:]) == ""
    assert worse_share(bad, bad) == ""


def test_requests_are_read_off_a_log_that_holds_anything() -> None:
    told = {"path": "/a", "status": 200, "microseconds": 1500}
    log = "\n".join(["starting", json.dumps(told), "{broken", '{"other": 1}', "[]"])
    assert exchanges_in(log) == (Exchange(path="/a", status=200, seconds=0.0015),)


def test_routes_split_requests_between_two_versions() -> None:
    assert split("shop", 1, old="o", new="n", share=0) == one_upstream("shop", 1, "o")
    assert split("shop", 1, old="o", new="n", share=100) == one_upstream("shop", 1, "n")
    both = split("shop", 1, old="o", new="n", share=10).upstreams
    assert [(each.address, each.share) for each in both] == [("o", 90), ("n", 10)]


FILES = {
    "solution.py": "print(1)\n",
    "openapi.json": json.dumps(
        {"openapi": "3.1.0", "paths": {"/up": {"get": {"responses": {"200": {}}}}}}
    ),
    "checks.json": json.dumps({"setup": "s", "checks": [{"name": "a", "source": "b"}]}),
}


def test_a_service_is_read_with_its_checks_and_its_interface() -> None:
    found = deliverable_in(FILES, "here")
    assert [each.name for each in found.probes.checks] == ["a"]
    assert found.contract is not None
    assert "/up" in [each.path for each in found.contract.operations]
    plain = deliverable_in({**FILES, "openapi.json": "not json"}, "here")
    assert (plain.contract, plain.health) == (None, "/")


def test_what_is_no_service_is_not_deployed() -> None:
    with pytest.raises(ConfigError, match="holds a cli, and only services are deployed"):
        deliverable_in({"solution.py": "print(1)\n"}, "here")
    for wrong in ("[]", "{}", "nothing", '{"checks": [1], "setup": ""}'):
        with pytest.raises(ConfigError, match=r"checks.json in here cannot be read"):
            checks_in(wrong, "here")


ASKED = ApprovalRequest(
    id="r.a1",
    run="r",
    app="shop",
    by="user:ann",
    dossier=Dossier(what="x", occasions=()),
    asked="2026-11-18T10",
    until="2026-11-18T12",
)


def test_who_may_decide() -> None:
    assert may_decide(ASKED, "user:ann", allowed=(), own=True) == ""
    assert may_decide(ASKED, "user:bob", allowed=("bob",), own=False) == ""
    assert "may not decide" in may_decide(ASKED, "user:eve", allowed=("bob",), own=True)
    assert "forbids" in may_decide(ASKED, "user:ann", allowed=(), own=False)
    assert not ASKED.overdue("2026-11-18T11")
    assert ASKED.overdue("2026-11-18T12")


def test_decisions_travel_as_messages() -> None:
    said = Decision(said="modify", by="b", at="c", note="n", files={"a": "b"}, terms={"x": 1})
    assert decision_in(message_of(said)) == said
    assert decision_in({"said": "perhaps"}) is None
    assert decision_in(None) is None


def test_a_person_is_asked_for_what_the_policy_names() -> None:
    deploy = Action(run="r", kind="deploy", app="shop", deliverable=THING)
    old = release(3, "serving")
    calm = Inspected(risk="medium")

    def asked(*policy: str, action: Action = deploy, app: App | None = SHOP) -> tuple[str, ...]:
        return occasions(action, app, old if app else None, THING, calm, policy)

    assert asked() == ()
    assert asked("every_deploy", "first_deploy") == ("every_deploy",)
    assert asked("first_deploy", app=None) == ("first_deploy",)
    assert asked("risk_high") == ()
    assert asked("risk_medium") == ("risk",)
    assert asked("schema_change", action=replace(deploy, replace=True)) == ("schema_change",)
    assert asked("heal", action=replace(deploy, trigger="heal")) == ("heal",)
    assert asked("rollback", action=replace(deploy, kind="rollback")) == ("rollback",)
    remove = replace(deploy, kind="remove", data=True)
    assert asked("data_touched", action=remove) == ("data_touched",)
    flask = replace(THING, source=replace(THING.source, packages=("flask",)))
    fresh = occasions(deploy, SHOP, old, flask, calm, ("new_dependency",))
    assert fresh == ("new_dependency",)
    assert needed({"heal"}, ()) == ()


def test_risks_are_ordered() -> None:
    assert at_least("high", "medium")
    assert not at_least("low", "medium")
    assert not at_least("critical", "unheard of")


def test_the_newest_override_holds_an_app_until_it_is_lifted() -> None:
    shop = Override(scope="shop", kind="pause", reason="a", by="user:ann", at="2026-1")
    everything = replace(shop, scope="all", kind="cancel", at="2026-2")
    assert holding((shop, everything), "shop") == everything
    assert holding((shop, replace(everything, lifted="x")), "shop") == shop
    assert holding((shop,), "blog") is None
    assert words(everything).startswith("ann holds everything since 2026-2 (cancel: a); lift it")
    with pytest.raises(ConfigError, match="one of pause, resume, cancel, rollback, release"):
        command_of("explode")
