"""What a task writes as calls and definitions, and whether a program defines it."""

import pytest

from twinsmith.core.library_names import placed, possible_owners, undefined, written_in
from twinsmith.core.program import Program


def paths(text: str, language: str = "python") -> list[str]:
    return [each.path for each in written_in(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("volume(side) gives litres, mix(a, b) the shade", "python", ["volume", "mix"]),
        ("a class Shelf for books. put(book, at=0) and take()", "python", ["Shelf", "put", "take"]),
        ("a Shelf class with put(book)", "python", ["Shelf", "put"]),
        ("a Python class `Shelf(width)`: Shelf.put(book)", "python", ["Shelf", "Shelf.put"]),
        ("so that volume(3) == 27 and mix('red', True) fails", "python", []),
        ("counts the word(s) of a text", "python", []),
        ("shout(s) and whisper(s) for text", "python", ["shout", "whisper"]),
        ("raises ValueError(text), like math.floor(x) does", "python", []),
        ("tilt($angle, @rest) in degrees", "perl", ["tilt"]),
        ("Sum(values []int, by map[string]int) int", "go", ["Sum"]),
        ("pub fn tilt(by: Vec<(f64)>) and pub fn spin(n: usize) -> String", "rust", ["spin"]),
    ],
)
def test_names_with_parameters_are_read_and_examples_are_not(
    text: str, language: str, found: list[str]
) -> None:
    assert paths(text, language) == found


def test_parameters_keep_their_types_and_are_known_by_name() -> None:
    (one,) = written_in("std::string join(const std::vector<int>& many, char by = ' ')", "cpp")
    assert one.given == ("const std::vector<int>& many", "char by = ' '")
    (two,) = written_in("pub fn turn(text: &str, by: i32) -> String moves", "rust")
    assert (two.parameters, two.gives) == (("text", "by"), "-> String")
    (three,) = written_in("tilt($angle)", "perl")
    assert three.parameters == ("angle",)


def test_owners_are_names_and_no_beginnings_of_sentences() -> None:
    text = "Python: keeps a Shelf of books. Books have put(book). Raises ValueError in Go style"
    assert possible_owners(text, written_in(text, "python")) == ("Shelf",)


def test_functions_come_with_their_class_and_common_names_need_one() -> None:
    text = "class Tally: next(), total(); max(values) and widest(tallies)"
    found = placed(written_in(text, "python"), {"next": "Tally", "total": "Tally"})
    assert [each.path for each in found] == ["Tally", "Tally.next", "Tally.total", "widest"]
    loose = written_in("a Tally with next()", "python")
    assert [each.path for each in placed(loose, {"next": "Tally"})] == ["Tally", "Tally.next"]
    assert [each.path for each in placed(loose, {"next": "module"})] == []


@pytest.mark.parametrize(
    ("language", "source", "missing"),
    [
        ("python", "def parse(t): ...\nclass Plan:\n    def add(self): ...\n", ()),
        (
            "python",
            "class Plan:\n    @staticmethod\n    def parse(t): ...\n",
            ("parse", "Plan.add"),
        ),
        ("python", "from parts import parse, Plan\n", ()),
        ("python", "class Plan(list): ...\nparse = int\n", ()),
        ("python", "def parse(:", ()),
        ("perl", "sub parse { 1 }\n", ("Plan.add", "Plan")),
    ],
)
def test_a_program_defines_what_the_task_names(
    language: str, source: str, missing: tuple[str, ...]
) -> None:
    program = Program(source=source, language=language, kind="library")
    assert set(undefined(program, ("parse", "Plan", "Plan.add"))) == set(missing)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("go", "func (b Bag) Put(x int) {}\nfunc Sum[T any](x []T) T { }"),
        ("rust", "pub fn Put() {}\nfn Sum<T>(x: T) {}"),
        ("c", "int Put(void) { return 1; }\ndouble Sum (int n) { return 0; }"),
        ("cpp", "int Put() { return 1; }\nint Sum(int n);"),
    ],
)
def test_definitions_of_other_languages_are_found(language: str, source: str) -> None:
    program = Program(source=source, language=language, kind="library")
    assert undefined(program, ("Put", "Sum", "Other")) == ("Other",)
