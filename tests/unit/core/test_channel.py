import pytest

from twinsmith.core.knowing.channel import channel_for, least_cosine


@pytest.mark.parametrize(
    "query",
    [
        "read_text",
        "where is HashMap used",
        "getElementById",
        "std::sort",
        "os.path.join example",
        "what does strtol() give",
        "error[E0382]: borrow of moved value",
        "E0502",
        "KeyError in a loop",
        "panic: runtime error",
        "undefined reference to sqrt",
        "SIGSEGV",
        "Traceback (most recent call last)",
        "use of `unwrap`",
        "_private",
        "def rewrap",
        "node->next",
        "local variable 'x' referenced before assignment",
        "Use of uninitialized value $line at run.pl line 31.",
        "warning: pointer used [-Wuse-after-free]",
        "thread panicked at src/main.rs:18:5",
        "index out of range",
        "AttributeError: module has no attribute",
        "JavaScript: Cannot read map of getItems()",
    ],
)
def test_names_and_errors_are_looked_up_by_their_words(query: str) -> None:
    assert channel_for(query) == "lexical"


@pytest.mark.parametrize(
    "query",
    [
        "how are passwords stored safely?",
        "retry with backoff and jitter",
        "a REST service with a login",
        "Go: bounded worker pool",
        "What is a mutex, and when do I need one?",
        "handle errors well",
        "closures in JavaScript and TypeScript",
        "connect to PostgreSQL from Node.js",
        "what is new in Python 3.11, e.g. for tasks?",
        "why don't my tests run, and can't I see why?",
        "a class that can be moved, not copied",
        "running a def a few times",
        "",
    ],
)
def test_questions_are_looked_up_by_what_they_mean(query: str) -> None:
    assert channel_for(query) == "dense"


def test_what_is_noise_grows_with_what_is_known() -> None:
    assert least_cosine(0) == least_cosine(250) == 0.28
    assert least_cosine(250) < least_cosine(1_000) < least_cosine(10_000) < least_cosine(100_000)
    assert least_cosine(1_000) == pytest.approx(0.32, abs=0.005)
    assert least_cosine(100_000) == least_cosine(100_000_000) == 0.40
