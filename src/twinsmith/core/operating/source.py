"""A finished program that is to run somewhere: its files, its kind, and where it comes from."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from twinsmith.core.errors import BadReply, ConfigError
from twinsmith.core.planning.python_kit import KIT_FILE
from twinsmith.core.program import ENDINGS, FILE_NAMES, KINDS, MODULE, Kind, Program, SourceFile

REPORT, NEEDS = "report.json", "requirements.txt"
TESTS = f"test_{MODULE}"
_RUN = re.compile(r"[\w-]{1,64}", re.ASCII)
NEXT = "name a run that was solved, or the folder of its result"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A program with the run that made it and the packages that it needs."""

    program: Program
    run: str = ""
    task: str = ""
    packages: tuple[str, ...] = ()
    tests: str = ""
    """The name of the file that its tests are in; empty where it has none."""
    test_text: str = ""
    parent: str = ""
    """The digest of the source that it was made from; empty where it was made from none."""

    @cached_property
    def files(self) -> dict[str, str]:
        """Every file of the program by name."""
        named = {each.name: each.text for each in self.program.files}
        return {**named, FILE_NAMES[self.program.language]: self.program.source}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that decides what is built."""
        told = [self.program.language, self.program.kind, sorted(self.files.items()), self.packages]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()

    @property
    def framed(self) -> bool:
        """Whether it is a Python service around our own frame, which any WSGI server can load."""
        return self.program.kind == "service" and KIT_FILE in self.files


def source_in(files: Mapping[str, str], where: str) -> Source:
    """The program in the files of a result folder; ConfigError says why there is none."""
    report = _report(files, where)
    languages = [language for language, name in FILE_NAMES.items() if name in files]
    if not languages:
        if any(name.startswith("rejected/") for name in files):
            raise ConfigError(f"what lies in {where} was not solved, so it is not packaged; {NEXT}")
        raise ConfigError(f"{where} holds no program (such as {FILE_NAMES['python']}); {NEXT}")
    language = languages[0]
    main = FILE_NAMES[language]
    kind = _kind(report, files, where)
    beside = [
        SourceFile(name=name, text=text)
        for name, text in sorted(files.items())
        if name.endswith(ENDINGS[language]) and name != main and not name.startswith(TESTS)
    ]
    try:
        program = Program(source=files[main], language=language, kind=kind, files=tuple(beside))
    except BadReply as error:
        raise ConfigError(f"{where} holds no program that can be packaged: {error}") from None
    tests = next((name for name in sorted(files) if name.startswith(TESTS)), "")
    return Source(
        program=program,
        run=named[0] if (named := _RUN.fullmatch(str(report.get("run", "")))) else "",
        task=str(report.get("task", "")),
        packages=_packages(files.get(NEEDS, "")),
        tests=tests,
        test_text=files.get(tests, ""),
    )


def _report(files: Mapping[str, str], where: str) -> dict[str, object]:
    try:
        report = json.loads(files.get(REPORT, "{}"))
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict):
        raise ConfigError(f"{REPORT} in {where} cannot be read; {NEXT}")
    return report


def _kind(report: Mapping[str, object], files: Mapping[str, str], where: str) -> Kind:
    """The kind that the report names; where there is none, a service has an interface."""
    named = report.get("kind", "service" if "openapi.json" in files else "cli")
    for kind in KINDS:
        if kind == named:
            return kind
    raise ConfigError(f"{REPORT} in {where} names the kind {named!r}; one of {', '.join(KINDS)}")


def _packages(needs: str) -> tuple[str, ...]:
    lines = (line.partition("#")[0].strip() for line in needs.splitlines())
    return tuple(sorted({line.lower() for line in lines if line}))
