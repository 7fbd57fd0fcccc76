import pytest

from twinsmith.core.channel import channel_for


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
        "",
    ],
)
def test_questions_are_looked_up_by_what_they_mean(query: str) -> None:
    assert channel_for(query) == "dense"
