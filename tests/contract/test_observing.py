"""The dashboard and the rules: every figure that they ask for is one that `/metrics` gives."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from tests.promtool import promtool
from twinsmith.cli.main import app
from twinsmith.core.driving import Driving
from twinsmith.core.measures import COUNTED, parts_of
from twinsmith.core.operating.app import App
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.people.actor import Actor
from twinsmith.observing import NAMES, text_of, written
from twinsmith.runs.book import Book
from twinsmith.runs.figures import families, prometheus_text
from twinsmith.settings import load
from twinsmith.wiring.delivering import apps_of
from twinsmith.wiring.telemetry import table_of
from twinsmith.wiring.watching import incidents_of, readings_of

FIGURE = re.compile(r"\btwinsmith_[a-z0-9_]+")
SUFFIXES = ("_bucket", "_sum", "_count")


@pytest.fixture
def text(tmp_path: Path) -> str:
    """What a server tells that has an app, an incident, and something of every figure."""
    import time

    settings = load({"TWINSMITH_HOME": str(tmp_path)})
    book = Book(settings, Actor(name="ann"))
    now = time.time()
    for measure in COUNTED:
        labels = {name: f'a "{name}"\\ \n' for name in measure.labels}
        for value in (0.3, 4000.0):
            table_of(settings).keep((), parts_of(measure, value, labels), now)
    apps_of(settings).save(App(name="shop", host="local", port=8100, serving=1))
    usage = Usage(state="running", memory=5_000_000, memory_limit=512 << 20, restarts=2)
    traffic = Traffic(requests=40, failed=1, median=0.02, slowest=0.4)
    readings_of(settings).add(
        [
            Reading(app="shop", release=1, at=now - ago, usage=usage, traffic=traffic)
            for ago in (15, 8, 1)
        ]
    )
    book.driving.submit(Driving(run="r1", state="queued", pipeline="1"), None)
    incidents_of(settings).save(
        Incident(id="i1", app="shop", release=1, kind="errors", opened=now, changed=now)
    )
    return prometheus_text(book, streams=3, processor_seconds=1.5)


def asked() -> set[str]:
    """Every figure that the dashboard or a rule asks for, without the parts of histograms."""
    dashboard = json.loads(text_of("dashboard.json"))
    told = [each["expr"] for panel in dashboard["panels"] for each in panel["targets"]]
    rules = yaml.safe_load(text_of("alerts.yml"))
    told += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    assert len(told) > 40
    return {name for expression in told for name in FIGURE.findall(expression)}


def given(text: str) -> set[str]:
    """Every name under which Prometheus keeps a number of a text."""
    return {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }


def test_every_figure_that_is_asked_for_is_given(text: str) -> None:
    assert asked() - given(text) == set()


def test_every_figure_that_is_counted_is_shown() -> None:
    shown = {_family(name) for name in asked()}
    hidden = {"twinsmith_step_errors_total", "twinsmith_incident_closed_total"}
    assert {each.family for each in COUNTED} - shown == hidden


def test_figures_are_as_prometheus_wants_them(text: str) -> None:
    kinds = families(text)
    assert kinds["twinsmith_model_duration_seconds"] == "histogram"
    assert kinds["twinsmith_model_tokens_total"] == "counter"
    found = {family.name: family for family in text_string_to_metric_families(text)}
    (buckets, total) = (
        [s for s in found["twinsmith_stage_duration_seconds"].samples if s.name.endswith(end)]
        for end in ("_bucket", "_count")
    )
    values = [each.value for each in buckets]
    assert values == sorted(values)
    assert (values[-1], buckets[-1].labels["le"], total[0].value) == (2, "+Inf", 2)
    assert buckets[0].labels["stage"] == 'a "stage"\\ \n'
    (up,) = found["twinsmith_app_up"].samples
    assert (up.labels, up.value) == ({"app": "shop"}, 0)
    (slow,) = found["twinsmith_app_p95_seconds"].samples
    assert slow.value == 0.4


def test_a_server_that_has_done_nothing_names_every_figure(tmp_path: Path) -> None:
    book = Book(load({"TWINSMITH_HOME": str(tmp_path)}), Actor(name="ann"))
    kinds = families(prometheus_text(book, streams=0, processor_seconds=0))
    assert {each.family for each in COUNTED} <= set(kinds)
    assert {_family(name) for name in asked()} <= set(kinds)


def test_promtool_takes_rules_configuration_and_figures(text: str, tmp_path: Path) -> None:
    tool = promtool()
    folder = tmp_path / "observing"
    written(folder)
    (folder / "twinsmith-key").write_text("tws_x")
    for line in (
        ["check", "rules", str(folder / "twinsmith-alerts.yml")],
        ["check", "config", str(folder / "twinsmith-prometheus.yml")],
    ):
        done = subprocess.run([tool, *line], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    linted = subprocess.run(
        [tool, "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    # Its taste (3) is told apart from what it cannot read (1).
    assert linted.returncode in (0, 3), linted.stderr
    assert "error" not in linted.stderr.lower()


def test_the_command_writes_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "observing"
    told = CliRunner().invoke(app, ["telemetry", "files", str(folder)])
    assert told.exit_code == 0
    assert sorted(each.name for each in folder.iterdir()) == sorted(
        f"twinsmith-{name}" for name in NAMES
    )
    assert told.stdout.split() == [str(folder / f"twinsmith-{name}") for name in NAMES]


def _family(name: str) -> str:
    plain = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
    known = {each.family for each in COUNTED if each.kind == "histogram"}
    return plain if plain in known else name
