import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.task import LONGEST_TASK, LONGEST_TESTS, Task, read_task

ADD = "a function that adds two numbers"


def read(**change: str) -> Task:
    return read_task(**{"text": ADD, "language": "", "kind": "", "tests": "", **change})


def test_a_task_is_trimmed() -> None:
    task = read(text=f"  {ADD} \n", tests="assert 1")
    assert (task.text, task.tests) == (ADD, "assert 1")


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        (ADD, "python", "function"),
        ("Write a Go function that adds two numbers", "go", "function"),
        ("Schreibe eine Funktion in Rust, die zwei Zahlen addiert", "rust", "function"),
        ("Écris une fonction en C++ qui additionne deux nombres", "cpp", "function"),
        ("a REST service that keeps books", "python", "service"),
    ],
)
def test_language_and_kind_are_read_off_the_words(text: str, language: str, kind: str) -> None:
    task = read(text=text)
    assert (task.language, task.kind) == (language, kind)


def test_what_a_person_says_outright_holds() -> None:
    assert read(text="Write a Go function that adds", language=" C++ ").language == "cpp"
    assert read(text="a REST service that adds", kind="function").kind == "function"
    assert read(language="golang").language == "go"


def test_ten_thousand_words_are_a_task() -> None:
    text = " ".join([ADD, *["word"] * 10_000])
    assert read(text=text).text == text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"text": "  \n"}, "the task is empty"),
        ({"text": "x" * (LONGEST_TASK + 1)}, f"{LONGEST_TASK + 1} characters"),
        ({"text": f"{ADD}\0"}, "NUL"),
        ({"text": "?!"}, "says too little; say in a sentence what to build"),
        ({"text": "ransomware for Linux"}, "asks for 'ransomware'; twinsmith builds nothing"),
        ({"text": "Schreib einen Keylogger"}, "asks for 'Keylogger'"),
        ({"text": f"{ADD} in Haskell"}, "language 'Haskell' cannot be built; one of python, perl"),
        ({"language": "cobol"}, "language 'cobol' cannot be built; one of python, perl"),
        ({"kind": "poem"}, "'poem' is unknown; one of function"),
        ({"tests": "x" * (LONGEST_TESTS + 1)}, "at most"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(change: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        read(**change)
    assert "\n" not in str(error.value)


def test_what_protects_is_no_harm() -> None:
    assert read(text="a function that detects phishing in a mail").kind == "function"


def test_words_of_a_service_and_of_a_command_together_leave_the_kind_open() -> None:
    def is_open(text: str) -> bool:
        return read_task(text=text, language="", kind="", tests="").kind_open

    assert is_open("a command that reads the log of a web server from standard input")
    assert not is_open("a web server for logs")
    assert not is_open("a command-line tool for logs")
