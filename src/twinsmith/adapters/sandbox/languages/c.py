"""C: its compiler, and calls made from the signatures of functions."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from twinsmith.adapters.sandbox.languages.c_signature import (
    Parameter,
    Role,
    Signature,
    signatures,
)
from twinsmith.adapters.sandbox.languages.c_source import bare_source, definitions
from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
    written,
)
from twinsmith.core.errors import SandboxError
from twinsmith.core.program import Program

DRIVERS = Path(__file__).parent.parent / "drivers"
_FLAGS = ("-O2", "-std=gnu17")
_CAST: dict[Role, str] = {
    "scalar": "",
    "length": "",
    "list": "(void *)",  # fits a pointer to a constant, however deep
    "string": "(void *)",
    "out": "&",
}


def find_compiler(name: str) -> Toolchain | None:
    """A compiler that this machine's system installed; None where there is none."""
    path = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
    if path is None:
        return None
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\d+(?:\.\d+)+", told.stdout.partition("\n")[0].partition(") ")[2])
    return Toolchain(version=version.group() if version else "unknown", commands={name: path})


def recipe(program: Program, toolchain: Toolchain) -> Recipe:
    """The recipe for a C program: a command is compiled as it is, a function with the driver."""
    gcc = toolchain.commands["gcc"]
    files = written(program, "solution.c")
    sources: tuple[str, ...] = ("solution.c",)
    if program.kind in ("function", "library"):
        files["calls.c"] = glue(_callable(program))
        sources = ("-I", CACHE, "calls.c", f"{CACHE}/driver.o")
    return Recipe(
        files=files,
        build=((gcc, *_FLAGS, "-o", "solution", *sources, *linked(program), "-lm"),),
        artefact="solution",
        run=(ARTEFACT,),
    )


def linked(program: Program) -> tuple[str, ...]:
    """The compiler's arguments for further files: sources to compile, and folders of headers."""
    if not program.files:
        return ()
    names = [file.name for file in program.files]
    folders = dict.fromkeys(name.rpartition("/")[0] or "." for name in ("solution", *names))
    # In quotes only: a header of the program never stands for one of the library's.
    places = [word for folder in folders for word in ("-iquote", folder)]
    return (*places, *(name for name in names if name.endswith((".c", ".cpp"))))


def prepare(toolchain: Toolchain, folder: Path) -> None:
    """Compile the driver's runtime into a folder, and put its header there."""
    shutil.copy(DRIVERS / "driver.h", folder)
    gcc = toolchain.commands["gcc"]
    compiled((gcc, *_FLAGS, "-c", str(DRIVERS / "driver.c"), "-o", str(folder / "driver.o")))


def compiled(line: Sequence[str]) -> None:
    """Run a compiler outside the sandbox, on twinsmith's own sources only."""
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode:
        complaint = (done.stderr.strip() or "no reason given").splitlines()[0]
        raise SandboxError(
            f"the driver cannot be prepared: {line[0]} says {complaint!r}; reinstall it"
        )


def _callable(program: Program) -> list[Signature]:
    headers = (file.text for file in program.files if file.name.endswith(".h"))
    found = signatures(program.source, "\n".join(headers))
    if not found:
        bare = bare_source(program.source)
        names = [one.name for one in definitions(bare) if one.name != "main"]
        why = (
            f"it has no JSON value for the types of {', '.join(names)}" if names else "it is empty"
        )
        raise BadProgram(f"the program defines no function that can be called: {why}")
    return found


def glue(found: list[Signature]) -> str:
    """The C file that includes the program and a call for each of its functions."""
    calls = "\n".join(_call(i, one) for i, one in enumerate(found))
    table = "".join(f'    {{"{one.name}", twinsmith_call_{i}}},\n' for i, one in enumerate(found))
    return (
        "#define main solution_main\n"
        '#include "solution.c"\n'
        "#undef main\n"
        '#include "driver.h"\n'
        f"{calls}\n"
        "const struct twinsmith_function twinsmith_functions[] = {\n"
        f"{table}    {{NULL, NULL}}\n"
        "};\n"
    )


def _call(number: int, one: Signature) -> str:
    inputs = sum(each.role != "out" for each in one.parameters)
    lengths = sum(each.role == "length" for each in one.parameters)
    lines = [f"if (!twinsmith_arity({inputs - lengths}, {inputs})) return;"]
    for i, each in enumerate(one.parameters):
        lines += _take(i, each)
    lines.append("if (twinsmith_failed()) return;")
    passed = ", ".join(f"{_CAST[each.role]}p{i}" for i, each in enumerate(one.parameters))
    lines += _result(one, f"{one.name}({passed})")
    lines.append("twinsmith_reply_args();")
    for i, each in enumerate(one.parameters):
        lines += _give_back(i, each)
    lines.append("twinsmith_reply_end();")
    body = "".join(f"    {line}\n" for line in lines)
    return f"static void twinsmith_call_{number}(void) {{\n{body}}}\n"


def _take(i: int, one: Parameter) -> list[str]:
    kind = one.type
    match one.role:
        case "scalar":
            return [f"{kind.base} p{i} = 0;", f"twinsmith_take({kind.element}, &p{i});"]
        case "string":
            return [f"char *p{i};", f"twinsmith_take({kind.element}, &p{i});"]
        case "list":
            take = f"twinsmith_take_list({kind.element}, &count{i})"
            return [f"size_t count{i};", f"{kind.listed} *p{i} = {take};"]
        case "length":
            first, *others = one.lists
            same = [f"twinsmith_same_length(count{first}, count{each});" for each in others]
            take = f"twinsmith_take_length({kind.element}, &p{i}, count{first});"
            return [*same, f"{kind.base} p{i} = 0;", take]
        case "out":
            return [f"{kind.base} p{i} = 0;"]


def _result(one: Signature, call: str) -> list[str]:
    kind = one.result
    out = next((f"p{i}" for i, each in enumerate(one.parameters) if each.role == "out"), "")
    if kind.kind == "v":
        return [f"{call};", "twinsmith_reply_value();", 'twinsmith_put_raw("null", 4);']
    if kind.is_list:
        keep = f"const void *result = (const void *){call};"
        put = f"twinsmith_put_list({kind.element}, result, {out} > 0 ? {out} : 0);"
    elif out:
        keep = f"const char *result = {call};"
        put = f"twinsmith_put_string(result, {out} > 0 ? {out} : 0);"
    else:
        keep = f"{'const char *' if kind.stars else kind.base} result = {call};"
        put = f"twinsmith_put({kind.element}, &result);"
    return [keep, "twinsmith_reply_value();", put]


def _give_back(i: int, one: Parameter) -> list[str]:
    kind = one.type
    match one.role:
        case "out":
            return []
        case "length":
            return ["twinsmith_echo_length();"]
        case "list" if not kind.constant or kind.kind == "c":
            return ["twinsmith_pass();", f"twinsmith_put_list({kind.element}, p{i}, count{i});"]
        case "string" if not kind.constant:
            return ["twinsmith_pass();", f"twinsmith_put({kind.element}, &p{i});"]
        case _:
            return ["twinsmith_echo();"]


C = Language(
    name="c",
    suffix=".c",
    install="apt-get install -y gcc libc6-dev",
    locate=lambda: find_compiler("gcc"),
    recipe=recipe,
    prepare=prepare,
)
