"""A finished program, and the files with which it is put in a container."""

import json
from dataclasses import replace

import pytest
import yaml

from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.compose import compose
from twinsmith.core.operating.containerfile import (
    PORTER,
    STOP_SECONDS,
    build_tools,
    containerfile,
    packages_of,
    run_tools,
    started,
)
from twinsmith.core.operating.locked import as_lock, needed, pins_in
from twinsmith.core.operating.source import Source, source_in
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.program import FILE_NAMES, KINDS, Kind, Program, SourceFile
from twinsmith.kits import kit

PORTERED = ("perl", PORTER, "--")

LOCK = """\
blinker==1.9.0 \\
    --hash=sha256:aa
    # via flask
flask==3.1.3 \\
    --hash=sha256:bb
    # via -r some.in
jinja2==3.1.6 \\
    --hash=sha256:cc
    # via flask
markupsafe==3.0.4 ; python_version < '3.14' \\
    --hash=sha256:dd \\
    --hash=sha256:ee
    # via
    #   jinja2
    #   werkzeug
pytest==9.2.0 \\
    --hash=sha256:ff
    # via -r some.in
"""
CARTS = assembled(read_contract(PLAN, CART, login="with user accounts"), PIECES, "the kit")


def source(language: str = "python", kind: Kind = "cli") -> Source:
    return Source(program=Program(source="text", language=language, kind=kind), run="r-1")


def result(**more: str) -> dict[str, str]:
    """The files of a service as a person gets them; `__` in a name stands for its dot."""
    report = {"run": "20261116-101500-a3f9", "kind": CARTS.kind, "task": "carts"}
    files = {each.name: each.text for each in CARTS.files}
    named = {name.replace("__", "."): text for name, text in more.items()}
    return {"report.json": json.dumps(report), "solution.py": CARTS.source, **files, **named}


def test_a_result_is_read_without_its_tests_and_reports() -> None:
    found = source_in(
        result(test_solution__py="tests", requirements__txt="Flask\nPyJWT  # tokens\n"),
        "here",
    )
    assert sorted(found.files) == ["contract.py", "kit.py", "solution.py"]
    assert (found.run, found.task) == ("20261116-101500-a3f9", "carts")
    assert (found.tests, found.test_text) == ("test_solution.py", "tests")
    assert found.packages == ("flask", "pyjwt")
    assert found.framed


def test_the_same_source_has_the_same_digest_and_any_change_another() -> None:
    first = source_in(result(), "here")
    assert first.digest == source_in(result(), "there").digest
    assert first.digest == replace(first, run="another").digest
    assert first.digest != source_in(result(kit__py="changed"), "here").digest
    assert first.digest != source_in(result(requirements__txt="numpy"), "here").digest


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "here holds no program"),
        ({"notes.txt": "x"}, "here holds no program"),
        ({"rejected/solution.py": "x"}, "was not solved, so it is not packaged"),
        ({"solution.py": "x", "report.json": "{"}, "report.json in here cannot be read"),
        ({"solution.py": "x", "report.json": "[]"}, "report.json in here cannot be read"),
        ({"solution.py": "x", "report.json": '{"kind": "virus"}'}, "names the kind 'virus'"),
        ({"solution.py": "x", "a b.py": "x"}, "no program that can be packaged"),
    ],
)
def test_what_is_no_result_is_one_line(files: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        source_in(files, "here")


def test_a_report_cannot_write_into_a_containerfile() -> None:
    report = json.dumps({"run": 'x"\nRUN curl evil', "kind": "cli"})
    found = source_in({"solution.py": "x", "report.json": report}, "here")
    assert found.run == ""
    assert "evil" not in containerfile(found)


def test_of_a_lock_a_program_gets_what_it_needs_and_no_more() -> None:
    pins = pins_in(LOCK)
    taken = needed(pins, ["flask"])
    assert [pin.name for pin in taken] == ["blinker", "flask", "jinja2", "markupsafe"]
    lock = as_lock(taken)
    assert "markupsafe==3.0.4 ; python_version < '3.14' \\\n    --hash=sha256:dd \\\n" in lock
    assert "#" not in lock
    assert needed(pins, []) == ()
    with pytest.raises(ConfigError, match=r"no version of leftpad is pinned; .*: flask, pytest"):
        needed(pins, ["leftpad", "flask"])


@pytest.mark.parametrize("language", FILE_NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_program_runs_as_root_and_every_image_knows_its_source(
    language: str, kind: Kind
) -> None:
    given = source(language, kind)
    lines = containerfile(given).splitlines()
    last = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM ")) :]
    assert "USER 10001:10001" in last
    assert last.index("USER 10001:10001") > max(
        (n for n, line in enumerate(last) if line.startswith("RUN ")), default=0
    )
    assert values(last, "LABEL")["org.opencontainers.image.revision"] == given.digest
    assert values(last, "LABEL")["dev.twinsmith.run"] == "r-1"
    entry = [line for line in last if line.startswith("ENTRYPOINT ")]
    assert json.loads(entry[0].removeprefix("ENTRYPOINT ")) == list(started(given))
    health = [line for line in last if line.startswith("HEALTHCHECK ")]
    assert (health == ["HEALTHCHECK NONE"]) == (kind != "service")
    assert ("VOLUME /data" in last) == (kind == "service")


def values(lines: list[str], word: str) -> dict[str, str]:
    """The values that the last instruction of a kind sets in a Containerfile."""
    place = max(n for n, line in enumerate(lines) if line.startswith(f"{word} "))
    found = [lines[place].removeprefix(f"{word} ")]
    while found[-1].endswith(" \\"):
        found.append(lines[place + len(found)].strip())
    pairs = (line.removesuffix(" \\").partition("=") for line in found)
    return {name: json.loads(value) for name, _, value in pairs}


def test_compilers_stay_in_the_first_stage() -> None:
    for language in ("rust", "go", "c", "cpp"):
        build, run = containerfile(source(language)).split("\nFROM ${BASE}\n")
        assert "FROM ${TOOLS} AS build" in build
        assert "COPY app/ ./" in build
        assert "COPY --from=build /build/solution /app/" in run
        assert not any(tool in run for tool in ("gcc", "g++", "rustc", "golang"))


@pytest.mark.parametrize("language", FILE_NAMES)
def test_nothing_is_installed_where_the_base_has_it(language: str) -> None:
    lines = containerfile(source(language, "service")).splitlines()
    installs = [line for line in lines if "apt-get" in line]
    assert installs == [line for line in (build_tools(language), run_tools(language)) if line]
    for line in installs:
        check, _, otherwise = line.partition(" || ")
        assert check.startswith("RUN (")
        assert check.endswith(") >/dev/null 2>&1")
        assert otherwise.startswith("(apt-get update && apt-get install -y ")


def test_packages_come_from_wheels_that_lie_there_and_are_always_checked() -> None:
    text = containerfile(source_in(result(requirements__txt="Flask\n"), "here"))
    assert "COPY requirements.lock wheel[s] ./\n" in text
    (line,) = [line for line in text.splitlines() if "pip install" in line]
    for word in ("--no-deps", "--require-hashes", "--only-binary=:all:", "-r requirements.lock"):
        assert f" {word} " in line
    assert "$(ls *.whl >/dev/null 2>&1 && echo --no-index --find-links=.)" in line
    assert "pip install" not in containerfile(source("python", "cli"))


def test_a_lineage_is_a_digest_or_nothing_and_changes_no_digest() -> None:
    given = source("go", "service")
    child = replace(given, parent="a" * 64)
    assert child.digest == given.digest
    lines = containerfile(child).splitlines()
    assert values(lines, "LABEL")["dev.twinsmith.parent"] == "a" * 64
    for odd in ("", "A" * 64, "a" * 64 + '"\nRUN curl evil'):
        assert containerfile(replace(given, parent=odd)) == containerfile(given)


def test_names_of_files_are_words_of_a_list() -> None:
    header = SourceFile(name="sub/list.h", text="x")
    program = Program(source="x", language="c", kind="cli", files=(header,))
    text = containerfile(Source(program=program))
    (line,) = [line for line in text.splitlines() if line.startswith('RUN ["cc"')]
    assert "-iquote" in json.loads(line.removeprefix("RUN "))


def test_a_framed_service_gets_a_server_for_production() -> None:
    framed = source_in(result(), "here")
    assert started(framed)[:3] == ("/venv/bin/python", "-m", "gunicorn")
    assert "--bind" not in started(framed)
    assert "gunicorn" in packages_of(framed)
    assert "porter" not in containerfile(framed)
    plain = source("python", "service")
    assert started(plain) == (*PORTERED, "/venv/bin/python", "solution.py")
    assert packages_of(plain) == ()
    assert started(source("python", "cli")) == ("/venv/bin/python", "solution.py")
    assert packages_of(source("go", "service")) == ()
    assert packages_of(source("python", "function")) == ("pytest",)


@pytest.mark.parametrize("language", FILE_NAMES)
def test_any_other_service_stands_behind_the_porter(language: str) -> None:
    given = source(language, "service")
    assert started(given)[:3] == PORTERED
    text = containerfile(given)
    assert f"COPY porter.pl {PORTER}\n" in text
    told = values(text.splitlines(), "ENV")
    assert (told["LISTEN"], told["DATABASE"]) == ("0.0.0.0:8000", "/data/service.db")
    assert told["GUNICORN_CMD_ARGS"] == "--bind 0.0.0.0:8000"
    assert not {"HOST", "PORT"} & told.keys()
    assert "porter" not in containerfile(source(language, "cli"))


def test_all_that_serve_wait_as_long_for_what_is_in_flight() -> None:
    framed = started(source_in(result(), "here"))
    assert framed[framed.index("--graceful-timeout") + 1] == str(STOP_SECONDS)
    (line,) = [line for line in kit("porter.txt").splitlines() if "$DRAIN, " in line]
    names, _, seconds = line.removeprefix("my (").rstrip(");").partition(") = (")
    waits = dict(zip(names.split(", "), seconds.split(", "), strict=True))
    assert waits["$DRAIN"] == str(STOP_SECONDS)


def test_a_compose_file_has_the_walls_and_a_service_its_volume() -> None:
    app = yaml.safe_load(compose(source_in(result(), "here")))["services"]["app"]
    assert app["read_only"] is True
    assert app["cap_drop"] == ["ALL"]
    assert app["ports"] == ["127.0.0.1:8000:8000"]
    assert app["volumes"] == ["data:/data"]
    assert "volumes" not in yaml.safe_load(compose(source()))
