"""The Containerfile of a program: built in one stage, run in another by nobody in particular.

Nothing that a model wrote stands in it but names of files, which are plain: what is copied is a
folder, and every command is a list of words. Compilers and interpreters are installed where the
base lacks them; packages come from wheels that lie beside the lock, or else from the index, and are
checked against its hashes in either case.
"""

import json
import re
from collections.abc import Mapping

from twinsmith.core.checks.command_tests import build_line, run_line
from twinsmith.core.operating.source import Source
from twinsmith.core.program import MODULE

BASE = "debian:bookworm-slim"
USER = 10001
PORT = 8000
STOP_SECONDS = 20
APP, DATA, VENV = "/app", "/data", "/venv"
SERVER = "gunicorn"
SERVER_FILE = "gunicorn.conf.py"
PORTER_FILE = "porter.pl"
PORTER = f"/usr/local/lib/twinsmith/{PORTER_FILE}"
WHEELS = "wheels"
STAGE = "dev.twinsmith.stage"
# By language: what shows that the tools are there, and the packages that bring them.
_BUILDS = {
    "python": ("python3 -c 'import ensurepip, venv'", "python3 python3-venv"),
    "rust": ("command -v rustc", "rustc"),
    "go": ("command -v go", "golang-go"),
    "c": ("command -v cc && ls /usr/include/stdio.h", "gcc libc6-dev"),
    "cpp": ("command -v c++ && ls /usr/include/stdio.h", "g++ libc6-dev"),
}
_RUNS = {
    "python": ("command -v python3", "python3"),
    "perl": ("perl -MJSON::PP -e 1", "perl"),
    "cpp": ("ls /usr/lib/*/libstdc++.so.6", "libstdc++6"),
}
_VENV = (
    f"python3 -m venv {VENV} && {VENV}/bin/pip install --no-cache-dir --no-deps --require-hashes "
    "--only-binary=:all: $(ls *.whl >/dev/null 2>&1 && echo --no-index --find-links=.) "
    f"-r requirements.lock && {VENV}/bin/pip uninstall --quiet --yes pip"
)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
# Bash speaks TCP by itself: the image needs no client for its own health.
_HEALTH = (
    f"exec 3<>/dev/tcp/127.0.0.1/{PORT} && "
    "printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && "
    'read -t 2 -r _ status _ <&3 && [ "$status" -lt 500 ]'
)


def containerfile(source: Source) -> str:
    """The text of the Containerfile; the same source gives the same text."""
    head = [
        f"# What is built is named by its source: sha256:{source.digest}",
        f"ARG BASE={BASE}",
        "ARG TOOLS=${BASE}",
    ]
    stages = [head, _build_stage(source), _run_stage(source)]
    return "\n".join(f"{chr(10).join(stage)}\n" for stage in stages if stage)


def started(source: Source) -> tuple[str, ...]:
    """The words that start a program in its container; tests where there is nothing to start."""
    program = source.program
    if program.kind in ("function", "library"):
        if program.language != "python":
            return ("true",)
        return (f"{VENV}/bin/python", "-m", "pytest", "-p", "no:cacheprovider", source.tests)
    if source.framed:
        return (f"{VENV}/bin/python", "-m", SERVER, *_server_options(), f"{MODULE}:app")
    words = {
        "python": (f"{VENV}/bin/python", *run_line(program)[1:]),
        "perl": run_line(program),
    }.get(program.language, (f"{APP}/{MODULE}",))
    return ("perl", PORTER, "--", *words) if program.kind == "service" else words


def packages_of(source: Source) -> tuple[str, ...]:
    """The Python packages of an image: the program's own, and what starts or tests it."""
    if source.program.language != "python":
        return ()
    tests = ("pytest",) if source.program.kind in ("function", "library") else ()
    return (*source.packages, *((SERVER,) if source.framed else ()), *tests)


def build_tools(language: str) -> str:
    """The line that installs what programs of a language are built with; empty: nothing."""
    return _ensured(*_BUILDS[language]) if language in _BUILDS else ""


def run_tools(language: str) -> str:
    """The line that installs what programs of a language are run with; empty: nothing."""
    return _ensured(*_RUNS[language]) if language in _RUNS else ""


def _server_options() -> tuple[str, ...]:
    # The address is told by GUNICORN_CMD_ARGS, and how requests are logged by its own file.
    return (
        *("--workers", "1", "--threads", "8", "--graceful-timeout", str(STOP_SECONDS)),
        *("--worker-tmp-dir", "/dev/shm", "--no-control-socket"),  # noqa: S108
        *("--log-level", "warning", "--access-logfile", "-"),
    )


def _ensured(check: str, packages: str) -> str:
    install = f"apt-get install -y --no-install-recommends {packages}"
    apt = f"apt-get update && {install} && rm -rf /var/lib/apt/lists/* /var/cache/apt/*"
    return f"RUN ({check}) >/dev/null 2>&1 || ({apt})"


def _build_stage(source: Source) -> list[str]:
    program = source.program
    tools = build_tools(program.language)
    if not tools:
        return []
    # What an engine keeps of this stage has no name: by its label it is found and removed.
    lines = ["FROM ${TOOLS} AS build", tools, f"LABEL {STAGE}=build", "WORKDIR /build"]
    if program.language == "python":
        if not packages_of(source):
            return [*lines, f"RUN python3 -m venv --without-pip {VENV}"]
        # Wheels lie there where an image is built without a network; else nothing matches.
        found = f"{WHEELS[:-1]}[{WHEELS[-1]}]"
        return [*lines, f"COPY requirements.lock {found} ./", f"RUN {_VENV}"]
    # A program in Go that needs no library of C needs no compiler of C either.
    free = ["ENV CGO_ENABLED=0"] if program.language == "go" else []
    return [*lines, *free, "COPY app/ ./", f"RUN {json.dumps(list(build_line(program)))}"]


def _run_stage(source: Source) -> list[str]:
    program = source.program
    compiled = bool(build_line(program))
    tools = run_tools(program.language)
    service = program.kind == "service"
    portered = service and not source.framed
    # What differs from program to program stands last: an engine keeps what stands before it.
    return [
        "FROM ${BASE}",
        *([tools] if tools else []),
        *([f"COPY --from=build {VENV} {VENV}"] if program.language == "python" else []),
        *([f"COPY {PORTER_FILE} {PORTER}"] if portered else []),
        *([f"RUN install -d -o {USER} -g {USER} -m 0700 {DATA}"] if service else []),
        f"ENV {_values(_environment(source))}",
        f"USER {USER}:{USER}",
        f"WORKDIR {APP}",
        *([f"VOLUME {DATA}", f"EXPOSE {PORT}"] if service else []),
        "STOPSIGNAL SIGTERM",
        _health(service=service),
        f"ENTRYPOINT {json.dumps(list(started(source)))}",
        f"COPY {'--from=build /build/' + MODULE if compiled else 'app/'} {APP}/",
        f"LABEL {_values(_labels(source))}",
    ]


def _values(values: Mapping[str, str]) -> str:
    return " \\\n    ".join(f"{name}={json.dumps(value)}" for name, value in values.items())


def _labels(source: Source) -> dict[str, str]:
    parent = {"dev.twinsmith.parent": source.parent} if _DIGEST.fullmatch(source.parent) else {}
    return {
        "org.opencontainers.image.title": f"twinsmith-{source.digest[:12]}",
        "org.opencontainers.image.revision": source.digest,
        "dev.twinsmith.run": source.run,
        "dev.twinsmith.kind": source.program.kind,
        "dev.twinsmith.language": source.program.language,
        **parent,
    }


def _environment(source: Source) -> dict[str, str]:
    values = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    if source.program.kind != "service":
        return values
    everywhere = f"0.0.0.0:{PORT}"
    return {
        **values,
        "DATABASE": f"{DATA}/service.db",
        "LISTEN": everywhere,
        "GUNICORN_CMD_ARGS": f"--bind {everywhere}",
    }


def _health(*, service: bool) -> str:
    if not service:
        return "HEALTHCHECK NONE"
    words = json.dumps(["bash", "-c", _HEALTH])
    return f"HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD {words}"
