"""Python: ruff and bandit, from the environment that twinsmith itself is installed in.

They only read the source, so that they may see those packages; they run in the sandbox all the
same, since a parser that meets a hostile source may do anything.
"""

import json
import re
import shutil
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.reviews.tool import (
    SOURCE,
    Found,
    Texts,
    Tool,
    file_at,
    finding,
    json_lines,
    line_at,
    mapping,
    number,
    others,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.verdict import Finding

FILE = f"{SOURCE}.py"
# Where they lie inside the sandbox: an environment of twinsmith may be in a folder that is hidden.
COMMANDS, PACKAGES = "/run/review/commands", "/run/review/packages"
# What is about correctness and security. Left out: what nobody uses, how things are written, and
# what is only dangerous in a test or in cryptography.
RULES = ("E9", "F", "B")
PASSWORDS = frozenset({"S105", "S106", "S107"})
NOT_RULES = (
    *("F401", "F403", "F405", "F541", "F811", "F841"),
    *("B007", "B008", "B009", "B010", "B024", "B027", "B028", "B901", "B904", "B905", "B911"),
    *("S101", "S110", "S112", "S311", "S404", "S603", "S606", "S607"),
)
NOT_TESTS = "B101,B105,B106,B107,B110,B112,B311,B403,B404,B603,B606,B607"
# Numbers that ruff and bandit share: a shell that reads what it is given, archives that write
# anywhere, objects made from text, connections that trust anybody, a debugger on the network.
DANGEROUS = frozenset({"201", "202", "501", "502", "503", "506", "507", "602", "605", "609"})
SEEMS_SAFE = "seems safe"
_PASSWORD = re.compile(r"passw|pwd|secret", re.IGNORECASE)
_ONE_WORD = re.compile(r"""^(?:\w+\s*=\s*)?[rbuRBU]{0,2}(["'])[^\s"']{6,}\1""")
START_BANDIT = """
import sys
sys.path.append(sys.argv.pop(1))
from bandit.cli.main import main
main()
"""


def find_ruff(python: Toolchain) -> Found | None:
    """The tool ruff, among twinsmith's own commands or the system's."""
    places = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin"
    ruff = shutil.which("ruff", path=places)
    if ruff is None:
        return None
    version = "py" + "".join(python.version.split(".")[:2])
    # Where bandit is there, it says how sure it is, too.
    security = sorted(PASSWORDS) if find_bandit(python) else ["S"]
    options = ("--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero")
    return Found(
        command=(
            *(f"{COMMANDS}/ruff", "check", *options, "--output-format", "json-lines"),
            *("--target-version", version, "--select", ",".join([*RULES, *security])),
            *("--ignore", ",".join(NOT_RULES), FILE),
        ),
        placed={COMMANDS: str(Path(ruff).parent)},
    )


def find_bandit(python: Toolchain) -> Found | None:  # noqa: ARG001
    """The tool bandit, run by the sandbox's interpreter; None where it is not installed."""
    spec = find_spec("bandit")
    if spec is None or spec.origin is None:
        return None
    packages = Path(spec.origin).parents[1]
    options = ("--format", "json", "--quiet", "--exit-zero", "--ignore-nosec", "--skip", NOT_TESTS)
    return Found(
        command=(INTERPRETER, "-sSP", "-c", START_BANDIT, PACKAGES, *options, FILE),
        placed={PACKAGES: str(packages)},
    )


def read_ruff(said: ProbeResult, texts: Texts) -> Iterator[Finding]:
    """The findings of ruff, one JSON object a line."""
    for row in json_lines(said.output):
        place = mapping(row["location"])
        line, code = number(place["row"]), str(row["code"] or "syntax")
        message, file = str(row["message"]), file_at(str(row["filename"]))
        blocks = code[0] == "S" and code[1:] in DANGEROUS and SEEMS_SAFE not in message
        if code in PASSWORDS:
            # Tokens of a parser are no passwords, nor is a text with blanks.
            value = line_at(texts, file, line)[number(place["column"]) - 1 :]
            blocks = bool(_PASSWORD.search(message.partition(":")[2]) and _ONE_WORD.match(value))
            if not blocks:
                continue
        yield finding(f"ruff {code}", line, message, file=file, blocks=blocks)


def read_bandit(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
    """The findings of bandit, one JSON object with a list; syntax errors are left to ruff."""
    for row in json.loads(said.output)["results"]:
        code, message = str(row["test_id"]), str(row["issue_text"])
        blocks = code[1:] in DANGEROUS and row["issue_severity"] != "LOW"
        what, file = f"bandit {code}", file_at(str(row.get("filename", FILE)))
        yield finding(what, number(row["line_number"]), message, file=file, blocks=blocks)


RUFF = Tool(
    name="ruff",
    install="pip install ruff",
    find=find_ruff,
    read=read_ruff,
    more=others(".py"),
)
BANDIT = Tool(
    name="bandit",
    install="pip install bandit",
    find=find_bandit,
    read=read_bandit,
    more=others(".py"),
)
