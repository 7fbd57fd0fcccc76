"""Go: compiled and linked against archives of the standard library that are made once."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    WORK,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
)
from twinsmith.core.errors import SandboxError
from twinsmith.core.program import Program

DRIVER = Path(__file__).parents[1] / "drivers" / "driver.go"
DRIVER_PACKAGE = "twinsmith/driver"
SYSTEM = Path("/")
PATH = "/usr/bin:/bin"

# No pattern here looks far ahead in vain: a hostile source must not take long to read.
_TEXT = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.?|[^"\\\n])*"? | `[^`]*`?
    | '(?:\\.|[^'\\\n]){1,10}'""",
    re.VERBOSE | re.DOTALL,
)
_PACKAGE = re.compile(r"\bpackage\s+(\w+)")
_FUNCTION = re.compile(r"\bfunc\s+(\w+)\s*\(")
"""The pattern of a named function; Go has none inside another, and a method's name comes later."""


def _bare(source: str) -> str:
    """The source with comments and literals blanked out, everything else at its place."""
    return _TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def functions(source: str) -> tuple[str, ...]:
    """The names of functions that can be called: no methods, nothing generic."""
    names = _FUNCTION.findall(_bare(source))
    return tuple(dict.fromkeys(name for name in names if name not in {"main", "init", "_"}))


def as_package_main(source: str) -> str:
    """The source as a part of package main, whatever it called itself."""
    clause = _PACKAGE.search(_bare(source))
    if clause is None:
        return f"package main; {source}"
    return source[: clause.start(1)] + "main" + source[clause.end(1) :]


def without_main(source: str) -> str:
    """The source with its own main out of the way of the driver's, every line at its place."""
    for found in _FUNCTION.finditer(_bare(source)):
        if found[1] == "main":
            return source[: found.start(1)] + "solutionMain" + source[found.end(1) :]
    return source


def glue(names: Sequence[str]) -> str:
    """The main function that hands the program's functions to the driver."""
    listed = "\n".join(f'\t\t{{Name: "{name}", Code: {name}}},' for name in names)
    return (
        f'package main\n\nimport twinsmithDriver "{DRIVER_PACKAGE}"\n\nfunc main() {{\n'
        f"\ttwinsmithDriver.Serve([]twinsmithDriver.Function{{\n{listed}\n\t}})\n}}\n"
    )


def _recipe(program: Program, toolchain: Toolchain) -> Recipe:
    source = as_package_main(program.source)
    others = {file.name: as_package_main(file.text) for file in program.files}
    files = {"solution.go": source, **others}
    if program.kind in {"function", "library"}:
        names = functions(source)
        if not names:
            raise BadProgram(
                "the program defines no function that can be called: "
                "methods and generic functions cannot be"
            )
        files = {"solution.go": without_main(source), **others, "glue.go": glue(names)}
    linking = ("-importcfg", f"{CACHE}/importcfg", "-s", "-w", "-buildid=", "main.a")
    return Recipe(
        files=files,
        build=(
            _compile(toolchain, Path(CACHE), "main", Path("main.a"), (*files,)),
            (toolchain.commands["link"], "-o", "solution", *linking),
        ),
        artefact="solution",
        run=(ARTEFACT,),
    )


def _compile(
    toolchain: Toolchain, cache: Path, package: str, archive: Path, files: Sequence[str]
) -> tuple[str, ...]:
    options = ("-complete", "-pack", "-dwarf=false", "-c=2", "-trimpath", WORK)
    imports = ("-importcfg", str(cache / "importcfg"))
    compiler = toolchain.commands["compile"]
    return (compiler, "-o", str(archive), "-p", package, *imports, *options, *files)


def _prepare(toolchain: Toolchain, folder: Path, packages: Sequence[str] = ("std",)) -> None:
    """Compile the standard library and the driver into a folder."""
    with TemporaryDirectory(dir=folder) as scratch:
        # Without debugging information the archives are a quarter smaller, and quicker to link.
        listed = _run(
            toolchain.commands["go"],
            *("list", "-export", "-deps", "-gcflags=all=-dwarf=false", "-trimpath"),
            *("-f", "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}", *packages),
            home=scratch,
        )
        archives = dict(line.split("=", 1) for line in listed.split())
        for name, archive in archives.items():
            place = folder / "std" / f"{name}.a"
            place.parent.mkdir(parents=True, exist_ok=True)
            Path(archive).rename(place)
        _write_imports(folder, folder, [*archives])
        driver = folder / "std" / f"{DRIVER_PACKAGE}.a"
        driver.parent.mkdir(exist_ok=True)
        command = _compile(toolchain, folder, DRIVER_PACKAGE, driver, [str(DRIVER)])
        _run(*command, home=scratch)
    _write_imports(folder, Path(CACHE), [*archives, DRIVER_PACKAGE])


def _write_imports(folder: Path, seen_at: Path, names: Sequence[str]) -> None:
    lines = (f"packagefile {name}={seen_at}/std/{name}.a\n" for name in names)
    (folder / "importcfg").write_text("".join(lines))


def _run(*command: str, home: str) -> str:
    environment = {
        "PATH": PATH,
        "HOME": home,
        "GOCACHE": f"{home}/cache",
        "CGO_ENABLED": "0",
        "GO111MODULE": "off",
        "GOTOOLCHAIN": "local",
        "GOENV": "off",
    }
    done = subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=False
    )
    if done.returncode:
        complaint = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise SandboxError(f"go cannot be prepared: {Path(command[0]).name} says {complaint!r}")
    return done.stdout


def places(root: Path = SYSTEM, home: Path | None = None) -> list[Path]:
    """Paths where a `go` command may be, best first."""
    found = [root / "usr/local/go/bin/go"]
    for parent, pattern in (
        (root / "usr/lib", "go*/bin/go"),
        (home or Path.home(), "sdk/go*/bin/go"),
    ):
        found += sorted(parent.glob(pattern), key=_release, reverse=True)
    return [place for place in found if place.is_file()]


def _release(place: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", place.parts[-3])]


def _locate() -> Toolchain | None:
    for go in places():
        asked = subprocess.run(
            [str(go), "env", "GOVERSION", "GOROOT", "GOTOOLDIR"],
            env={"PATH": PATH, "HOME": "/tmp", "GOTOOLCHAIN": "local", "GOENV": "off"},  # noqa: S108
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode:
            continue
        version, goroot, tools = asked.stdout.split("\n")[:3]
        return Toolchain(
            version=version,
            commands={"go": str(go), "compile": f"{tools}/compile", "link": f"{tools}/link"},
            mounts=() if Path(goroot).is_relative_to("/usr") else (goroot,),
        )
    return None


GO = Language(
    name="go",
    suffix=".go",
    install="apt-get install -y golang-go",
    locate=_locate,
    recipe=_recipe,
    prepare=_prepare,
    prepared_kinds=("function", "library", "cli", "service"),
)
