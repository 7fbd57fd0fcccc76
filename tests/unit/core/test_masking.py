import pytest

from twinsmith.core.masking import MASK, mask, mask_json, secrets_in

PLANTED = [
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "sk-ant-api03-abcdefghijklmnopqrst",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_abcdefghijklmnopqrstuvwxyz0123456789",
    "glpat-abcdefghijklmnopqrst",
    "hf_abcdefghijklmnopqrstuvwxyz01234567",
    "xoxb-1234567890-abcdef",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", PLANTED)
def test_what_looks_like_a_secret_is_masked(secret: str) -> None:
    assert mask(f"before {secret} after") == f"before {MASK} after"


def test_headers_and_addresses_keep_all_but_the_secret() -> None:
    assert mask("Authorization: Bearer abcdefghij0123456789") == f"Authorization: Bearer {MASK}"
    assert mask("postgresql://me:hunter2@host/db") == f"postgresql://{MASK}@host/db"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 64,
        "0123456789abcdef" * 4,
        "def skip_all(items): ...",
        "see https://host:8080/path and postgresql://me@host/db",
        "risk-averse-and-very-long-hyphenated-words",
    ],
)
def test_ordinary_text_and_hashes_stay(text: str) -> None:
    assert mask(text) == text


def test_values_of_secret_variables_are_masked_wherever_they_stand() -> None:
    env = {"MY_API_KEY": "swordfish-42", "PATH": "/usr/bin", "DEBUG_TOKENS": "true", "X_KEY": "ab"}
    secrets = secrets_in(env)
    assert secrets == ("swordfish-42",)
    data = mask_json({"a": ["x swordfish-42 y", 3, None], "swordfish-42": True}, secrets)
    assert data == {"a": [f"x {MASK} y", 3, None], MASK: True}


def test_the_longest_secret_goes_first() -> None:
    secrets = secrets_in({"A_TOKEN": "abcdef", "B_TOKEN": "abcdefghi"})
    assert mask("abcdefghi", secrets) == MASK
