"""C++: its compiler, and the table of functions that the driver calls."""

import re
import shutil
from collections import Counter
from pathlib import Path

from twinsmith.adapters.sandbox.languages.c import DRIVERS, compiled, find_compiler, linked
from twinsmith.adapters.sandbox.languages.c_source import (
    Definition,
    bare_source,
    definitions,
    split_parameters,
)
from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
    written,
)
from twinsmith.core.program import Program

_FLAGS = ("-O2", "-std=gnu++20", "-pthread")
_HEADERS = ("driver.hpp", "driver_all.hpp")
_ALL = re.compile(r"^\s*#\s*include\s*<bits/stdc\+\+\.h>", re.MULTILINE)
_STORAGE = re.compile(r"\b(?:static|inline|constexpr|extern)\b")
_IN_LIBRARY = frozenset(
    {"abs", "access", "atof", "atoi", "ceil", "clock", "close", "div", "exp", "fabs", "floor"}
    | {"fmod", "hypot", "index", "link", "log", "log2", "open", "pipe", "pow", "random", "read"}
    | {"remove", "rename", "rindex", "round", "select", "signal", "sqrt", "time", "write"}
)
"""Names that the C library has too: the address of such a function needs its full type."""
_NO_ADDRESS = re.compile(r"\b(?:template|consteval|requires|friend)\b")


def functions(source: str) -> list[Definition]:
    """The functions that can be called: no overloads, no templates."""
    found = [one for one in definitions(bare_source(source, cplusplus=True)) if one.name != "main"]
    times = Counter(one.name for one in found)
    return [one for one in found if times[one.name] == 1 and _has_address(one)]


def glue(found: list[Definition], *, whole_library: bool) -> str:
    """The C++ file with the driver, the program and a table of its functions."""
    table = "".join(
        f'    ::twinsmith_driver::entry<{_address(one)}>("{one.name}"),\n' for one in found
    )
    return (
        f'#include "{_HEADERS[whole_library]}"\n'
        "#define main solution_main\n"
        '#include "solution.cpp"\n'
        "#undef main\n"
        'extern "C" const twinsmith_function twinsmith_functions[] = {\n'
        f"{table}    {{nullptr, nullptr}}\n"
        "};\n"
    )


def recipe(program: Program, toolchain: Toolchain) -> Recipe:
    """The recipe for a C++ program: a command is compiled as it is, a function with the driver."""
    gxx = toolchain.commands["g++"]
    files = written(program, "solution.cpp")
    sources: tuple[str, ...] = ("solution.cpp",)
    if program.kind in ("function", "library"):
        found = functions(program.source)
        if not found:
            raise BadProgram(
                "the program defines no function that can be called: it has none outside classes "
                "and namespaces that is no template and has a name of its own"
            )
        files["calls.cpp"] = glue(found, whole_library=bool(_ALL.search(program.source)))
        sources = ("-I", CACHE, "calls.cpp", f"{CACHE}/driver.o")
    return Recipe(
        files=files,
        build=((gxx, *_FLAGS, "-o", "solution", *sources, *linked(program)),),
        artefact="solution",
        run=(ARTEFACT,),
    )


def prepare(toolchain: Toolchain, folder: Path) -> None:
    """Compile the driver's runtime into a folder, and its headers beforehand."""
    for name in ("driver.h", *_HEADERS):
        shutil.copy(DRIVERS / name, folder)
    compiler = (toolchain.commands["g++"], *_FLAGS)
    jobs: list[tuple[str, ...]] = [
        ("-c", str(DRIVERS / "driver.cpp"), "-o", str(folder / "driver.o"))
    ]
    for name in _HEADERS:
        parsed = str(folder / f"{name}.gch")
        jobs.append(("-x", "c++-header", str(folder / name), "-o", parsed))
    for job in jobs:
        compiled((*compiler, *job))


def _address(one: Definition) -> str:
    result = _STORAGE.sub("", one.result).strip()
    if one.name not in _IN_LIBRARY or re.search(r"\bauto\b", result):
        return f"&::{one.name}"
    parameters = (each.partition("=")[0] for each in split_parameters(one.parameters))
    return f"static_cast<{result} (*)({', '.join(parameters)})>(&::{one.name})"


def _has_address(one: Definition) -> bool:
    return not _NO_ADDRESS.search(one.result) and not re.search(r"\bauto\b", one.parameters)


CPP = Language(
    name="cpp",
    suffix=".cpp",
    install="apt-get install -y g++",
    locate=lambda: find_compiler("g++"),
    recipe=recipe,
    prepare=prepare,
)
