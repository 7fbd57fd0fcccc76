"""C and C++: the compiler's own warnings, and cppcheck.

Warnings are read as lines: gcc's JSON is on its way out, and the lines are the same in all its
versions.
"""

import re
import shutil
from collections.abc import Callable, Iterator

from twinsmith.adapters.sandbox.languages.c import linked
from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.adapters.sandbox.reviews.tool import (
    SOURCE,
    Found,
    Texts,
    Tool,
    file_at,
    finding,
    others,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.verdict import Finding

# Many warnings come of optimising only. Left out: what nobody uses, and comparisons with a size.
WARNINGS = (
    *("-O2", "-Wall", "-Wextra", "-Wformat-security", "-Wno-unused", "-Wno-unused-parameter"),
    *("-Wno-unused-result", "-Wno-sign-compare", "-Wno-missing-field-initializers"),
    *("-Wno-unknown-pragmas", "-Wno-type-limits", "-Wno-cast-function-type"),
    *("-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fmax-errors=20"),
)
UNDEFINED = frozenset(
    {"-Wuninitialized", "-Wreturn-local-addr", "-Wuse-after-free", "-Wfree-nonheap-object"}
    | {"-Wshift-count-overflow", "-Wshift-count-negative", "-Wdiv-by-zero", "-Wformat-security"}
    | {"-Wsizeof-pointer-memaccess"}
)
"""Warnings about behaviour that is undefined in C and C++ alike, and hardly ever wrong."""
UNDEFINED_IN_C = frozenset(
    {"-Warray-bounds", "-Wstringop-overflow=", "-Wdangling-pointer=", "-Wint-conversion"}
    | {"-Wincompatible-pointer-types"}
)
"""Warnings that are reliable in C only: in C++ the library's own templates are accused too."""
UNDEFINED_IN_CPP = frozenset(
    {"-Wreturn-type", "-Wmismatched-new-delete", "-Wdelete-non-virtual-dtor"}
)
CERTAIN = frozenset(
    {"arrayIndexOutOfBounds", "bufferAccessOutOfBounds", "deallocret", "deallocuse", "doubleFree"}
    | {"mismatchAllocDealloc", "nullPointer", "returnDanglingLifetime", "zerodiv"}
)
"""Errors of cppcheck that mean undefined behaviour."""
NOT_ABOUT_IT = frozenset({"missingInclude", "missingIncludeSystem", "unknownMacro", "syntaxError"})
_WARNING = re.compile(
    r"^(\w[\w/-]*\.(?:cpp|hpp|c|h)):(\d+):(?:\d+:)? (warning|error|fatal error): "
    r"(.+?)(?: \[(-W[\w+=-]+)\])?$",
    re.MULTILINE,
)
_PERHAPS = re.compile(r"\b(?:may|might|maybe)\b")
COMMANDS = "/usr/bin:/bin:/usr/local/bin"


def find_gcc(compiler: str, standard: str, file: str) -> Callable[[Toolchain], Found]:
    """A finder of the compiler that programs are built with, called for its warnings."""

    def find(tools: Toolchain) -> Found:
        options = (f"-std={standard}", *WARNINGS, "-S")
        return Found(command=(tools.commands[compiler], *options, file))

    return find


def read_gcc(undefined: frozenset[str]) -> Callable[[ProbeResult, Texts], Iterator[Finding]]:
    """A reader of gcc's warnings, one a line; those about the library's own files are left out."""

    def read(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
        for path, line, kind, message, option in _WARNING.findall(said.errors):
            sure = option in undefined and not _PERHAPS.search(message)
            what = f"gcc {option or kind}"
            yield finding(what, int(line), message, file=file_at(path), blocks=sure)

    return read


def find_cppcheck(language: str, file: str) -> Callable[[Toolchain], Found | None]:
    """A finder of cppcheck, where the system has it."""

    def find(tools: Toolchain) -> Found | None:  # noqa: ARG001
        path = shutil.which("cppcheck", path=COMMANDS)
        if path is None:
            return None
        template = "--template={file}\t{line}\t{severity}\t{id}\t{message}"
        options = ("--quiet", "--enable=warning,portability", f"--language={language}", template)
        return Found(command=(path, *options, file))

    return find


def read_cppcheck(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
    """The findings of cppcheck, one a line in five parts."""
    for text in said.errors.splitlines():
        parts = text.split("\t", 4)
        if len(parts) < 5 or parts[3] in NOT_ABOUT_IT:
            continue
        path, line, degree, name, message = parts
        sure = degree == "error" and name in CERTAIN
        where = file_at(path)
        yield finding(f"cppcheck {name}", int(line), message, file=where, blocks=sure)


def _cppcheck(language: str, file: str) -> Tool:
    return Tool(
        name="cppcheck",
        install="apt-get install -y cppcheck",
        find=find_cppcheck(language, file),
        read=read_cppcheck,
        more=others(".c", ".cpp"),
    )


GCC = Tool(
    name="gcc",
    install="apt-get install -y gcc libc6-dev",
    find=find_gcc("gcc", "gnu17", f"{SOURCE}.c"),
    read=read_gcc(UNDEFINED | UNDEFINED_IN_C),
    more=linked,
)
GXX = Tool(
    name="g++",
    install="apt-get install -y g++",
    find=find_gcc("g++", "gnu++20", f"{SOURCE}.cpp"),
    read=read_gcc(UNDEFINED | UNDEFINED_IN_CPP),
    more=linked,
)
CPPCHECK_C = _cppcheck("c", f"{SOURCE}.c")
CPPCHECK_CPP = _cppcheck("c++", f"{SOURCE}.cpp")
