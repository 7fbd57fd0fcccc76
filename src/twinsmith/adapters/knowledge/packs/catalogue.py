"""The packs: what each reads on this machine, and the package that brings it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from twinsmith.adapters.knowledge.packs import (
    cpp_docs,
    go_docs,
    man_pages,
    pod,
    python_docs,
    rust_docs,
    shelves,
)
from twinsmith.adapters.knowledge.packs.article import Origin, Part, Place, Reader
from twinsmith.adapters.knowledge.packs.installed import UNKNOWN, debian, debian_files, wheel
from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.knowledge import PACK

_UNNUMBERED = re.compile(r"[\d.]+")
_GO_OTHERS = ("_windows", "_plan9", "_js", "_wasm", "_wasip1", "_darwin", "_aix", "_solaris")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where things lie."""

    root: Path = Path("/")
    layer: Path | None = None
    """The folder with the libraries that Python programs may use; None: not made yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A name for documentation that may be installed."""

    name: str
    what: str
    install: str
    """What to do where there is nothing to read."""
    find: Callable[[Machine], Iterator[Place]]
    more: str = ""
    """The Debian package with a manual that is read instead."""

    @property
    def source(self) -> str:
        """What its passages come from, as `knowledge stats` and `knowledge remove` name it."""
        return f"{PACK}{self.name}"

    def has_manual(self, package: str) -> bool:
        """Whether a package brings the manual: python3.11-doc is what python3-doc brings."""
        return bool(self.more) and _UNNUMBERED.sub("", package) == _UNNUMBERED.sub("", self.more)


def find(name: str) -> Pack:
    """The pack of a name; ConfigError where there is none."""
    if name not in PACKS:
        raise ConfigError(f"pack {name!r} is not known; one of {', '.join(PACKS)}")
    return PACKS[name]


def places(pack: Pack, machine: Machine) -> list[Place]:
    """What a pack reads here, in its own order of importance."""
    return list(pack.find(machine))


def _python(machine: Machine) -> Iterator[Place]:
    root = machine.root
    for folder in sorted(root.glob("usr/share/doc/python3.*/html/_sources"), reverse=True):
        version = folder.parts[-3].removesuffix("-doc")
        origin = debian(root, f"{version}-doc", "PSF-2.0") or _unpacked(f"{version}-doc", "PSF-2.0")
        names = [f"library/{name}" for name in shelves.PYTHON_MODULES]
        for name in (*names, *shelves.PYTHON_MANUAL):
            file, about = folder / f"{name}.rst.txt", name.partition("/")[2]
            if file.is_file():
                yield _place(root, file, about, "python", origin, python_docs.manual)
        return
    interpreter = (root / "usr/bin/python3").resolve().name
    library = root / "usr/lib" / interpreter
    package = f"lib{interpreter}-stdlib"
    origin = debian(root, package, "PSF-2.0") or _unpacked(package, "PSF-2.0")
    for module in shelves.PYTHON_MODULES:
        base = library / module.replace(".", "/").replace("os/path", "posixpath")
        files = [base.with_suffix(".py")] if base.with_suffix(".py").is_file() else []
        for file in files or sorted(base.glob("[!_]*.py")):
            about = module if files else f"{module}.{file.stem}"
            yield _place(root, file, about, "python", origin, python_docs.docstrings)


def _libraries(distributions: tuple[str, ...], machine: Machine) -> Iterator[Place]:
    if machine.layer is None:
        return
    for distribution in distributions:
        origin = wheel(machine.layer, distribution)
        package = machine.layer / shelves.IMPORTED_AS.get(distribution, distribution)
        if origin is None or not (package / "__init__.py").is_file():
            continue
        name = package.name.removeprefix("_")
        exported = python_docs.exports((package / "__init__.py").read_text("utf-8"), name)
        read = partial(_renamed, exported)
        for file in sorted(package.rglob("*.py"), key=lambda each: (len(each.parts), each)):
            inside = file.relative_to(package).with_suffix("").parts
            if shelves.LEFT_OUT_FOLDERS & set(inside):
                continue
            about = ".".join([name, *(each for each in inside if each != "__init__")])
            # A private module counts where what is in it has a public name.
            if any(each.startswith("_") and each != "__init__" for each in inside) and not any(
                made_in.startswith(f"{about}.") for made_in in exported
            ):
                continue
            yield _place(machine.layer, file, about, "python", origin, read)


def _renamed(exported: dict[str, str], text: str, about: str) -> Iterator[Part]:
    """Docstrings, under the names that a package gives to what it exports."""
    return python_docs.docstrings(text, about, exported)


def _go(machine: Machine) -> Iterator[Place]:
    found = [
        machine.root / "usr/local/go",
        *sorted(machine.root.glob("usr/lib/go-*"), reverse=True),
    ]
    found += sorted(machine.root.glob("usr/share/go-*"), reverse=True)
    goroot = next((each for each in found if (each / "src/net/http").is_dir()), None)
    if goroot is None:
        return
    version = _first_line(goroot / "VERSION").removeprefix("go")
    packaged = debian(machine.root, f"golang-{goroot.name.removeprefix('go-')}-src", "BSD-3-Clause")
    origin = packaged or Origin(package="go", version=version, licence="BSD-3-Clause")
    for package in shelves.GO_PACKAGES:
        files = sorted((goroot / "src" / package).glob("*.go"))
        for file in sorted(files, key=lambda each: not each.name.startswith("example")):
            if file.name.startswith("example"):
                read = go_docs.examples
            elif file.stem.endswith(("_test", *_GO_OTHERS)):
                continue
            else:
                read = go_docs.declarations
            yield _place(goroot / "src", file, package, "go", origin, read)


def _perl(machine: Machine) -> Iterator[Place]:
    root = machine.root
    pages = sorted(root.glob("usr/share/perl/5*/pod/perlfunc.pod"))
    if pages:
        origin = debian(root, "perl-doc", "GPL-1+ or Artistic")
        origin = origin or _unpacked("perl-doc", "GPL-1+ or Artistic")
        for name in shelves.PERL_PAGES:
            file = pages[0].with_name(f"{name}.pod")
            if file.is_file():
                yield _place(root, file, name, "perl", origin, pod.sections)
    folders = [*root.glob("usr/share/perl/5.*[0-9]"), *root.glob("usr/lib/*/perl*/5.*[0-9]")]
    origin = debian(root, "perl", "GPL-1+ or Artistic") or _unpacked("perl", "GPL-1+ or Artistic")
    for module in shelves.PERL_MODULES:
        inside = module.replace("::", "/")
        both = [folder / f"{inside}{end}" for end in (".pod", ".pm") for folder in folders]
        for file in [each for each in both if each.is_file()][:1]:
            yield _place(root, file, module, "perl", origin, pod.sections)


def _rust(machine: Machine) -> Iterator[Place]:
    found = sorted(machine.root.glob("usr/src/rustc-*/library"), reverse=True)
    found += sorted(machine.root.glob("usr/lib/rustlib/src/rust/library"))
    if not found:
        return
    version = found[0].parent.name.removeprefix("rustc-")
    origin = debian(machine.root, "rust-src", "MIT or Apache-2.0") or Origin(
        package="rust-src", version=version, licence="MIT or Apache-2.0"
    )
    for name in shelves.RUST_FILES:
        file = found[0] / name
        if file.is_file():
            inside = name.removesuffix(".rs").removesuffix("/mod").replace("/src/", "/").split("/")
            about = "::".join(["std", *inside[1:]])
            yield _place(found[0], file, about, "rust", origin, rust_docs.items)


def _c(machine: Machine) -> Iterator[Place]:
    wanted = {"man2": shelves.C_SYSTEM_CALLS, "man7": shelves.C_OVERVIEWS}
    for package in ("manpages-dev", "manpages"):
        origin = debian(machine.root, package, "GPL-2+") or _unpacked(package, "GPL-2+")
        for file in debian_files(machine.root, package):
            name, section = file.name.split(".")[0], file.parent.name
            # A symlink is another name of a page.
            if (section == "man3" or name in wanted.get(section, ())) and not file.is_symlink():
                about = f"{name}({section.removeprefix('man')})"
                yield _place(machine.root, file, about, "c", origin, man_pages.pages)


def _cpp(machine: Machine) -> Iterator[Place]:
    root = machine.root
    folder = root / "usr/share/cppreference/doc/html/en/cpp"
    if folder.is_dir():
        package, licence = "cppreference-doc-en-html", "CC-BY-SA-3.0"
        # Its file of copyrights speaks of the packaging first.
        known = debian(root, package, licence) or _unpacked(package, licence)
        origin = Origin(package=package, version=known.version, licence=licence)
        for topic in shelves.CPP_TOPICS:
            for file in sorted((folder / topic).rglob("*.html")):
                about = str(file.relative_to(folder).with_suffix(""))
                yield _place(root, file, about, "cpp", origin, cpp_docs.reference)
        return
    for headers in sorted(root.glob("usr/include/c++/[0-9]*"), reverse=True)[:1]:
        package, licence = f"libstdc++-{headers.name}-dev", "GPL-3+ with GCC exception"
        origin = debian(root, package, licence) or _unpacked(package, licence)
        for name in shelves.CPP_HEADERS:
            if (file := headers / "bits" / name).is_file():
                yield _place(root, file, f"bits/{name}", "cpp", origin, cpp_docs.headers)


def _place(
    base: Path, file: Path, about: str, language: str, origin: Origin, read: Reader
) -> Place:
    path = str(file.relative_to(base))
    return Place(file=file, path=path, about=about, language=language, origin=origin, read=read)


def _unpacked(package: str, licence: str) -> Origin:
    """Files that are here, though no package says that it brought them."""
    return Origin(package=package, version=UNKNOWN, licence=licence)


def _first_line(file: Path) -> str:
    return file.read_text().partition("\n")[0].strip() if file.is_file() else UNKNOWN


def _library_pack(name: str, distributions: tuple[str, ...]) -> Pack:
    return Pack(
        name=name,
        what=f"docstrings of {', '.join(distributions)}",
        install=f"twinsmith knowledge add --pack {name} fetches it",
        find=partial(_libraries, distributions),
    )


PACKS = {
    pack.name: pack
    for pack in (
        Pack(
            name="python",
            what="Python's standard library",
            install="run: apt-get install -y libpython3-stdlib",
            find=_python,
            more="python3-doc",
        ),
        Pack(
            name="go",
            what="comments and examples of Go's standard library",
            install="run: apt-get install -y golang-go",
            find=_go,
        ),
        Pack(
            name="rust",
            what="comments and examples of Rust's standard library",
            install="run: apt-get install -y rust-src",
            find=_rust,
        ),
        Pack(
            name="c",
            what="manual pages of the C library",
            install="run: apt-get install -y manpages manpages-dev",
            find=_c,
        ),
        Pack(
            name="cpp",
            what="C++'s standard library",
            install="run: apt-get install -y g++",
            find=_cpp,
            more="cppreference-doc-en-html",
        ),
        Pack(
            name="perl",
            what="Perl's core modules",
            install="run: apt-get install -y perl",
            find=_perl,
            more="perl-doc",
        ),
        *(_library_pack(name, read) for name, read in shelves.LIBRARIES.items()),
    )
}
