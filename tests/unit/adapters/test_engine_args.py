"""What is asked of Docker and Podman, word for word, and what their answers mean."""

import json
from dataclasses import replace

import pytest

from twinsmith.adapters.hosting.engine_args import (
    ASKED,
    BUILD_BYTES,
    ENGINES,
    Engine,
    build_query,
    container_body,
    container_name,
    ended_in_words,
    environment,
    filtered,
    holder_body,
    image_tag,
    is_same,
    last_end,
    mark_of,
    moment,
    question_body,
    reason_of,
    repository,
    status_of,
    topped_tag,
    volume_name,
)
from twinsmith.adapters.sandbox import seccomp
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.instance import Instance, InstanceStatus

INSTANCE = Instance(
    name="shop-3", app="shop", image="twinsmith-app:1", data="shop", memory_mb=256, processes=64
)
AT = "2026-11-18T02:49:12.988746123Z"


def body(
    engine: Engine = "docker", instance: Instance = INSTANCE, **secrets: str
) -> dict[str, object]:
    return container_body(
        engine, instance, secrets, mark="ab12cd34", folder="/run/x/shop-3", profile="{}"
    )


def limit(name: str, most: int) -> dict[str, object]:
    return {"Name": name, "Soft": most, "Hard": most}


ULIMITS = [limit("nofile", 4096), limit("nproc", 4096), limit("core", 0), limit("fsize", 4 << 30)]


def test_a_container_has_these_walls_and_not_a_key_more() -> None:
    found = body(SECRET_KEY="hush")
    labels = found["Labels"]
    assert isinstance(labels, dict)
    assert found == {
        "Image": "twinsmith-app:1",
        "User": "10001:10001",
        "StopSignal": "SIGTERM",
        "Healthcheck": {"Test": ["NONE"]},
        "Env": [
            "SECRET_KEY=hush",
            "HOME=/tmp",
            "LISTEN=/run/app/http.sock",
            "GUNICORN_CMD_ARGS=--bind unix:/run/app/http.sock --umask 0",
        ],
        "Labels": {
            "dev.twinsmith.app": "shop",
            "dev.twinsmith.instance": "shop-3",
            "dev.twinsmith.home": "ab12cd34",
            ASKED: labels[ASKED],
        },
        "HostConfig": {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges", "seccomp={}"],
            "Memory": 256 << 20,
            "MemorySwap": 256 << 20,
            "PidsLimit": 64,
            "Ulimits": ULIMITS,
            "Tmpfs": {"/tmp": "rw,nosuid,nodev,noexec,mode=1777,size=64m"},
            "ShmSize": 16 << 20,
            "IpcMode": "private",
            "Init": False,
            "RestartPolicy": {"Name": "unless-stopped"},
            "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "2"}},
            "Mounts": [
                {"Type": "volume", "Source": "twinsmith-ab12cd34-shop", "Target": "/data"},
                {"Type": "bind", "Source": "/run/x/shop-3", "Target": "/run/app"},
            ],
        },
    }


def walls(found: dict[str, object]) -> dict[str, object]:
    inside = found["HostConfig"]
    assert isinstance(inside, dict)
    return inside


def test_podman_gets_its_own_log_and_the_same_walls() -> None:
    docker, podman = (walls(body(engine)) for engine in ENGINES)
    assert podman["LogConfig"] == {"Type": "k8s-file", "Config": {"max-size": "1mb"}}
    assert {**docker, "LogConfig": None} == {**podman, "LogConfig": None}


def test_an_instance_that_is_not_to_be_restarted_is_not() -> None:
    assert walls(body(instance=replace(INSTANCE, restarts=False)))["RestartPolicy"] == {
        "Name": "no"
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_no_container_of_ours_can_have_more(engine: Engine) -> None:
    asked = [body(engine), holder_body("x", "v"), question_body("x", ["python3"])]
    for found in asked:
        text = json.dumps(found)
        assert walls(found)["NetworkMode"] == "none"
        for word in ("Privileged", "CapAdd", "Devices", "docker.sock", "podman.sock", "PidMode"):
            assert word not in text


def test_a_secret_stands_in_the_variables_alone_and_its_name_is_a_name() -> None:
    found = body(SECRET_KEY="hush")
    assert "hush" not in json.dumps({**found, "Env": []})
    assert environment({"LISTEN": "elsewhere", "A": "1"})["LISTEN"] == "/run/app/http.sock"
    for name in ("", "A=B", "A B", "1A", "A\n", "Ä"):
        with pytest.raises(ConfigError, match="cannot be the name of a secret"):
            environment({name: "x"})
    with pytest.raises(ConfigError):
        environment({"A": "x\0y"})


def test_a_container_is_the_same_only_if_all_that_was_asked_is() -> None:
    asked = body(TOKEN="1")
    beside = ["PATH=/usr/bin", "container=podman"]
    env = asked["Env"]
    assert isinstance(env, list)
    there = {"Config": {"Labels": asked["Labels"], "Env": [*beside, *env]}}
    assert is_same(there, asked)
    assert not is_same(there, body(TOKEN="2"))
    assert not is_same(there, body())
    assert not is_same(there, body(TOKEN="1", MORE="x"))
    assert not is_same(there, body(instance=replace(INSTANCE, image="other:1"), TOKEN="1"))
    assert not is_same(there, body(instance=replace(INSTANCE, memory_mb=512), TOKEN="1"))
    assert not is_same({"Config": {"Labels": None, "Env": None}}, asked)


def test_names_tell_homes_and_engines_apart() -> None:
    assert container_name("ab12cd34", "shop-3") == "twinsmith-app-ab12cd34-shop-3"
    assert volume_name("ab12cd34", "shop") == "twinsmith-ab12cd34-shop"
    assert mark_of("/home/a") != mark_of("/home/b")
    assert len(mark_of("/home/a")) == 8
    assert repository("docker", "twinsmith-app") == "twinsmith-app"
    assert repository("podman", "twinsmith-app") == "localhost/twinsmith-app"


def test_a_tag_is_what_an_image_is_made_of() -> None:
    files = {"a": "1", "b": "2"}
    tag = image_tag(files, ["base"])
    assert tag == image_tag({"b": "2", "a": "1"}, ["base"])
    assert len(tag) == 16
    others = [image_tag({**files, "a": "x"}, ["base"]), image_tag(files, ["other"])]
    assert tag not in others
    first = topped_tag("go", "digest", "RUN x")
    assert first.startswith("go-")
    assert first not in (topped_tag("go", "other", "RUN x"), topped_tag("go", "digest", "RUN y"))


@pytest.mark.parametrize(
    ("engine", "online", "network"),
    [
        ("docker", False, "none"),
        ("docker", True, "host"),
        # Its service knows "none" for nothing, and would build with the machine's own network.
        ("podman", False, "NetworkDisabled"),
        ("podman", True, "host"),
    ],
)
def test_a_build_has_a_network_only_where_it_is_asked_for(
    engine: Engine, online: bool, network: str
) -> None:
    assert build_query(
        engine, "twinsmith-app:1", online=online, arguments={"BASE": "b"}, labels={"l": "1"}
    ) == {
        "tag": "twinsmith-app:1",
        "custom_context": True,
        "dockerfile": "Containerfile",
        "network_mode": network,
        "buildargs": {"BASE": "b"},
        "labels": {"l": "1"},
        "container_limits": {"memory": BUILD_BYTES, "memswap": BUILD_BYTES},
        "rm": True,
        "forcerm": True,
        "pull": False,
        "decode": True,
        "use_config_proxy": False,
    }


def test_no_program_makes_links() -> None:
    before, after = (json.loads(text) for text in (seccomp.profile(), filtered(seccomp.profile())))
    assert after["syscalls"][:-1] == before["syscalls"]
    assert after["syscalls"][-1]["names"] == ["symlink", "symlinkat"]
    assert after["syscalls"][-1]["action"] == "SCMP_ACT_ERRNO"
    refused = {name for each in after["syscalls"] for name in each["names"]}
    # By which they could be made as well.
    assert "io_uring_setup" in refused


def inspected(status: str, **more: object) -> dict[str, object]:
    state = {"Status": status, "StartedAt": AT, "FinishedAt": AT, "ExitCode": 0, **more}
    return {"State": state, "RestartCount": more.pop("restarts", 0)}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        *[("running", "running"), ("paused", "running"), ("restarting", "restarting")],
        *[("exited", "exited"), ("dead", "exited"), ("created", "exited"), ("odd", "exited")],
    ],
)
def test_a_state_is_one_of_ours(status: str, state: str) -> None:
    found = status_of("docker", "shop-3", inspected(status), "/run/x/http.sock", "signal 9")
    assert (found.name, found.state) == ("shop-3", state)
    assert found.address == ("/run/x/http.sock" if state == "running" else "")
    assert found.reason == ("signal 9" if state == "running" else "exit code 0")
    assert found.since == "2026-11-18T02:49:12.988746+00:00"


def test_an_answer_that_says_nothing_is_an_instance_that_ended() -> None:
    assert status_of("docker", "a-1", {}, "") == InstanceStatus(name="a-1", state="exited")


@pytest.mark.parametrize(
    ("engine", "code", "oom", "words"),
    [
        ("docker", 0, False, "exit code 0"),
        ("docker", 3, False, "exit code 3"),
        ("docker", 137, False, "signal 9"),
        ("docker", 137, True, "out of memory"),
        ("docker", 1, True, "out of memory"),
        ("podman", 137, False, "out of memory"),
        ("podman", 139, False, "signal 11"),
        ("podman", 255, False, "exit code 255"),
    ],
)
def test_an_end_is_told_in_words(engine: Engine, code: int, oom: bool, words: str) -> None:
    assert ended_in_words(engine, code, out_of_memory=oom) == words
    assert reason_of(engine, {"ExitCode": code, "OOMKilled": oom}) == words


def test_what_could_not_be_started_says_why_in_one_line() -> None:
    told = {"ExitCode": 127, "Error": "no such\nprogram"}
    assert reason_of("docker", told) == "no such program"


def event(action: str, **attributes: str) -> dict[str, object]:
    return {"Action": action, "Actor": {"Attributes": attributes}}


def test_of_several_ends_the_last_is_told() -> None:
    assert last_end("docker", []) == ""
    ends = [event("die", exitCode="1"), event("oom"), event("die", exitCode="137")]
    assert last_end("docker", ends) == "out of memory"
    assert last_end("docker", [*ends, event("die", exitCode="3")]) == "exit code 3"
    assert last_end("podman", [event("died", containerExitCode="139")]) == "signal 11"
    assert last_end("docker", [{"Action": "die", "Actor": None}]) == ""


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("2026-11-18T02:49:12.9Z", "2026-11-18T02:49:12.900000+00:00"),
        ("2026-11-18T02:49:12Z", "2026-11-18T02:49:12.000000+00:00"),
        ("2026-11-18T04:49:12.123456789+02:00", "2026-11-18T02:49:12.123456+00:00"),
        ("0001-01-01T00:00:00Z", ""),
        ("", ""),
        ("yesterday", ""),
    ],
)
def test_moments_are_in_utc(told: str, found: str) -> None:
    assert moment(told) == found
