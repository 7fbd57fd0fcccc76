"""A finished program in, the folder out with which anybody can deploy it."""

from collections.abc import Collection

from twinsmith.core.operating.compose import compose
from twinsmith.core.operating.containerfile import (
    PORTER_FILE,
    SERVER_FILE,
    containerfile,
    packages_of,
)
from twinsmith.core.operating.locked import Pin, as_lock, needed
from twinsmith.core.operating.source import Source
from twinsmith.kits import kit
from twinsmith.ports import Inventory
from twinsmith.prompts import render

PORTER, SERVER_CONF = "porter.txt", "gunicorn_conf.txt"


def packaged(source: Source, pins: Collection[Pin], inventory: Inventory) -> dict[str, str]:
    """Every file of the folder by name; `pins` are all packages that a program may have."""
    taken = needed(pins, packages_of(source))
    tests = {source.tests: source.test_text} if source.tests else {}
    files = {
        "Containerfile": containerfile(source),
        "compose.yaml": compose(source),
        "sbom.json": inventory.sbom(source, taken),
        "README.md": _readme(source),
        **{f"app/{name}": text for name, text in {**tests, **source.files}.items()},
    }
    if source.program.language == "python":
        files["requirements.lock"] = as_lock(taken)
    return files | _server_of(source)


def _server_of(source: Source) -> dict[str, str]:
    """What stands between a service and those who ask it."""
    if source.program.kind != "service":
        return {}
    if source.framed:
        return {f"app/{SERVER_FILE}": kit(SERVER_CONF)}
    return {PORTER_FILE: kit(PORTER)}


def _readme(source: Source) -> str:
    kind = "service" if source.program.kind == "service" else "other"
    return render(
        f"package_{kind}",
        task=" ".join(source.task.split()) or "a program",
        digest=source.digest,
        tag=source.digest[:12],
    )
