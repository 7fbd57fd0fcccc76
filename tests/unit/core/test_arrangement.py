import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.trying.arrangement import AS_SET, Arrangement, over, read_arrangement
from twinsmith.core.trying.versions import (
    arrangement_of,
    entries_of,
    is_version,
    model_and_version,
)


def read(*words: str) -> Arrangement:
    return read_arrangement(words, lambda name, value: f"{name}-{value}")


def test_what_a_person_types_becomes_an_arrangement() -> None:
    found = read("coder=openai:a, server:b", "build.votes=2", "prompt.code=FILE", "2.slow=*:x")
    assert found.settings == (("build.votes", "2"),)
    assert found.models == (("2.slow", ("*:x",)), ("coder", ("openai:a", "server:b")))
    assert found.prompts == (("code", "code-FILE"),)
    assert found.words == (
        "build.votes=2",
        "2.slow=*:x",
        "coder=openai:a,server:b",
        "prompt.code=code-FILE",
    )
    assert found
    assert not read()
    assert read() == AS_SET


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["build.vote=2"], "did you mean 'build.votes'"),
        (["build.seed=2"], "'build.seed' takes no part"),
        (["codr=openai:a"], "did you mean 'coder'"),
        (["server.port=1"], "'server.port' takes no part"),
        (["coder=gpt"], "'gpt' is not a model; write provider:model"),
        (["coder"], "tells no difference; for example: build.votes=2"),
        (["build.votes="], "tells no difference"),
        (["slow=openai:a", "slow=openai:b"], "'slow' is told twice"),
        (["prompt.code=a", "prompt.code=b"], "'prompt.code' is told twice"),
    ],
)
def test_a_mistake_is_told_in_one_line(words: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read(*words)


def test_the_upper_arrangement_wins() -> None:
    below = read("coder=openai:a", "build.votes=2", "build.inputs=9", "prompt.code=x")
    above = read("build.votes=3", "1.coder=openai:b", "prompt.plan=y")
    both = over(below, above)
    assert both.settings == (("build.inputs", "9"), ("build.votes", "3"))
    assert both.prompts == (("code", "code-x"), ("plan", "plan-y"))
    assert both.asks("coder", 1) == ("openai:b",)
    assert both.asks("coder", 2) == ("openai:a",)
    assert both.asks("critic", 2) == ()
    assert over(AS_SET, above) == above == over(above, AS_SET)


def test_the_model_of_a_whole_role_goes_over_those_of_ensembles_below() -> None:
    both = over(read("1.coder=openai:a", "2.slow=openai:s"), read("coder=openai:b"))
    assert both.asks("coder", 1) == both.asks("coder", 2) == ("openai:b",)
    assert both.asks("slow", 2) == ("openai:s",)


def test_what_is_in_force_is_an_arrangement() -> None:
    given = read("coder=openai:a,server:b", "build.votes=2", "prompt.code=x", "1.slow=openai:s")
    entries = entries_of(given, "promoted", by="user:ann", at="now")
    assert arrangement_of(entries) == given
    assert {(each.by, each.at, each.verb) for each in entries} == {("user:ann", "now", "promoted")}
    assert arrangement_of(()) == AS_SET


def test_a_model_may_be_told_with_its_version() -> None:
    assert model_and_version("openai:gpt-4o") == ("openai:gpt-4o", "")
    assert model_and_version("openai:gpt-4o@2026-01") == ("openai:gpt-4o", "2026-01")
    assert model_and_version("server:a@b@") == ("server:a@b", "")


def test_a_file_is_meant_by_its_version_or_its_hash() -> None:
    digest = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    told = "qwen2.5-coder-1.5b@cc324af070c2"
    assert is_version(told, told)
    assert is_version(told, "cc324af070c2")
    assert is_version(told, digest)
    assert is_version("anything", "")
    assert not is_version(told, "cc324af070c3")
    assert not is_version("v1", "v2")
    assert not is_version("v1", "v1.1")
