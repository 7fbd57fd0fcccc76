import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.program import Kind, Program
from twinsmith.core.replies.reply_code import read_program, read_reply, source_in

SOURCE = "def f(x):\n    return x + 1\n"
GO = 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(1)\n}\n'
FENCE = "```"


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        f"{FENCE}python\n{SOURCE}{FENCE}",
        f"Here you are:\n\n{FENCE}py\n{SOURCE}{FENCE}\nEnjoy!",
        f"{FENCE}\n{SOURCE}",
        f"~~~python\n{SOURCE}~~~\n",
        f"{FENCE}{FENCE}python\n{SOURCE}{FENCE}{FENCE}",
        f"The function: {FENCE}python\n{SOURCE}{FENCE}",
        f"{FENCE}sh\npip install nothing at all, whatever it is\n{FENCE}\n{FENCE}\n{SOURCE}{FENCE}",
        f"{FENCE}python\n{SOURCE}{FENCE}\nUse it:\n{FENCE}python\nprint(f(1), f(2), f(3))\n{FENCE}",
        f"1. First:\n   {FENCE}python\n   def f(x):\n       return x + 1\n   {FENCE}\n",
        f"{FENCE}python\n{SOURCE}{FENCE}".replace("\n", "\r\n"),
        f"<think>{FENCE}python\ndef f(x):\n    return 'a wrong one'\n{FENCE}</think>\n{SOURCE}",
        "\ufeff" + SOURCE,
        f"{FENCE}python\n{SOURCE[:-1]}{FENCE}\nThat is all.",
        f"It is in {FENCE}python fences, as usual.\n{FENCE}python\n{SOURCE}{FENCE}",
        f"{FENCE}{FENCE}md\n{SOURCE}{FENCE}{FENCE}",
        f"~~~\n{SOURCE}~~~\nand {FENCE}\nnothing",
    ],
)
def test_the_program_is_found_in_a_reply(text: str) -> None:
    assert source_in(text, "python", entry="f") == SOURCE


def test_of_several_blocks_the_one_with_the_entry_is_taken_and_what_it_needs() -> None:
    helper = "def helper(x):\n    return x\n"
    user = "def f(x):\n    return helper(x)\n"
    text = f"{FENCE}python\n{helper}{FENCE}\nand\n{FENCE}python\n{user}{FENCE}"
    both = source_in(text, "python", entry="f")
    assert both.index("def helper") < both.index("def f")
    tests = f"{FENCE}python\ndef test_f():\n    assert f(1) == 2\n    assert f(2) == 3\n{FENCE}"
    assert source_in(f"{FENCE}python\n{SOURCE}{FENCE}\n{tests}", "python", entry="f") == SOURCE


@pytest.mark.parametrize(
    "text",
    [
        f"Sure, here's the function:\n\n{SOURCE}\nIt adds one, and that's all.",
        f"{SOURCE}\n### How it works\n\n- It adds one.\n- It's quick (really).\n\n**Done**",
        f"{FENCE}python\n{SOURCE}\nassert f(1) == 2\nassert f(41) == (4",
        f"{FENCE}python\n{SOURCE}\nprint(f(1))\nresult = f(3)\nassert result == 5\n{FENCE}",
        f"{FENCE}python\n{SOURCE}\nif __name__ == '__main__':\n    print(f(1))\n{FENCE}",
        f"{FENCE}python\n{SOURCE}\n# Example usage:\nfor x in [1, 2]:\n    print(f(x))\n{FENCE}",
    ],
)
def test_what_stands_around_a_program_does_not_come_along(text: str) -> None:
    assert read_program(text, entry="f") == Program(source=SOURCE, entry="f")


def test_what_was_mended_is_told() -> None:
    reading = read_reply(f"{FENCE}python\ndef f(x):\n    return math.sqrt(x)\n{FENCE}", entry="f")
    assert reading.repairs == ("imports added: import math",)
    assert read_reply(SOURCE, entry="f").repairs == ()


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", "#include <stdio.h>\n\nint f(int x) {\n    return x;\n}\n"),
        ("cpp", "#include <vector>\n\nstd::vector<int> f(int x) {\n    return {x};\n}\n"),
        ("rust", "pub fn f(x: i64) -> i64 {\n    x + 1\n}\n"),
        ("go", "package main\n\nfunc f(x int) int {\n\treturn x\n}\n"),
        ("perl", "use strict;\n\nsub f {\n    my ($x) = @_;\n    return $x;\n}\n\n1;\n"),
    ],
)
def test_other_languages_are_read_with_and_without_a_fence(language: str, source: str) -> None:
    for text in (
        source,
        f"{FENCE}{language}\n{source}{FENCE}",
        f"Here is the code you want:\n\n{source}\nIt returns a number, as you asked.",
        f"{FENCE}{language}\n{source}{FENCE}\nRun:\n{FENCE}sh\n./a.out --many --options\n{FENCE}",
        f"{FENCE}{language}\r\n" + source.replace("\n", "\r\n"),
    ):
        program = read_program(text, language=language, entry="f")
        assert program == Program(source=source, entry="f", language=language)


def test_code_that_was_written_as_html_is_read() -> None:
    code = "#include &lt;stdio.h&gt;\nint f(int x) { return x &lt; 2 &amp;&amp; x; }\n"
    text = f"{FENCE}c\n{code}{FENCE}"
    assert "#include <stdio.h>\nint f(int x) { return x < 2 && x; }" in source_in(text, "c")
    used = 'int f(int lt) { int *p = &lt; puts("&gt;"); return *p; }\n'
    assert source_in(used, "c") == used


@pytest.mark.parametrize("kind", ["cli", "service"])
def test_a_command_keeps_what_it_does_when_it_is_started(kind: Kind) -> None:
    source = "import sys\n\nprint(sys.argv)\nif __name__ == '__main__':\n    print(1)\n"
    assert read_program(source, kind=kind).source == source
    assert read_program(GO, language="go", kind=kind).source == GO


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I am sorry.", "not Python"),
        ("```python\ndef f(:\n```", "not Python"),
        ("```python\ndef g(): ...\ndef h(): ...\n```", r"not define 'f'; it defines \['g', 'h'\]"),
        ("", "does not define 'f'"),
        ("x = '\0'", "not Python"),
        ("(" * 100_000, "not Python"),
        ("-" * 100_000 + "1", "not Python: too deeply nested"),
    ],
)
def test_what_is_no_program_is_a_bad_reply(text: str, says: str) -> None:
    with pytest.raises(BadReply, match=says) as error:
        read_program(text, entry="f")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("language", "text", "kind", "says"),
    [
        (
            "rust",
            "fn g() {}\nfn h() {}",
            "function",
            r"does not define 'f'; it defines \['g', 'h'\]",
        ),
        ("go", "func f() {}", "cli", "does not define 'main'"),
        ("c", "I cannot do that.", "function", "does not define 'f'"),
        ("perl", " \n", "cli", "holds no perl program"),
        ("python", "", "cli", "holds no python program"),
    ],
)
def test_a_bad_reply_in_any_language_says_what_is_missing(
    language: str, text: str, kind: Kind, says: str
) -> None:
    with pytest.raises(BadReply, match=says):
        read_program(text, language=language, entry="f", kind=kind)
