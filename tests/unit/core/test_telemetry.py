"""Places in traces, what may be told of a span, waterfalls, and figures in Prometheus' words."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from twinsmith.core.measures import (
    BOUNDS,
    COUNTED,
    HTTP_REQUESTS,
    RUN_SECONDS,
    Part,
    exposed,
    parts_of,
    quantile,
)
from twinsmith.core.telemetry import (
    LONGEST,
    PROMPTS,
    Span,
    Trace,
    What,
    is_sampled,
    new_trace,
    place_of_run,
    presentable,
    provider_of,
    span_id,
    trace_in,
)
from twinsmith.core.waterfall import waterfall

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_place_is_written_and_read_as_w3c_does() -> None:
    told = f"00-{TRACE}-{SPAN}-01"
    assert trace_in(told) == Trace(trace=TRACE, span=SPAN)
    assert trace_in(f" 00-{TRACE}-{SPAN}-00 ") == Trace(trace=TRACE, span=SPAN, sampled=False)
    assert Trace(trace=TRACE, span=SPAN).text == told
    # A later version may have more parts, this one may not.
    assert trace_in(f"01-{TRACE}-{SPAN}-01-more") is not None
    made = new_trace()
    assert trace_in(made.text) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE[:-2]}-{SPAN}-01",
    ],
)
def test_what_is_no_place_is_none(text: str) -> None:
    assert trace_in(text) is None


def test_the_place_of_a_run_follows_from_its_name_and_its_cause() -> None:
    context = f"00-{TRACE}-{SPAN}-01"
    place = place_of_run("r-1", context)
    assert place == place_of_run("r-1", context), "whoever takes it over goes on there"
    assert place.trace == TRACE
    assert place.span != place_of_run("r-2", context).span
    alone = place_of_run("r-1", "no traceparent")
    assert (alone.trace == TRACE, alone.span) == (False, place.span)
    assert place.within("stage", "explore") != place.within("stage", "refine")


def test_all_processes_say_the_same_of_a_sampled_trace() -> None:
    places = [new_trace() for _ in range(400)]
    told = sum(is_sampled(each, 0.25) for each in places)
    assert 60 < told < 140
    assert all(is_sampled(each, 1.0) for each in places)
    assert not any(is_sampled(each, 0.0) for each in places)
    assert not is_sampled(Trace(trace=TRACE, span=SPAN, sampled=False), 1.0)


def span(name: str, began: float, ended: float, *, parent: str = "", what: What = "step") -> Span:
    place = Trace(trace=TRACE, span=span_id(name))
    return Span(what=what, name=name, place=place, parent=parent, began=began, ended=ended)


def test_what_may_not_be_told_is_taken_out_before_anything_is_cut() -> None:
    long = "x" * (LONGEST - 4) + "secret"
    told = Span(
        what="step",
        name="ask secret",
        place=new_trace(),
        began=0,
        attributes={PROMPTS[0]: "secret words", "a": long, "b": ("secret", "y"), "n": 3},
    )
    shown = presentable(told, lambda text: text.replace("secret", "***"), prompts=False)
    assert shown.name == "ask ***"
    assert shown.attributes == {"a": "x" * (LONGEST - 4) + "***", "b": ("***", "y"), "n": 3}
    with_prompts = presentable(told, lambda text: text.replace("secret", "***"), prompts=True)
    assert with_prompts.attributes[PROMPTS[0]] == "*** words"


def test_providers_are_spelled_as_the_conventions_do() -> None:
    assert provider_of("openai:gpt-4o") == ("openai", "gpt-4o")
    assert provider_of("google:gemini-2.5-pro") == ("gcp.gemini", "gemini-2.5-pro")
    assert provider_of("nobody") == ("unknown", "nobody")


def test_a_waterfall_has_parents_before_children_and_an_axis_for_each_run() -> None:
    asked = span("POST /runs", 100.0, 100.1, what="request")
    run = span("build", 101.0, 111.0, parent=asked.place.span, what="run")
    late = span("code", 106.0, 111.0, parent=run.place.span)
    early = span("clarify", 101.0, 103.5, parent=run.place.span)
    lost = span("orphan", 105.0, 0.0, parent="f" * 16)
    made = waterfall(TRACE, "r-1", [late, lost, run, early, asked], now=120.0)
    assert [(bar.name, bar.depth) for bar in made.bars] == [
        ("POST /runs", 0),
        ("build", 1),
        ("clarify", 2),
        ("code", 2),
        ("orphan", 0),
    ]
    by_name = {bar.name: bar for bar in made.bars}
    assert by_name["build"].begins
    assert (by_name["clarify"].left, by_name["clarify"].width) == (0.0, 25.0)
    assert (by_name["code"].left, by_name["code"].width, by_name["code"].at) == (50.0, 50.0, 6.0)
    assert by_name["orphan"].seconds is None


def test_figures_are_read_by_prometheus_as_they_were_counted() -> None:
    numbers: dict[Part, float] = {}
    labels = {"kind": 'a"b\\c\n', "state": "s"}
    for seconds in (0.004, 0.2, 0.2, 5000.0):
        for part, more in parts_of(RUN_SECONDS, seconds, labels).items():
            numbers[part] = numbers.get(part, 0) + more
    numbers |= parts_of(HTTP_REQUESTS, 3, {"method": "GET", "route": "/", "status": "200"})
    families = {f.name: f for f in text_string_to_metric_families("\n".join(exposed(numbers)))}
    assert len(families) == len(COUNTED), "each is named, also without a number"
    told = {
        (each.name, each.labels.get("le", "")): each.value
        for each in families["twinsmith_run_duration_seconds"].samples
    }
    assert told["twinsmith_run_duration_seconds_bucket", "0.005"] == 1
    assert told["twinsmith_run_duration_seconds_bucket", "0.25"] == 3
    assert told["twinsmith_run_duration_seconds_bucket", "+Inf"] == 4
    assert told["twinsmith_run_duration_seconds_count", ""] == 4
    assert told["twinsmith_run_duration_seconds_sum", ""] == pytest.approx(5000.404)
    (kind,) = {each.labels["kind"] for each in families["twinsmith_run_duration_seconds"].samples}
    assert kind == 'a"b\\c\n'
    (requests,) = families["twinsmith_http_requests"].samples
    assert requests.value == 3


def test_a_quantile_is_read_off_buckets() -> None:
    assert quantile({}, 0.95) is None
    assert quantile({"0.5": 100}, 0.5) == pytest.approx(0.375)
    assert quantile({"0.5": 90, "1": 10}, 0.95) == pytest.approx(0.75)
    assert quantile({"+Inf": 5}, 0.95) == BOUNDS[-1]
