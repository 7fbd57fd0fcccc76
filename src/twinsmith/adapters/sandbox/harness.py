"""The code that runs inside a sandbox, compiled by the interpreter that will run it.

Compiling it takes longer than everything else at the start of a sandbox, so it is done once a
process; and it is one file, because every file costs a mount and every import a search.
"""

import json
import subprocess
from functools import cache
from pathlib import Path

from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.core.errors import SandboxError

INSTALL = "apt-get install -y python3"
FOLDER = Path(__file__).with_name("inside")
# Each after those it imports.
MODULES = (
    *("wire", "watch", "usage", "folder", "lock", "python", "starter"),
    *("remote", "transcript", "checker", "running", "probes", "calls"),
    *("request", "stand_in", "service", "judge"),
)
PLACE = "/run/harness"
START = f"""
import marshal, sys
def load(name, code):
    module = type(sys)(name)
    module.__package__ = "inside"
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module
package = load("inside", "")
with open({PLACE!r}, "rb") as file:
    parts = marshal.loads(file.read())
for name, code in parts:
    setattr(package, name, load("inside." + name, code))
package.judge.main()
"""
COMMAND = (INTERPRETER, "-sSP", "-c", START)
# Read when an interpreter starts: the same program gives the same order of sets every time.
ENVIRONMENT = {"PYTHONHASHSEED": "0"}
COMPILE = """
import json, marshal, sys
parts = json.load(sys.stdin)
code = [(n, compile(s, "inside/" + n + ".py", "exec", optimize=2)) for n, s in parts]
sys.stdout.buffer.write(marshal.dumps(code))
"""


@cache
def compiled() -> bytes:
    """The byte code of all modules that run inside a sandbox, in order."""
    parts = [(name, (FOLDER / f"{name}.py").read_text()) for name in MODULES]
    try:
        done = subprocess.run(
            [INTERPRETER, "-IS", "-c", COMPILE],
            input=json.dumps(parts).encode(),
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise SandboxError(f"{INTERPRETER} does not start: {error}; run: {INSTALL}") from None
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise SandboxError(f"{INTERPRETER} cannot read the harness: {last}; run: {INSTALL}")
    return done.stdout
