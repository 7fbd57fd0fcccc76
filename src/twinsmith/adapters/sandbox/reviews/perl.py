"""Perl: the warnings of its compiler, and perlcritic.

Compiling runs BEGIN blocks: in the sandbox, like everything here.
"""

import re
import shutil
from collections.abc import Iterator, Mapping

from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.adapters.sandbox.reviews.tool import (
    SOURCE,
    Found,
    Texts,
    Tool,
    file_at,
    finding,
    line_at,
    others,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.program import Program
from twinsmith.core.verdict import Finding

FILE = f"{SOURCE}.pl"
PROFILE = "perlcriticrc"
# Only faults that its authors hold to be grave. `eval "use Module; 1"` is how one looks for one.
SETTINGS = """severity = 5
theme = bugs || security
[BuiltinFunctions::ProhibitStringyEval]
allow_includes = 1
[-Modules::RequireFilenameMatchesPackage]
"""
TWO_ARGUMENTS = "InputOutput::ProhibitTwoArgOpen"
# A name that is opened as it came may be a command: "rm -r x|".
_NAME_DECIDES = re.compile(r"\bopen\b[^,;]*,\s*\"?\s*\$")
_WARNING = re.compile(
    r"^(?P<text>.+?) at (?P<path>(?:\./)?\w[\w/-]*\.p[lm]) line (?P<line>\d+)(?P<more>[.,].*)?$",
    re.MULTILINE,
)
COMMANDS = "/usr/bin:/bin:/usr/local/bin"
ONCE = "used only once"


def find_perl(perl: Toolchain) -> Found:
    """The interpreter that programs are run with, called to compile only."""
    return Found(command=(perl.commands["perl"], "-I.", "-wc", FILE))


def read_perl(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
    """The findings in Perl's warnings, one a line; unused functions are no mistake here."""
    for found in _WARNING.finditer(said.errors):
        if ONCE not in found["text"]:
            message = found["text"] + (found["more"] or "").rstrip(".")
            where = file_at(found["path"])
            yield finding("perl -wc", int(found["line"]), message, file=where)


def find_perlcritic(perl: Toolchain) -> Found | None:  # noqa: ARG001
    """The tool perlcritic; None where the system does not have it."""
    path = shutil.which("perlcritic", path=COMMANDS)
    if path is None:
        return None
    return Found(command=(path, "--profile", PROFILE, "--verbose", "%l\t%p\t%m\t%f\n", FILE))


def perlcritic_files(program: Program, perl: Toolchain) -> Mapping[str, str]:  # noqa: ARG001
    """The file with perlcritic's settings."""
    return {PROFILE: SETTINGS}


def read_perlcritic(said: ProbeResult, texts: Texts) -> Iterator[Finding]:
    """The findings of perlcritic, one a line in four parts."""
    for text in said.output.splitlines():
        parts = text.split("\t", 3)
        if len(parts) < 3:
            continue
        line, policy, message = int(parts[0]), parts[1], parts[2]
        file = file_at(parts[3] if len(parts) > 3 else FILE)
        decides = _NAME_DECIDES.search(line_at(texts, file, line))
        blocks = policy == TWO_ARGUMENTS and decides is not None
        yield finding(f"perlcritic {policy}", line, message, file=file, blocks=blocks)


PERL_C = Tool(name="perl", install="apt-get install -y perl", find=find_perl, read=read_perl)
PERLCRITIC = Tool(
    name="perlcritic",
    install="apt-get install -y libperl-critic-perl",
    find=find_perlcritic,
    read=read_perlcritic,
    files=perlcritic_files,
    more=others(".pl", ".pm"),
)
