"""One suite for images, instances and volumes: the fake, and every host that runs real programs."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.contract.test_packaged import SOURCE
from tests.hosts import OPENERS, World, client, package, ready, service
from tests.sandboxes import ENGINE_MARKS
from tests.services_compiled import LINKS_IN_C, NOTES_IN_PERL
from tests.unix_http import ask
from twinsmith.adapters.hosting.engine_args import Engine
from twinsmith.adapters.hosting.engine_base import EngineBase
from twinsmith.adapters.hosting.engine_client import EngineClient
from twinsmith.adapters.hosting.engine_host import EngineHost
from twinsmith.adapters.sandbox import seccomp
from twinsmith.core.errors import BadReply, ConfigError, HostError
from twinsmith.core.operating.containerfile import containerfile
from twinsmith.core.operating.instance import Instance, InstanceStatus
from twinsmith.core.operating.source import Source
from twinsmith.core.program import FILE_NAMES, Program, SourceFile

GRACE = 10.0
PARAMS = {
    name: pytest.param(name, marks=() if name == "memory" else ENGINE_MARKS) for name in OPENERS
}
ENGINES = [PARAMS[name] for name in ("docker", "podman")]


@pytest.fixture(params=PARAMS.values())
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    with OPENERS[request.param]() as opened:
        yield opened
        for name in ("shop-1", "shop-2"):
            await opened.host.stop(name, seconds=0)
        for volume in ("shop", "shop-trial"):
            await opened.volumes.remove(volume)


real = pytest.mark.parametrize(
    "world", [PARAMS[name] for name in OPENERS if name != "memory"], indirect=True
)
on_engines = pytest.mark.parametrize("world", ENGINES, indirect=True)


async def started(world: World, source: Source, *, restarts: bool = True, **given: str) -> str:
    image = await world.images.made(source, package(source))
    instance = Instance(
        name="shop-1",
        app="shop",
        image=image.reference,
        data="shop",
        memory_mb=160,
        restarts=restarts,
    )
    address = await world.host.start(instance, given)
    # The fake answers in this very loop.
    await asyncio.to_thread(ready, address)
    return address


def told(address: str, deed: str, what: str = "") -> object:
    status, body = ask(address, "GET", f"/{deed}?what={quote(what)}")
    assert status == 200, body
    return json.loads(body)["is"]


async def until(
    world: World, *states: str, restarts: int = 0, told: bool = False
) -> InstanceStatus:
    deadline = time.monotonic() + 30
    while True:
        status = await world.host.status("shop-1")
        # An engine may tell why a moment after it has started it again.
        if status.state in states and status.restarts >= restarts and (status.reason or not told):
            return status
        assert time.monotonic() < deadline, status
        await asyncio.sleep(0.1)


def ends(address: str, path: str, **headers: str) -> None:
    """Ask for something that ends the program, so that there may be no whole answer."""
    with suppress(OSError, HTTPException):
        ask(address, "GET", path, None, **headers)


async def said(world: World, line: str) -> None:
    deadline = time.monotonic() + 30
    while line not in await world.host.logs("shop-1", lines=20):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def test_an_image_is_built_once_and_found_the_second_time(world: World) -> None:
    source = service(mark=secrets.token_hex(8))
    files = package(source)
    first = await world.images.made(source, files)
    second = await world.images.made(source, files)
    assert (first.existed, second.existed) == (False, True)
    assert replace(first, existed=True) == second
    other = await world.images.made(source, {**files, "app/solution.py": "x"})
    assert other.reference != first.reference
    for image in (first, other):
        await world.images.remove(image.reference)
        await world.images.remove(image.reference)
    third = await world.images.made(source, files)
    assert not third.existed
    await world.images.remove(third.reference)


async def test_an_instance_answers_until_it_is_stopped(world: World) -> None:
    address = await started(world, service())
    assert len(address) < 100
    assert Path(address).is_socket()
    status = await world.host.status("shop-1")
    assert (status.state, status.address, status.restarts) == ("running", address, 0)
    assert status.since > "2026"
    await world.host.stop("shop-1", seconds=GRACE)
    with pytest.raises(OSError, match=r"No such file|refused"):
        ask(address, "GET", "/health")
    assert await world.host.status("shop-1") == InstanceStatus(name="shop-1", state="absent")
    await world.host.stop("shop-1", seconds=GRACE)


async def test_starting_twice_is_starting_once(world: World) -> None:
    first = await started(world, service(), TOKEN="one")
    since = (await world.host.status("shop-1")).since
    assert await started(world, service(), TOKEN="one") == first
    assert (await world.host.status("shop-1")).since == since
    assert await started(world, service(), TOKEN="two") == first
    assert (await world.host.status("shop-1")).since > since


async def test_what_is_not_there_is_absent_and_silent(world: World) -> None:
    assert await world.host.status("nobody-1") == InstanceStatus(name="nobody-1", state="absent")
    assert await world.host.logs("nobody-1", lines=10) == ""
    assert await world.volumes.files("nothing") == {}
    await world.volumes.remove("nothing")
    await world.volumes.copy("nothing", "shop-trial")
    assert await world.volumes.files("shop-trial") == {}
    gone = Instance(name="shop-1", app="shop", image="twinsmith-app:0000000000000000", data="shop")
    with pytest.raises(ConfigError, match=r"^image \S+ is not .*; deploy the program anew$"):
        await world.host.start(gone, {})
    assert (await world.host.status("shop-1")).state == "absent"


async def test_data_outlives_instances_and_is_copied_whole(world: World) -> None:
    await started(world, SOURCE)
    await world.volumes.copy("shop", "shop-trial")
    await world.host.stop("shop-1", seconds=GRACE)
    kept = await world.volumes.files("shop")
    assert "service.db" in kept
    assert await world.volumes.files("shop-trial") == kept
    await world.volumes.remove("shop")
    assert await world.volumes.files("shop") == {}
    assert await world.volumes.files("shop-trial") == kept


@real
async def test_a_framed_service_keeps_its_users_and_a_trial_has_its_own(world: World) -> None:
    address = await started(world, SOURCE, SECRET_KEY="k" * 40)
    anna = json.dumps({"username": "anna", "password": "correct horse"}).encode()
    as_json = {"Content-Type": "application/json"}
    assert ask(address, "POST", "/register", anna, **as_json)[0] == 201
    await world.volumes.copy("shop", "shop-trial")
    image = await world.images.made(SOURCE, package(SOURCE))
    trial = Instance(name="shop-2", app="shop", image=image.reference, data="shop-trial")
    other = await world.host.start(trial, {"SECRET_KEY": "j" * 40})
    ready(other)
    # The copy knows her; what is added to the one is not in the other.
    assert ask(other, "POST", "/login", anna, **as_json)[0] == 200
    bert = json.dumps({"username": "bert", "password": "battery staple"}).encode()
    assert ask(other, "POST", "/register", bert, **as_json)[0] == 201
    assert ask(address, "POST", "/login", bert, **as_json)[0] == 401
    await world.host.stop("shop-1", seconds=GRACE)
    again = await started(world, SOURCE, SECRET_KEY="k" * 40)
    assert ask(again, "POST", "/login", anna, **as_json)[0] == 200
    await said(world, '"method":"POST","path":"/login","status":200,')


@real
async def test_secrets_reach_the_program_and_nobody_else(world: World) -> None:
    address = await started(world, service(), API_TOKEN="hush-4711")
    assert told(address, "variable", "API_TOKEN") == "hush-4711"
    image = await world.images.made(service(), package(service()))
    assert "hush-4711" not in world.shown(image.reference, "shop-1")
    odd = Instance(name="shop-2", app="shop", image=image.reference, data="shop-trial")
    with pytest.raises(ConfigError, match="cannot be the name of a secret"):
        await world.host.start(odd, {"A=B": "x"})


@real
async def test_a_program_is_nobody_and_can_write_to_its_data_alone(world: World) -> None:
    address = await started(world, service())
    assert told(address, "user") != 0
    state = str(told(address, "read", "/proc/self/status"))
    values = dict(line.split(":\t", 1) for line in state.splitlines() if ":\t" in line)
    assert int(values["CapEff"], 16) == int(values["CapBnd"], 16) == 0
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
    for place in ("/app/x", "/etc/x", "/usr/x", "/x", "/venv/x"):
        assert told(address, "write", place) in ("OSError", "PermissionError", "FileNotFoundError")
    for place in ("/data/x", "/tmp/x"):
        assert told(address, "write", place) == "1"
    # A socket that is a link would lead whoever asks to another one of this machine.
    assert told(address, "link", "/var/run/docker.sock") == "PermissionError"


@real
async def test_a_program_reaches_nobody(world: World) -> None:
    address = await started(world, service())
    rows = str(told(address, "read", "/proc/net/dev")).splitlines()[2:]
    assert [row.split(":")[0].strip() for row in rows] == ["lo"]
    assert told(address, "reach", "192.0.2.1") == "OSError"
    assert told(address, "reach", "127.0.0.1") == "ConnectionRefusedError"


@real
async def test_a_program_that_crashes_is_started_again(world: World) -> None:
    address = await started(world, service())
    first = await world.host.status("shop-1")
    ends(address, "/die?what=3")
    again = await until(world, "running", restarts=1)
    ready(address)
    assert again.since > first.since
    assert again.reason == "exit code 3"
    assert again.address == address


@real
@pytest.mark.parametrize(
    ("deed", "reason"), [("die?what=3", "exit code 3"), ("kill?what=6", "signal 6")]
)
async def test_a_program_that_ends_says_why(world: World, deed: str, reason: str) -> None:
    address = await started(world, service(), restarts=False)
    ends(address, f"/{deed}")
    ended = await until(world, "exited")
    assert (ended.reason, ended.address, ended.restarts) == (reason, "", 0)
    assert ended.since > "2026"
    await started(world, service(), restarts=False)
    assert (await world.host.status("shop-1")).state == "running"


@real
async def test_a_program_that_takes_too_much_memory_is_ended(world: World) -> None:
    address = await started(world, service(), restarts=False)
    ends(address, "/eat")
    assert (await until(world, "exited")).reason == "out of memory"


@on_engines
async def test_a_framed_service_that_takes_too_much_memory_is_started_again(world: World) -> None:
    eats = "def see_total(user: str):"
    greedy = SOURCE.program.source.replace(
        eats, f"{eats}\n    [bytearray(b'x' * (8 << 20)) for _ in range(10_000)]"
    )
    assert greedy != SOURCE.program.source
    source = replace(SOURCE, program=replace(SOURCE.program, source=greedy))
    address = await started(world, source)
    anna = json.dumps({"username": "anna", "password": "correct horse"}).encode()
    as_json = {"Content-Type": "application/json"}
    assert ask(address, "POST", "/register", anna, **as_json)[0] == 201
    token = json.loads(ask(address, "POST", "/login", anna, **as_json)[1])["token"]
    ends(address, "/cart/total", Authorization=f"Bearer {token}")
    again = await until(world, "running", restarts=1, told=True)
    assert again.reason == "out of memory"
    ready(address)


@real
async def test_stopping_lets_a_request_finish(world: World) -> None:
    address = await started(world, service())
    slow = asyncio.ensure_future(asyncio.to_thread(ask, address, "GET", "/slow"))
    await said(world, "slow began")
    await world.host.stop("shop-1", seconds=GRACE)
    assert await slow == (200, b'{"is": "done"}')


@real
async def test_a_request_that_never_ends_is_ended(world: World) -> None:
    address = await started(world, service())
    hangs = asyncio.ensure_future(asyncio.to_thread(ask, address, "GET", "/hang"))
    await said(world, "hang began")
    await world.host.stop("shop-1", seconds=1)
    with pytest.raises((OSError, HTTPException)):
        await hangs
    assert (await world.host.status("shop-1")).state == "absent"


async def logged(world: World, count: int, wanted: str) -> str:
    """The last lines of the log, once one is there: an engine writes them a moment later."""
    for _ in range(100):
        lines = await world.host.logs("shop-1", lines=count)
        if wanted in lines:
            return lines
        await asyncio.sleep(0.1)
    raise AssertionError(f"{wanted!r} is not in:\n{lines}")


@real
async def test_the_last_lines_are_told_whatever_bytes_they_have(world: World) -> None:
    address = await started(world, service())
    told(address, "say")
    assert "out \N{REPLACEMENT CHARACTER}\n" in await logged(world, 10, "err\n")
    told(address, "lines", "300")
    lines = await logged(world, 20, "line 299\n")
    assert 1 < sum(line.startswith("line ") for line in lines.splitlines()) <= 20
    assert await world.host.logs("shop-1", lines=0) == ""


@real
async def test_a_volume_in_use_is_not_taken_away(world: World) -> None:
    address = await started(world, service())
    assert told(address, "append", "kept") == 1
    with pytest.raises(HostError, match="stop its instances first"):
        await world.volumes.remove("shop")
    assert told(address, "append", "kept") == 1
    assert (await world.volumes.files("shop"))["sub/kept"] == b"xx"


@on_engines
async def test_an_instance_that_was_left_standing_still_goes_on(world: World) -> None:
    address = await started(world, service())
    world.pause("shop-1")
    assert await started(world, service()) == address
    assert ask(address, "GET", "/health")[0] == 200


@on_engines
async def test_an_image_is_built_without_a_network_and_knows_its_base(world: World) -> None:
    alone = "RUN [ $(grep -c : /proc/net/dev) = 1 ]"
    source = service(mark=secrets.token_hex(8))
    text = f"{containerfile(source)}USER 0\n{alone}\nUSER 10001:10001\n"
    image = await world.images.made(source, {**package(source), "Containerfile": text})
    assert "@sha256:" in image.base
    seen = client(world.name).asked(lambda api: api.image(image.reference))
    config = seen["Config"]
    assert isinstance(config, dict)
    assert config["Labels"]["dev.twinsmith.base"] == image.base
    assert config["Labels"]["org.opencontainers.image.revision"] == source.digest
    assert config["User"] == "10001:10001"
    await world.images.remove(image.reference)


@on_engines
async def test_what_cannot_be_built_is_one_line(world: World) -> None:
    source = service(mark=secrets.token_hex(8))
    text = f"{containerfile(source)}RUN echo 'error: nothing works' && false\n"
    with pytest.raises(ConfigError, match=r"^the program cannot be built: error: nothing works; "):
        await world.images.made(source, {**package(source), "Containerfile": text})
    with pytest.raises(ConfigError, match="the package has a file"):
        await world.images.made(source, {**package(source), "../x": ""})
    with pytest.raises(BadReply, match="its name has to be letters"):
        Program(source="", files=(SourceFile(name="a b; rm.py", text=""),))


@pytest.mark.parametrize("world", [PARAMS["docker"], PARAMS["local"]], indirect=True)
@pytest.mark.parametrize(
    ("language", "files"), [("c", LINKS_IN_C), ("perl", NOTES_IN_PERL)], ids=["c", "perl"]
)
async def test_programs_in_other_languages_are_served_the_same(
    world: World, language: str, files: dict[str, str], request: pytest.FixtureRequest
) -> None:
    # Whoever builds has files open already, more than a plain shell can name.
    for _ in range(20):
        opened = Path(__file__).open()  # noqa: ASYNC230, SIM115
        request.addfinalizer(opened.close)
    main = FILE_NAMES[language]
    beside = tuple(SourceFile(name=name, text=files[name]) for name in files if name != main)
    program = Program(source=files[main], language=language, kind="service", files=beside)
    address = await started(world, Source(program=program))
    assert ready(address)[0] == 200
    assert ask(address, "GET", "/nothing/here")[0] == 404
    wrong = replace(program, source="this is no program\n")
    if language == "c":
        with pytest.raises(ConfigError, match=r"cannot be built: \S*solution.c:1:\d+: error: "):
            await world.images.made(Source(program=wrong), package(Source(program=wrong)))


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_that_is_away_is_one_line(engine: Engine, tmp_path: Path) -> None:
    away = EngineClient(engine, tmp_path, address=f"unix://{tmp_path}/none.sock")
    host = EngineHost(away, tmp_path, home="x", profile=seccomp.profile())
    with pytest.raises(HostError, match=rf"^{engine} does not answer at .*; (start it|look at): "):
        await host.status("shop-1")


@pytest.mark.parametrize("engine", ENGINES[:1])
async def test_a_base_that_nobody_has_is_one_line(engine: Engine, tmp_path: Path) -> None:
    unknown = EngineBase(client(engine), tmp_path, base="nobody-has-this:1")
    with pytest.raises(ConfigError, match="base image nobody-has-this:1 is not on docker and"):
        await unknown.ready("python")
