"""Go: vet, with a file that tells it what `go vet` would find out by building everything again."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from twinsmith.adapters.sandbox.languages.go import as_package_main
from twinsmith.adapters.sandbox.languages.language import CACHE, Toolchain
from twinsmith.adapters.sandbox.reviews.tool import (
    SOURCE,
    Found,
    Texts,
    Tool,
    file_at,
    finding,
    mapping,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.program import Program
from twinsmith.core.verdict import Finding

CONFIGURATION = "vet.cfg"
UNDEFINED = frozenset({"atomic", "unsafeptr"})
"""Analyzers of vet that find undefined behaviour; what others say is likely, not certain."""
# No more than imports need: a name that is no package is never looked up.
_QUOTED = re.compile(r'"([a-z][a-z0-9/]{0,60})"')
_PLACE = re.compile(r"([\w./-]+\.go):(\d+)")
_ERROR = re.compile(r"^vet: ([\w./-]+\.go):(\d+):\d+: (.+)$", re.MULTILINE)


def find_vet(go: Toolchain) -> Found | None:
    """The tool vet, in the folder of the compiler that programs are built with."""
    vet = Path(go.commands["compile"]).with_name("vet")
    return Found(command=(str(vet), "-json", CONFIGURATION)) if vet.is_file() else None


def vet_files(program: Program, go: Toolchain) -> Mapping[str, str]:
    """The program's files for vet, and one that says where imported packages lie."""
    texts = {f"{SOURCE}.go": program.source, **{file.name: file.text for file in program.files}}
    names = sorted({name for text in texts.values() for name in _QUOTED.findall(text)})
    told = {
        "ID": SOURCE,
        "Compiler": "gc",
        "Dir": ".",
        "ImportPath": "main",
        "GoVersion": go.version.split()[0],
        "GoFiles": [*texts],
        "ImportMap": {name: name for name in names},
        "PackageFile": {name: f"{CACHE}/std/{name}.a" for name in names},
        "VetxOutput": "/dev/null",
    }
    packaged = {name: as_package_main(text) for name, text in texts.items()}
    return {**packaged, CONFIGURATION: json.dumps(told)}


def read_vet(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
    """The findings of vet, listed by analyzer; compile errors come as words."""
    for path, line, message in _ERROR.findall(said.errors):
        yield finding("go vet error", int(line), message, file=file_at(path))
    if not said.output.strip():
        return
    for looked in mapping(json.loads(said.output)).values():
        for name, rows in mapping(looked).items():
            if not isinstance(rows, list):
                continue
            for row in rows:
                place = _PLACE.search(str(row["posn"]))
                file, line = (file_at(place[1]), int(place[2])) if place else (SOURCE, 1)
                sure, what = name in UNDEFINED, f"go vet {name}"
                yield finding(what, line, str(row["message"]), file=file, blocks=sure)


VET = Tool(
    name="go vet",
    install="apt-get install -y golang-go",
    find=find_vet,
    read=read_vet,
    files=vet_files,
)
