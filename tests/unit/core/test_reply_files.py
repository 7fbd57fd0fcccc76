import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.program import FILE_NAMES, Kind, Program, SourceFile
from twinsmith.core.replies.reply_code import read_program, read_reply, source_in
from twinsmith.core.replies.reply_files import as_blocks

FENCE = "```"
MAIN = "from shapes import area\n\n\ndef f(x):\n    return area(x)\n"
SHAPES = "def area(x):\n    return x * x\n"
LONG = SHAPES + "# more\n" * 99
BOTH = Program(source=MAIN, entry="f", files=(SourceFile(name="shapes.py", text=SHAPES),))


def block(text: str, info: str = "python") -> str:
    return f"{FENCE}{info}\n{text}{FENCE}\n"


def reply(files: dict[str, str], info: str = "python") -> str:
    return "".join(f"\n{name}\n{block(text, info)}" for name, text in files.items())


def names(program: Program) -> list[str]:
    return [file.name for file in program.files]


@pytest.mark.parametrize(
    "said",
    [
        *("shapes.py", "`shapes.py`", "**shapes.py**", "### shapes.py", "File: shapes.py"),
        *("**`shapes.py`**", "**File: shapes.py**", "#### `shapes.py`:", "1. **shapes.py**"),
        *("- shapes.py", "2) `shapes.py` (areas)", "File 2: shapes.py", "./shapes.py"),
        *("Filename: shapes.py", "## File: `shapes.py` - areas", "shapes.py:\n"),
        "### shapes.py\n\nIt knows the areas of all shapes:",
        "# solution.py\nThat is used by the above.\n## shapes.py\nIt knows areas:",
    ],
)
def test_a_file_is_named_on_the_line_above_it(said: str) -> None:
    text = f"Two files.\n\n**solution.py**\n{block(MAIN)}\n{said}\n{block(SHAPES)}\nThat is all."
    assert read_program(text, entry="f") == BOTH


@pytest.mark.parametrize(
    "info",
    [
        *("python shapes.py", "shapes.py", "python:shapes.py", 'python title="shapes.py"'),
        *("py filename=shapes.py", "python file:shapes.py", "text shapes.py"),
    ],
)
def test_a_file_is_named_in_its_fence(info: str) -> None:
    text = f"{block(SHAPES, info)}\n{block(MAIN, 'python solution.py')}"
    assert read_program(text, entry="f") == BOTH


@pytest.mark.parametrize("comment", ["# shapes.py", "# File: shapes.py", "#shapes.py - areas"])
def test_a_file_is_named_in_its_first_comment(comment: str) -> None:
    program = read_program(block(MAIN) + block(f"{comment}\n{SHAPES}"), entry="f")
    assert program.source == MAIN
    assert program.files == (SourceFile(name="shapes.py", text=f"{comment}\n{SHAPES}"),)


@pytest.mark.parametrize(
    ("language", "main", "others"),
    [
        (
            "perl",
            'use FindBin; use lib "$FindBin::Bin/";\nuse Shapes;\nprint area(3);\n',
            {"Shapes.pm": "package Shapes;\nsub area { 1 }\n1;\n"},
        ),
        (
            "rust",
            "mod shapes;\n\nfn main() {\n    shapes::area();\n}\n",
            {"shapes.rs": "pub fn area() {}\n"},
        ),
        (
            "go",
            "package main\n\nfunc main() {\n\tarea()\n}\n",
            {"shapes.go": "package main\n\nfunc area() {}\n"},
        ),
        (
            "c",
            '#include "shapes.h"\n\nint main(void) {\n    return area();\n}\n',
            {"shapes.h": "int area(void);\n", "shapes.c": "int area(void) { return 0; }\n"},
        ),
        (
            "cpp",
            '#include "shapes.hpp"\n\nint main() {\n    return area();\n}\n',
            {"shapes.hpp": "int area();\n", "shapes.cpp": "int area() { return 0; }\n"},
        ),
    ],
)
def test_other_languages_have_their_own_endings(
    language: str, main: str, others: dict[str, str]
) -> None:
    files = tuple(SourceFile(name=name, text=text) for name, text in others.items())
    expected = Program(source=main, language=language, kind="cli", files=files)
    beside = "".join(f"**{name}**\n{block(text, language)}" for name, text in others.items())
    for name in (FILE_NAMES[language], f"main.{FILE_NAMES[language].partition('.')[2]}"):
        text = f"{beside}### {name}\n{block(main, language)}"
        assert read_program(text, language=language, kind="cli") == expected
    inside = "".join(block(f"// {name}\n{text}", language) for name, text in others.items())
    if language != "perl":
        program = read_program(inside + block(main, language), language=language, kind="cli")
        assert (program.source, names(program)) == (main, [*others])


class TestMain:
    """Which of several files is the main one."""

    def test_the_one_that_is_called_so(self) -> None:
        main = "from shapes import f\n\n\ndef g(x):\n    return f(x)\n"
        shapes = "def f(x):\n    return x\n"
        program = read_program(reply({"solution.py": main, "shapes.py": shapes}), entry="f")
        assert (program.source, names(program)) == (main, ["shapes.py"])

    def test_else_the_one_with_the_entry(self) -> None:
        text = reply({"shapes.py": LONG, "areas.py": MAIN})
        assert read_program(text, entry="f").source == MAIN

    def test_else_the_one_that_begins(self) -> None:
        main = "from shapes import area\n\nif __name__ == '__main__':\n    print(area(1))\n"
        tests = "from tool import area\n\nif __name__ == '__main__':\n    print('tested')\n"
        text = reply({"shapes.py": LONG, "tool.py": main, "test_tool.py": tests})
        program = read_program(text, kind="cli")
        assert (program.source, names(program)) == (main, ["shapes.py"])

    def test_else_the_one_that_no_other_uses(self) -> None:
        text = reply({"shapes.py": LONG, "tool.py": "import shapes\nprint(shapes.area(1))\n"})
        assert names(read_program(text, kind="cli")) == ["shapes.py"]

    def test_it_is_never_a_header(self) -> None:
        header = "static int area(void) { return 1; }\n" + "/* long */\n" * 99
        text = reply({"shapes.h": header, "tool.c": "int main(void) {}\n"}, "c")
        program = read_program(text, language="c", kind="cli")
        assert (program.source, names(program)) == ("int main(void) {}\n", ["shapes.h"])


class TestLeftOut:
    """What is no part of the program."""

    @pytest.mark.parametrize(
        "more",
        [
            reply({"test_solution.py": "from solution import f\n\n\ndef test_f():\n    f(1)\n"}),
            reply({"example.py": "from solution import f\n\nprint(f(1))\n"}),
            reply({"requirements.txt": "flask\n"}, "text"),
            reply({"shapes.rs": "pub fn area() {}\n"}, "rust"),
            block("from solution import f\nprint(f(1))\n"),
            block("python solution.py\n", "sh"),
        ],
    )
    def test_tests_examples_and_what_is_in_another_language(self, more: str) -> None:
        text = reply({"solution.py": MAIN, "shapes.py": SHAPES})
        assert read_program(text + more, entry="f") == BOTH
        assert read_program(more + text, entry="f") == BOTH

    def test_a_second_beginning(self) -> None:
        function = '#include "shapes.h"\nint f(int x) {\n    return area(x);\n}\n'
        demo = "int main(void) { return f(1); }\n"
        files = {"solution.c": function, "shapes.h": "int area(int);\n", "demo.c": demo}
        text = reply(files, "c")
        program = read_program(text, language="c", entry="f")
        assert (program.source, names(program)) == (function, ["shapes.h"])

    def test_another_way_to_do_the_same(self) -> None:
        way = "int f(int x) {\n    return x;\n}\n"
        text = reply({"naive.c": way, "solution.h": "int f(int x);\n", "better.c": way * 2}, "c")
        program = read_program(text, language="c", entry="f")
        assert (program.source, names(program)) == (way * 2, ["solution.h"])

    @pytest.mark.parametrize("name", ["# solution.py", "# example.py"])
    def test_one_file_is_read_as_ever(self, name: str) -> None:
        text = block("def f(x):\n    return x\n") + block(f"{name}\nprint(f(1))\n")
        assert read_program(text, entry="f") == Program(
            source=source_in(text, "python", entry="f"), entry="f"
        )

    def test_the_earlier_of_two_under_one_name(self) -> None:
        text = reply({"solution.py": MAIN, "shapes.py": "def area(x): ...\n"})
        assert read_program(f"{text}Better:\n{reply({'shapes.py': SHAPES})}", entry="f") == BOTH


class TestFolders:
    """Names are as the main file sees them."""

    @pytest.mark.parametrize(
        ("main", "other", "expected"),
        [
            ("src/main.c", "src/shapes.c", "shapes.c"),
            ("src/main.c", "include/shapes.c", "include/shapes.c"),
            ("tool/src/main.c", "tool/src/inner/shapes.c", "inner/shapes.c"),
            ("tool/src/main.c", "tool/include/shapes.c", "include/shapes.c"),
            ("/home/me/main.c", "/home/me/shapes.c", "shapes.c"),
            ("main.c", "inner/shapes.c", "inner/shapes.c"),
        ],
    )
    def test_it_is_moved_out_of_its_own(self, main: str, other: str, expected: str) -> None:
        text = reply({main: "int main(void) {}\n", other: "int x;\n"}, "c")
        assert names(read_program(text, language="c", kind="cli")) == [expected]

    @pytest.mark.parametrize(
        ("imports", "expected"),
        [
            ("from app.shapes import area", "app/shapes.py"),
            ("from shapes import area", "shapes.py"),
        ],
    )
    def test_a_package_keeps_its_name(self, imports: str, expected: str) -> None:
        main = f"{imports}\nprint(area(2))\n"
        text = reply({"work/app/main.py": main, "work/app/shapes.py": SHAPES})
        assert names(read_program(text, kind="cli")) == [expected]


class TestMending:
    """The main file is mended as ever; what it has from the others is left alone."""

    @pytest.mark.parametrize("kind", ["function", "library"])
    @pytest.mark.parametrize(
        "imports", ["import shapes", "from shapes import area as _", "from shapes import *"]
    )
    def test_an_import_of_another_file_is_never_useless(self, imports: str, kind: Kind) -> None:
        main = f"import yaml\n{imports}\n\n\ndef f(x):\n    return math.sqrt(x)\n\nprint(f(2))\n"
        text = reply({"solution.py": main, "shapes.py": SHAPES})
        reading = read_reply(text, entry="f", kind=kind)
        expected = f"import math\n{imports}\n\n\ndef f(x):\n    return math.sqrt(x)\n"
        assert reading.program.source == expected
        assert len(reading.repairs) == 3

    @pytest.mark.parametrize("imports", ["from shapes import area", "from shapes import *"])
    def test_an_entry_may_come_from_another_file(self, imports: str) -> None:
        main = f"{imports}\n\n\ndef g(x):\n    return x\n"
        text = reply({"solution.py": main, "shapes.py": SHAPES})
        reading = read_reply(text, entry="area")
        assert (reading.program.source, reading.repairs) == (main, ())
        with pytest.raises(BadReply, match="does not define 'volume'"):
            read_reply(text.replace("def g", "def volumes(): ...\ndef g"), entry="volume")

    def test_a_margin_and_the_marks_of_html_are_taken_out_of_every_file(self) -> None:
        shapes = "   def area(x):\n       return x if x &lt; 2 else x * x\n"
        text = reply({"solution.py": MAIN, "shapes.py": shapes})
        (file,) = read_program(text, entry="f").files
        assert file.text == "def area(x):\n    return x if x < 2 else x * x\n"
        meant = "def area(x):\n    return '&lt;'\n"
        (file,) = read_program(reply({"solution.py": MAIN, "shapes.py": meant})).files
        assert file.text == meant

    def test_a_perl_program_finds_its_modules(self) -> None:
        main = "#!/usr/bin/perl\nuse Shapes;\nprint 1;\n"
        text = reply({"solution.pl": main, "lib/Shapes.pm": "package Shapes;\n1;\n"}, "perl")
        reading = read_reply(text, language="perl", kind="cli")
        looking = 'use FindBin; use lib "$FindBin::Bin/", "$FindBin::Bin/lib";'
        assert reading.program.source == f"#!/usr/bin/perl\n{looking}\nuse Shapes;\nprint 1;\n"
        assert reading.repairs == ("the folder named where its modules lie",)
        known = text.replace("use Shapes", 'use FindBin; use lib "$FindBin::Bin/lib"; use Shapes')
        assert read_reply(known, language="perl", kind="cli").repairs == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../shapes.py", "at most one folder deep"),
        ("/etc/cron/shapes.py", "at most one folder deep"),
        ("a/b/c/shapes.py", "at most one folder deep"),
        ("~/shapes.py", "at most one folder deep"),
        ("solution/shapes.py", "sandbox's own"),
    ],
)
def test_a_hostile_name_is_a_bad_reply(name: str, says: str) -> None:
    text = reply({"solution.py": MAIN, name: SHAPES})
    with pytest.raises(BadReply, match=says) as error:
        read_program(text, entry="f")
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_python_is_a_bad_reply() -> None:
    text = reply({"solution.py": MAIN, "shapes.py": "def area(:\n"})
    with pytest.raises(BadReply, match=r"the file 'shapes.py' is not Python: .*line 1"):
        read_program(text, entry="f")


def test_too_many_files_are_a_bad_reply() -> None:
    main = "".join(f"import m{n}\n" for n in range(9)) + "def f(): ...\n"
    files = {f"m{n}.py": "x = 1\n" for n in range(9)}
    with pytest.raises(BadReply, match="9 files"):
        read_program(reply({"solution.py": main, **files}), entry="f")


@pytest.mark.parametrize(
    "text",
    [
        reply({f"m{n}.py": f"import m{n + 1}\n" for n in range(3000)}),
        reply({f"{'*' * 100_000}a.py": "x = 1\n"}) * 2,
        reply({f"{'a' * 100_000}.p": "x = 1\n"}) * 2,
        reply({"a.py": f"# {'a.' * 50_000}\n"}) * 9,
    ],
    ids=["many", "stars", "long", "dots"],
)
def test_a_reply_that_is_made_to_take_long_is_read_like_any_other(text: str) -> None:
    with pytest.raises(BadReply):
        read_program(text, entry="f")


@pytest.mark.parametrize(
    "program",
    [
        BOTH,
        Program(source="def f(x):\n    return '```'\n", entry="f"),
        Program(
            source='#include "a.h"\nint f(int x) { return g(x); }\n',
            entry="f",
            language="c",
            files=(SourceFile(name="a.h", text="int g(int); // ````\n"),),
        ),
    ],
)
def test_a_program_that_is_shown_is_read_as_it_was(program: Program) -> None:
    shown = as_blocks(program)
    assert read_program(shown, language=program.language, entry="f") == program
    assert shown.startswith(FENCE) == (not program.files)
