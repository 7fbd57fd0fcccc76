"""The Containerfile of a program: built in one stage, run in another by nobody in particular.

Nothing that a model wrote stands in it but names of files, which are plain: what is copied is a
folder, and every command is a list of words.
"""

import json
from collections.abc import Sequence

from twinsmith.core.checks.command_tests import build_line, run_line
from twinsmith.core.operating.source import Source
from twinsmith.core.program import MODULE

BASE = "debian:bookworm-slim"
USER = 10001
PORT = 8000
STOP_SECONDS = 20
APP, DATA, VENV = "/app", "/data", "/venv"
SERVER = "gunicorn"
_BUILDS = {
    "python": ("python3", "python3-venv"),
    "rust": ("rustc",),
    "go": ("golang-go",),
    "c": ("gcc", "libc6-dev"),
    "cpp": ("g++", "libc6-dev"),
}
_RUNS = {"python": ("python3",), "perl": ("perl",), "cpp": ("libstdc++6",)}
_ACCESS = (
    '{"at":"%(t)s","from":"%(h)s","method":"%(m)s","path":"%(U)s","status":%(s)s,'
    '"bytes":%(B)s,"microseconds":%(D)s}'
)
# Bash speaks TCP by itself: the image needs no client for its own health.
_HEALTH = (
    f"exec 3<>/dev/tcp/127.0.0.1/{PORT} && "
    "printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && "
    'read -t 2 -r _ status _ <&3 && [ "$status" -lt 500 ]'
)


def containerfile(source: Source) -> str:
    """The text of the Containerfile; the same source gives the same text."""
    stages = [_build_stage(source), _run_stage(source)]
    head = f"# What is built is named by its source: sha256:{source.digest}\nARG BASE={BASE}\n"
    return "\n".join([head, *(f"{chr(10).join(stage)}\n" for stage in stages if stage)])


def started(source: Source) -> tuple[str, ...]:
    """The words that start a program in its container; tests where there is nothing to start."""
    program = source.program
    if program.language == "python":
        python = f"{VENV}/bin/python"
        if program.kind in ("function", "library"):
            return (python, "-m", "pytest", "-p", "no:cacheprovider", source.tests)
        if source.framed:
            return (python, "-m", SERVER, *_server_options(), f"{MODULE}:app")
        return (python, *run_line(program)[1:])
    if program.kind in ("function", "library"):
        return ("true",)
    return run_line(program) if program.language == "perl" else (f"{APP}/{MODULE}",)


def packages_of(source: Source) -> tuple[str, ...]:
    """The Python packages of an image: the program's own, and what starts or tests it."""
    if source.program.language != "python":
        return ()
    tests = ("pytest",) if source.program.kind in ("function", "library") else ()
    return (*source.packages, *((SERVER,) if source.framed else ()), *tests)


def _server_options() -> tuple[str, ...]:
    return (
        *("--bind", f"0.0.0.0:{PORT}", "--workers", "1", "--threads", "8"),
        *("--graceful-timeout", str(STOP_SECONDS), "--worker-tmp-dir", "/dev/shm"),  # noqa: S108
        *("--no-control-socket", "--log-level", "warning"),
        *("--access-logfile", "-", "--access-logformat", _ACCESS),
    )


def _build_stage(source: Source) -> list[str]:
    program = source.program
    tools = _BUILDS.get(program.language, ())
    if not tools:
        return []
    lines = ["FROM ${BASE} AS build", _installed(tools), "WORKDIR /build"]
    if program.language == "python":
        options = "--no-cache-dir --require-hashes --only-binary=:all:"
        install = f"{VENV}/bin/pip install {options} -r requirements.lock"
        return [*lines, "COPY requirements.lock .", f"RUN python3 -m venv {VENV} && {install}"]
    return [*lines, "COPY app/ ./", f"RUN {json.dumps(list(build_line(program)))}"]


def _run_stage(source: Source) -> list[str]:
    program = source.program
    compiled = bool(build_line(program))
    tools = _RUNS.get(program.language, ())
    labels = {
        "org.opencontainers.image.title": f"twinsmith-{source.digest[:12]}",
        "org.opencontainers.image.revision": source.digest,
        "dev.twinsmith.run": source.run,
        "dev.twinsmith.kind": program.kind,
        "dev.twinsmith.language": program.language,
    }
    service = program.kind == "service"
    return [
        "FROM ${BASE}",
        *([_installed(tools)] if tools else []),
        *(f"LABEL {name}={json.dumps(value)}" for name, value in labels.items()),
        f"COPY {'--from=build /build/' + MODULE if compiled else 'app/'} {APP}/",
        *([f"COPY --from=build {VENV} {VENV}"] if program.language == "python" else []),
        *([f"RUN install -d -o {USER} -g {USER} -m 0700 {DATA}"] if service else []),
        *_environment(service=service),
        f"USER {USER}:{USER}",
        f"WORKDIR {APP}",
        *([f"VOLUME {DATA}", f"EXPOSE {PORT}"] if service else []),
        "STOPSIGNAL SIGTERM",
        _health(service=service),
        f"ENTRYPOINT {json.dumps(list(started(source)))}",
    ]


def _installed(packages: Sequence[str]) -> str:
    return (
        "RUN apt-get update && apt-get install -y --no-install-recommends "
        f"{' '.join(packages)} && rm -rf /var/lib/apt/lists/*"
    )


def _environment(*, service: bool) -> list[str]:
    values = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    if service:
        values |= {"HOST": "0.0.0.0", "PORT": str(PORT), "DATABASE": f"{DATA}/service.db"}  # noqa: S104
    return [f"ENV {name}={json.dumps(value)}" for name, value in values.items()]


def _health(*, service: bool) -> str:
    if not service:
        return "HEALTHCHECK NONE"
    words = json.dumps(["bash", "-c", _HEALTH])
    return f"HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD {words}"
