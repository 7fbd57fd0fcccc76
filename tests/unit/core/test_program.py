import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.program import (
    ENDINGS,
    FILE_NAMES,
    MOST_BYTES,
    MOST_FILES,
    Program,
    SourceFile,
    file_problem,
)


def made(*names: str, language: str = "python", text: str = "") -> Program:
    files = tuple(SourceFile(name=name, text=text) for name in names)
    return Program(source="", language=language, files=files)


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("python", ("shapes.py", "inner/__init__.py", "inner/_a-b2.py", "json.py")),
        ("perl", ("Shapes.pm", "lib/Shapes.pm", "more.pl")),
        ("rust", ("shapes.rs", "inner/mod.rs")),
        ("go", ("shapes.go",)),
        ("c", ("solution.h", "driver.c", "src/shapes.c")),
        ("cpp", ("solution.hpp", "shapes.cpp", "include/shapes.h")),
    ],
)
def test_plain_names_in_the_language_lie_beside_the_main_file(
    language: str, names: tuple[str, ...]
) -> None:
    assert [file.name for file in made(*names, language=language).files] == [*names]


@pytest.mark.parametrize(
    "name",
    [
        *("../shapes.py", "/etc/shapes.py", "a/b/shapes.py", "a//shapes.py", "./shapes.py"),
        *("a/../shapes.py", ".shapes.py", "-shapes.py", "1shapes.py", "sh apes.py", "shapes.py\n"),
        *("shapes.py\0", "sh\napes.py", "$HOME.py", "a\\shapes.py", "~/shapes.py", "shäpes.py"),
        *("@shapes.py", "shapes..py", "shapes.tar.py", ".py", "", "/", "x" * 99 + ".py"),
    ],
)
def test_a_name_that_is_not_plain_makes_no_program(name: str) -> None:
    with pytest.raises(BadReply, match="letters, digits, _ and -, at most one folder") as error:
        made(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("language", "name", "says"),
    [
        ("python", "shapes.so", "end in .py$"),
        ("python", "shapes", "letters, digits"),
        ("go", "shapes.py", "end in .go$"),
        ("cpp", "shapes.c", "end in .cpp or .hpp or .h$"),
        ("perl", "driver.pl", "sandbox's own"),
        ("c", "calls.c", "sandbox's own"),
        ("cpp", "driver.hpp", "sandbox's own"),
        ("go", "glue.go", "sandbox's own"),
        ("rust", "solution/mod.rs", "sandbox's own"),
    ],
)
def test_a_name_of_another_language_or_of_the_sandbox_is_refused(
    language: str, name: str, says: str
) -> None:
    with pytest.raises(BadReply, match=says):
        made(name, language=language)


@pytest.mark.parametrize("language", ENDINGS)
def test_there_is_one_main_file_and_no_name_twice(language: str) -> None:
    assert FILE_NAMES[language].endswith(ENDINGS[language][0])
    with pytest.raises(BadReply, match="there already"):
        made(FILE_NAMES[language], language=language)
    other = f"other{ENDINGS[language][-1]}"
    with pytest.raises(BadReply, match="there already"):
        made(other, other, language=language)


def test_files_are_few_and_small() -> None:
    names = [f"f{n}.py" for n in range(MOST_FILES + 1)]
    assert len(made(*names[:-1]).files) == MOST_FILES
    with pytest.raises(BadReply, match="9 files beside its main one; at most 8"):
        made(*names)
    whole = SourceFile(name="a.py", text="x" * MOST_BYTES)
    assert file_problem([whole], "python") == ""
    letter = SourceFile(name="b.py", text="é")
    assert "100002 bytes; at most 100000" in file_problem([whole, letter], "python")
    lone = SourceFile(name="b.py", text="\ud800")
    assert "100003 bytes" in file_problem([whole, lone], "python")
