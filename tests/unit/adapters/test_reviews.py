"""What tools say, as they said it: those that may be absent here, too."""

from twinsmith.adapters.sandbox.review import read
from twinsmith.adapters.sandbox.reviews import REVIEWS
from twinsmith.core.execution import ProbeResult


def read_as(language: str, name: str, source: str = "", **said: str) -> list[tuple[str, ...]]:
    tool = next(tool for tool in REVIEWS[language] if tool.name == name)
    result = ProbeResult(name=name, outcome="passed", exit_code=0, **said)  # type: ignore[arg-type]
    return [(each.what, each.where, each.severity) for each in read(tool, result, source)]


def test_bandit_needs_all_of_its_answer() -> None:
    row = '{"test_id": "B602", "issue_text": "shell", "issue_severity": "%s", "line_number": 4}'
    low, high = row % "LOW", row % "HIGH"
    whole = f'{{"results": [{high}, {low}]}}'
    assert read_as("python", "bandit", output=whole) == [
        ("bandit B602", "line 4", "blocking"),
        ("bandit B602", "line 4", "note"),
    ]
    (cut,) = read_as("python", "bandit", output=whole[:90])
    assert cut == ("bandit did not finish", "solution", "note")


def test_cppcheck_is_sure_only_of_errors() -> None:
    rows = (
        "error\tnullPointer",
        "warning\tnullPointer",
        "error\tmemleak",
        "error\tsyntaxError",
    )
    said = "".join(f"solution.c\t7\t{row}\tp is NULL\n" for row in rows)
    assert read_as("c", "cppcheck", errors=said) == [
        ("cppcheck nullPointer", "line 7", "blocking"),
        ("cppcheck nullPointer", "line 7", "note"),
        ("cppcheck memleak", "line 7", "note"),
    ]


def test_perlcritic_blocks_a_name_that_may_be_a_command() -> None:
    policy = "InputOutput::ProhibitTwoArgOpen"
    said = "".join(f"{line}\t{policy}\tTwo-argument open\n" for line in (1, 2, 3))
    source = 'open(F, $n);\nopen(F, "<$n");\nopen(F, ">out.txt");\n'
    assert read_as("perl", "perlcritic", source, output=said) == [
        (f"perlcritic {policy}", "line 1", "blocking"),
        (f"perlcritic {policy}", "line 2", "note"),
        (f"perlcritic {policy}", "line 3", "note"),
    ]


def test_gcc_is_not_sure_of_what_may_be() -> None:
    said = (
        "solution.c:3:5: warning: pointer 'p' used after 'free' [-Wuse-after-free]\n"
        "solution.c:4:5: warning: pointer 'p' may be used after 'free' [-Wuse-after-free]\n"
        "/usr/include/x.h:9:1: warning: 'x' is used uninitialized [-Wuninitialized]\n"
    )
    assert read_as("c", "gcc", errors=said) == [
        ("gcc -Wuse-after-free", "line 3", "blocking"),
        ("gcc -Wuse-after-free", "line 4", "note"),
    ]
