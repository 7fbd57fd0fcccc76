"""The ports `Telemetry` and `Told`: memory, SQLite, PostgreSQL, and a real collector."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.collectors import Collector, grpc_collector, http_collector
from tests.databases import fresh_url
from twinsmith.adapters.telemetry import otlp
from twinsmith.adapters.telemetry.embedded import EmbeddedTelemetry
from twinsmith.adapters.telemetry.memory import MemoryTelemetry
from twinsmith.adapters.telemetry.otlp import OtlpTelemetry
from twinsmith.adapters.telemetry.screened import ScreenedTelemetry
from twinsmith.adapters.telemetry.table import TelemetryTable
from twinsmith.core.masking import Masking
from twinsmith.core.measures import HTTP_REQUESTS, MODEL_SECONDS, MODEL_TOKENS, Part
from twinsmith.core.telemetry import PROMPTS, Span, Trace, new_span, new_trace
from twinsmith.ports import Telemetry, Told

AT = 1_800_000_000.0
SECRET = "glpat-" + "x7Qp2Lk9Wm4Rt8Zs1Vb3"


@dataclass(kw_only=True)
class Place:
    """Where telemetry goes, and how it is read back; each `opened` is as of another process."""

    opened: Callable[[], Telemetry]
    told: Told


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "memory":
        only = MemoryTelemetry()
        return Place(opened=lambda: only, told=only)
    url = fresh_url(request, tmp_path)
    return Place(opened=lambda: embedded(url), told=TelemetryTable(url))


@pytest.fixture(params=["http", "grpc"])
def collector(request: pytest.FixtureRequest) -> Iterator[Collector]:
    with http_collector() if request.param == "http" else grpc_collector() as found:
        found.headers.append({"protocol": request.param})
        yield found


def embedded(url: str, onward: OtlpTelemetry | None = None) -> EmbeddedTelemetry:
    return EmbeddedTelemetry(TelemetryTable(url), hours=24, onward=onward, now=lambda: AT)


def sender(found: Collector, **headers: str) -> OtlpTelemetry:
    told = otlp.Collector(
        endpoint=found.address, protocol=found.headers[0]["protocol"], headers=headers
    )
    return OtlpTelemetry(told, process="worker", version="1")


def span(name: str = "clarify", **more: object) -> Span:
    made = Span(what="stage", name=name, place=new_trace(), began=AT, ended=AT + 1.5, run="r1")
    return replace(made, **more)  # type: ignore[arg-type]


def below(parent: Span, name: str, **more: object) -> Span:
    own = replace(parent.place, span=new_span())
    return span(name, place=own, parent=parent.place.span, **more)


def test_a_trace_is_read_back_whole_and_in_its_order(place: Place) -> None:
    top = span("build", what="run", attributes={"twinsmith.run": "r1", "n": 3, "tags": ("a", "b")})
    late, early = below(top, "late", began=AT + 1), below(top, "early", began=AT + 0.5)
    telemetry = place.opened()
    for each in (top, late, early, span("of another trace", run="r2")):
        telemetry.tell(each)
    telemetry.flush()
    assert list(place.told.spans(top.place.trace)) == [top, early, late]
    assert place.told.trace_of("r1") == top.place.trace
    assert place.told.trace_of("r3") == ""
    assert list(place.told.spans("0" * 32)) == []


def test_the_first_end_that_is_told_holds_whoever_tells_it(place: Place) -> None:
    begun = span("clarify", ended=0.0)
    first, second = place.opened(), place.opened()
    first.tell(begun)
    first.flush()
    (seen,) = place.told.spans(begun.place.trace)
    assert seen.seconds == 0
    # Another process goes on, and knows only when it took over.
    second.tell(replace(begun, began=AT + 5, ended=0.0))
    second.tell(replace(begun, began=AT + 5, ended=AT + 9, again=True))
    second.tell(replace(begun, began=AT + 5, ended=AT + 11, problem="late"))
    second.flush()
    (seen,) = place.told.spans(begun.place.trace)
    assert (seen.began, seen.ended, seen.problem) == (AT, AT + 9, "")


def test_figures_of_all_processes_add_up(place: Place) -> None:
    labels = {"model": 'a"b\\c\nd', "direction": "in"}
    for telemetry in (place.opened(), place.opened()):
        telemetry.observe(MODEL_TOKENS, 40, **labels)
        telemetry.observe(MODEL_TOKENS, 2, **labels)
        telemetry.observe(MODEL_SECONDS, 0.3, model="m", role="slow")
        telemetry.observe(MODEL_SECONDS, 9_000, model="m", role="slow")
        telemetry.flush()
    numbers = {(each.family, each.part): value for each, value in place.told.totals().items()}
    assert numbers == {
        ("twinsmith_model_tokens_total", ""): 84,
        ("twinsmith_model_duration_seconds", "0.5"): 2,
        ("twinsmith_model_duration_seconds", "+Inf"): 2,
        ("twinsmith_model_duration_seconds", "sum"): 18_000.6,
        ("twinsmith_model_duration_seconds", "count"): 4,
    }
    ((_, minute),) = place.told.minutes(AT - 600).items()
    assert dict(minute) == dict(place.told.totals())


def test_nothing_is_lost_that_threads_tell_at_once(place: Place) -> None:
    telemetry, top = place.opened(), span("build", what="run")
    telemetry.tell(top)

    def tell() -> None:
        for _ in range(50):
            telemetry.tell(below(top, "step"))
            telemetry.observe(HTTP_REQUESTS, method="GET", route="/", status="200")
            telemetry.flush()

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    telemetry.flush()
    assert len(place.told.spans(top.place.trace)) == 201
    assert list(place.told.totals().values()) == [200]


@pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
def test_two_processes_that_add_to_the_same_figures_do_not_wait_in_a_ring(place: Place) -> None:
    def tell(telemetry: Telemetry, roles: list[str]) -> None:
        for _ in range(30):
            for role in roles:
                telemetry.observe(MODEL_SECONDS, 1, model="m", role=role)
            telemetry.flush()

    roles = ["slow", "coder", "critic"]
    ways = (roles, roles[::-1])
    threads = [threading.Thread(target=tell, args=(place.opened(), way)) for way in ways]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    counted = [v for k, v in place.told.totals().items() if k.part == "count"]
    assert counted == [60, 60, 60]


def test_a_table_forgets_what_is_old_and_what_is_too_much(tmp_path: Path) -> None:
    table = TelemetryTable(f"sqlite:///{tmp_path / 'runs.db'}", most=3)
    part = Part(family="f_total", labels="", part="")
    for number in range(6):
        one = span(place=Trace(trace="a" * 32, span=f"{number:016x}"), began=AT + number)
        table.keep([one], {part: 1.0}, AT + 600 * number)
    table.forget(AT - 3600)
    assert [each.began - AT for each in table.spans("a" * 32)] == [3, 4, 5]
    table.forget(AT + 4.5)
    assert [each.began - AT for each in table.spans("a" * 32)] == [5]
    # Sums stay: a counter that goes back is no counter.
    assert table.totals() == {part: 6.0}
    assert len(table.minutes(AT)) == 5
    table.forget(AT + 1500)
    assert len(table.minutes(0)) == 3


def test_who_is_suspended_in_the_middle_of_a_write_holds_up_nobody_for_long(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'telemetry.db'}"
    table = TelemetryTable(url)
    assert table.spans("a" * 32) == ()
    telemetry, began = embedded(url), time.monotonic()
    with closing(sqlite3.connect(tmp_path / "telemetry.db", isolation_level=None)) as suspended:
        suspended.execute("BEGIN IMMEDIATE")
        telemetry.tell(span())
        telemetry.observe(HTTP_REQUESTS, method="GET", route="/", status="200")
        telemetry.flush()
        assert time.monotonic() - began < 20
    telemetry.flush()
    kept = {(each.family, each.part): value for each, value in table.totals().items()}
    assert kept == {
        ("twinsmith_http_requests_total", ""): 1,
        ("twinsmith_telemetry_dropped_total", ""): 1,
    }


def test_who_tells_is_not_broken_by_a_database_that_is_away(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    telemetry = embedded(f"sqlite:///{blocked}/runs.db")
    telemetry.tell(span())
    telemetry.observe(HTTP_REQUESTS, method="GET", route="/", status="200")
    telemetry.flush()
    blocked.unlink()
    telemetry.observe(HTTP_REQUESTS, method="GET", route="/", status="200")
    telemetry.flush()
    totals = TelemetryTable(f"sqlite:///{blocked}/runs.db").totals()
    kept = {(each.family, each.labels): value for each, value in totals.items()}
    # Sums come later; what happened to whom is gone, and that is counted.
    assert kept == {
        ("twinsmith_http_requests_total", 'method="GET",route="/",status="200"'): 2,
        ("twinsmith_telemetry_dropped_total", 'sort="span"'): 1,
    }


def test_a_collector_gets_what_ended(collector: Collector) -> None:
    telemetry = sender(collector, authorization="Bearer abc")
    top = span("build", what="run", kind="consumer", attributes={"a": 1, "b": ("x", "y")})
    chat = below(top, "chat m", kind="client", problem="ModelUnavailable", link=new_trace().text)
    telemetry.tell(replace(top, ended=0.0))
    telemetry.tell(chat)
    telemetry.tell(top)
    telemetry.tell(below(top, "told before", again=True))
    telemetry.observe(MODEL_TOKENS, 7, model="m", direction="in")
    telemetry.observe(MODEL_SECONDS, 2, model="m", role="slow")
    telemetry.flush()
    assert [each["name"] for each in collector.spans] == ["chat m", "build"]
    first, second = collector.spans
    assert (second["trace"], second["span"], second["parent"]) == (
        top.place.trace,
        top.place.span,
        "",
    )
    assert (second["kind"], second["attributes"]["b"], second["failed"]) == (
        "consumer",
        ["x", "y"],
        False,
    )
    assert first["parent"] == top.place.span
    assert (first["failed"], first["attributes"]["error.type"]) == (True, "ModelUnavailable")
    assert first["links"] == [tuple(chat.link.split("-")[1:3])]
    assert second["ended"] - second["began"] == pytest.approx(1.5)
    assert second["resource"]["service.name"] == "twinsmith"
    assert second["resource"]["twinsmith.process"] == "worker"
    assert collector.numbers == {
        ("twinsmith.model.tokens", (("direction", "in"), ("model", "m"))): 7,
        ("twinsmith.model.duration", (("model", "m"), ("role", "slow"))): 1,
    }
    assert [each["authorization"] for each in collector.headers[1:]] == ["Bearer abc"] * 2


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_is_kept_by_two_processes_is_handed_on_once(
    kind: str, collector: Collector, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    if kind == "postgresql":
        url = f"{request.getfixturevalue('postgres')}/twice_{new_span()}"
    begun = span("clarify", ended=0.0)
    first, second = (embedded(url, sender(collector)) for _ in range(2))
    first.tell(begun)
    first.flush()
    second.tell(replace(begun, began=AT + 3, ended=AT + 4, again=True))
    second.flush()
    first.tell(replace(begun, ended=AT + 6))
    first.flush()
    (sent,) = collector.spans
    # As from the beginning on, and not from where the second one took over.
    assert (sent["began"], sent["ended"]) == (pytest.approx(AT), pytest.approx(AT + 4))


def test_a_collector_that_is_away_holds_nobody_up(collector: Collector) -> None:
    clock = [100.0]
    away = otlp.Collector(
        endpoint="http://127.0.0.1:1", protocol=collector.headers[0]["protocol"], seconds=0.3
    )
    telemetry = OtlpTelemetry(away, process="w", version="1", clock=lambda: clock[0])
    telemetry.tell(span())
    telemetry.flush()
    telemetry.tell(span())
    telemetry.flush()
    # Left alone for a while: this returned at once, and what was told meanwhile is dropped.
    telemetry.tell(span())
    assert telemetry._rests_until > clock[0]


def test_the_door_takes_out_prompts_and_secrets_and_what_is_not_sampled() -> None:
    kept = MemoryTelemetry()
    told = {PROMPTS[0]: "write me a poem", "note": f"token {SECRET}", "tags": (SECRET, "b")}

    def seen(*, prompts: bool, share: float = 1.0, place: Trace | None = None) -> list[Span]:
        kept.told.clear()
        door = ScreenedTelemetry(kept, Masking(), prompts=prompts, share=share)
        one = span(f"chat {SECRET}", attributes=told, problem=SECRET)
        door.tell(replace(one, place=place) if place else one)
        door.observe(MODEL_TOKENS, 1, model=SECRET, direction="in")
        return list(kept.told.values())

    (plain,) = seen(prompts=False)
    assert PROMPTS[0] not in plain.attributes
    (wanted,) = seen(prompts=True)
    assert wanted.attributes[PROMPTS[0]] == "write me a poem"
    assert SECRET not in f"{plain}{wanted}{dict(kept.totals())}"
    half = [Trace(trace=f"{n:016x}" + f"{n * (1 << 60):016x}", span="b" * 16) for n in range(1, 16)]
    assert [len(seen(prompts=False, share=0.5, place=each)) for each in half] == [1] * 7 + [0] * 8
    assert seen(prompts=False, place=replace(new_trace(), sampled=False)) == []
