"""Go: vet, told by a file what `go vet` would find out by building everything again."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from twinsmith.adapters.sandbox.languages.go import as_package_main
from twinsmith.adapters.sandbox.languages.language import CACHE, Toolchain
from twinsmith.adapters.sandbox.reviews.tool import SOURCE, Found, Tool, finding, mapping
from twinsmith.core.execution import ProbeResult
from twinsmith.core.verdict import Finding

CONFIGURATION = "vet.cfg"
UNDEFINED = frozenset({"atomic", "unsafeptr"})
"""Races and pointers into nowhere; what else vet says is likely, not certain, to be wrong."""
# No more than imports need: a name that is no package is never looked up.
_QUOTED = re.compile(r'"([a-z][a-z0-9/]{0,60})"')
_PLACE = re.compile(rf"{SOURCE}\.go:(\d+)")
_ERROR = re.compile(rf"^vet: (?:\./)?{SOURCE}\.go:(\d+):\d+: (.+)$", re.MULTILINE)


def find_vet(go: Toolchain) -> Found | None:
    """In the folder of the compiler that programs are built with."""
    vet = Path(go.commands["compile"]).with_name("vet")
    return Found(command=(str(vet), "-json", CONFIGURATION)) if vet.is_file() else None


def vet_files(source: str, go: Toolchain) -> Mapping[str, str]:
    """The program, and where the packages lie that it may import."""
    names = sorted(set(_QUOTED.findall(source)))
    told = {
        "ID": SOURCE,
        "Compiler": "gc",
        "Dir": ".",
        "ImportPath": "main",
        "GoVersion": go.version.split()[0],
        "GoFiles": [f"{SOURCE}.go"],
        "ImportMap": {name: name for name in names},
        "PackageFile": {name: f"{CACHE}/std/{name}.a" for name in names},
        "VetxOutput": "/dev/null",
    }
    return {f"{SOURCE}.go": as_package_main(source), CONFIGURATION: json.dumps(told)}


def read_vet(said: ProbeResult, source: str) -> Iterator[Finding]:  # noqa: ARG001
    """Lists by what looked; what does not compile is said in words."""
    for line, message in _ERROR.findall(said.errors):
        yield finding("go vet error", int(line), message)
    if not said.output.strip():
        return
    for looked in mapping(json.loads(said.output)).values():
        for name, rows in mapping(looked).items():
            if not isinstance(rows, list):
                continue
            for row in rows:
                place = _PLACE.search(str(row["posn"]))
                line = int(place[1]) if place else 1
                yield finding(f"go vet {name}", line, str(row["message"]), blocks=name in UNDEFINED)


VET = Tool(
    name="go vet",
    install="apt-get install -y golang-go",
    find=find_vet,
    read=read_vet,
    files=vet_files,
)
