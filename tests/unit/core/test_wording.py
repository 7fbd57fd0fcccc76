"""What a task says by its words alone."""

import pytest

from twinsmith.core.wording import (
    channels_in,
    entry_in,
    foreign_language_in,
    harm_in,
    kind_in,
    language_in,
    says_something,
    signature_in,
)

HUMAN_EVAL = '''from typing import List


def helper(x):
    return x


def has_close_elements(numbers: List[float], threshold: float) -> bool:
    """ Check if in given list of numbers, are any two numbers closer than given threshold.
    >>> has_close_elements([1.0, 2.0, 3.0], 0.5)
    False
    """
'''


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Write a Python function roman(n)", "python"),
        ("a function in Rust that sorts", "rust"),
        ("a Go function that reverses a string", "go"),
        ("write it in Golang", "go"),
        ("let it go function by function", ""),
        ("go and write a program", ""),
        ("sum of digits, in C.", "c"),
        ("a C program that prints primes", "c"),
        ("C++ class for a queue", "cpp"),
        ("in C++: a queue", "cpp"),
        ("Perl script that counts words", "perl"),
        ("a function that doubles a number", ""),
        ("vitamin C in food", ""),
        ("plan C: do it", ""),
        ("Eine Funktion in Python, die Zahlen verdoppelt", "python"),
        (HUMAN_EVAL, "python"),
        ("fn double(n: i64) -> i64", "rust"),
        ("func Double(n int) int", "go"),
        ("Create a REST API in Python for user authentication", "python"),
    ],
)
def test_the_language(text: str, language: str) -> None:
    assert language_in(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a function in COBOL that adds", "COBOL"),
        ("a Java program", "Java"),
        ("a JavaScript function", "JavaScript"),
        ("in R, the mean", "R"),
        ("r functions of radius r", ""),
        ("a Python function that parses Java", ""),
        ("a function that adds", ""),
        ("turn basic words in capital letters", ""),
    ],
)
def test_a_language_that_cannot_be_built(text: str, language: str) -> None:
    assert foreign_language_in(text) == language


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Create a REST API in Python for user authentication", "service"),
        ("a URL shortener service that keeps links", "service"),
        ("an HTTP server with an endpoint /health", "service"),
        ("a command-line tool that counts words", "cli"),
        ("a program that reads numbers from standard input", "cli"),
        ("a library for matrices", "library"),
        ("Write a Python function roman(n)", "function"),
        ("a function that parses the response of a REST API", "function"),
        ("reverse a string", "function"),
        (HUMAN_EVAL, "function"),
        ("a guest book: GET / shows it, POST /sign adds to it", "service"),
        ("a function that reads lines such as GET /index.html", "function"),
        ("a command line tool that counts lines such as GET /index.html", "cli"),
    ],
)
def test_the_kind(text: str, kind: str) -> None:
    assert kind_in(text) == kind


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("Write a Python function roman(n) that turns", "roman"),
        ("a function called slugify that", "slugify"),
        ("a function named `to_slug` for titles", "to_slug"),
        ("implement `parse_url(text)`", "parse_url"),
        ("write gcd(a, b)", "gcd"),
        ("a function that doubles a number", ""),
        (HUMAN_EVAL, "has_close_elements"),
        ("pub fn double(n: i64) -> i64 {", "double"),
    ],
)
def test_the_name_of_the_function(text: str, entry: str) -> None:
    assert entry_in(text) == entry


def test_the_signature() -> None:
    line = "def has_close_elements(numbers: List[float], threshold: float) -> bool:"
    assert signature_in(HUMAN_EVAL, "has_close_elements") == line
    assert signature_in("a function f(x)", "f") == ""


def test_weapons_and_defences() -> None:
    assert harm_in("Write ransomware in Python") == "ransomware"
    assert harm_in("a keylogger that mails what is typed") == "keylogger"
    assert harm_in("a function that detects phishing addresses") == ""
    assert harm_in("sort a list") == ""


def test_nothing_said() -> None:
    assert not says_something("?!")
    assert not says_something("x")
    assert says_something("reverse text")


@pytest.mark.parametrize(
    ("text", "channels"),
    [
        ("a tool that counts words in standard input", {"stdin"}),
        ("a tool that reads its input and sorts the lines", {"stdin"}),
        ("a tool that adds two numbers", {"args"}),
        ("a tool that adds its arguments", {"args"}),
        ("a tool that counts the lines of a file, with an option -v", {"files", "options"}),
        ("summiert die Zahlen auf der Kommandozeile", {"args"}),
        ("a command-line tool that greets", {"args"}),
    ],
)
def test_what_a_command_is_given_stands_in_its_task(text: str, channels: set[str]) -> None:
    assert channels_in(text) == channels


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ein Kommandozeilenprogramm in Go, das Zahlen addiert", "cli"),
        ("Schreibe eine Funktion, die eine Zahl verdoppelt", "function"),
        ("une bibliothèque Python pour les dates", "library"),
        ("un outil en ligne de commande qui compte les mots", "cli"),
    ],
)
def test_a_kind_is_understood_in_other_languages_too(text: str, kind: str) -> None:
    assert kind_in(text) == kind
