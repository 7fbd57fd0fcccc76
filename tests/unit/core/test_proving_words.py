import pytest

from twinsmith.core.planning.proving_words import about_proving, proving


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("A harbour service: skippers sign up and book a berth", "skippers sign up"),
        ("A diary; only the logged-in writer may change a page", "the logged-in"),
        ("Votes on songs; every listener needs an account", "needs an account"),
        (
            "Keys are lent to tenants who come with a name and a password",
            "with a name and a password",
        ),
        ("A museum: POST /login gives a token for the rest", "login"),
    ],
)
def test_words_that_mean_a_login_are_found(task: str, words: str) -> None:
    assert proving(task) == words


@pytest.mark.parametrize(
    "task",
    [
        "A REST API for a bee keeper: hives with a place and a weight",
        "A service that makes random passwords of a given length",
        "A service that writes access logs in JSON",
        "An API for the bank accounts of a company and their balances",
        "A clerk registers cars with plate and colour",
        "A guest book without any login: a name and a message",
        "Visitors need no account; a pet is registered with its name",
        "A service that splits a text into tokens",
    ],
)
def test_words_that_can_mean_something_else_are_none(task: str) -> None:
    assert proving(task) == ""


def test_what_a_model_took_for_a_login_has_to_speak_of_one() -> None:
    assert not about_proving("bee keeper")
    assert about_proving("everyone sees their own runs")
    assert about_proving("by whoever holds the token")
