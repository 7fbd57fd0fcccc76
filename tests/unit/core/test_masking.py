"""What is masked wherever it is only read, and what stays."""

import pytest

from tests.honest_texts import CODE, PLAIN
from tests.secrets_planted import BLOCKS, NAMED, TOKENS
from twinsmith.core.masking import Masking, places_masked
from twinsmith.core.sensitive.places import MASK

OWN = Masking()


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_masked_wherever_it_stands(kind: str) -> None:
    token = TOKENS[kind]
    for mask in (OWN.text, OWN.code):
        assert mask(f"before {token} after") == f"before {MASK} after"
        assert mask(f'x = "{token}"\n') == f'x = "{MASK}"\n'
        assert token not in mask(f'{{"a": ["{token}"]}}, (see https://x.example/{token}).')


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_private_key_is_masked_as_a_whole(kind: str) -> None:
    for mask in (OWN.text, OWN.code):
        assert mask(f"before\n{BLOCKS[kind]}\n\nafter it.") == f"before\n{MASK}\n\nafter it."


@pytest.mark.parametrize("kind", NAMED)
def test_a_value_is_masked_where_its_name_or_place_tells(kind: str) -> None:
    text, secret = NAMED[kind]
    masked = OWN.text(f"see: {text}\nnext line")
    assert MASK in masked
    assert secret not in masked
    assert masked.startswith("see: ")
    assert masked.endswith("\nnext line")


def test_all_but_the_secret_stays() -> None:
    assert OWN.text("Authorization: Bearer abcdefghij0123456789") == f"Authorization: Bearer {MASK}"
    assert OWN.text("postgresql://me:hunter2@host/db") == f"postgresql://{MASK}@host/db"
    assert OWN.text("GET /x?api_key=a1b2c3&y=2") == f"GET /x?api_key={MASK}&y=2"
    assert OWN.text("a=1;Password=hunter2;b=2") == f"a=1;Password={MASK};b=2"
    assert OWN.text('{"password": "hunter2", "n": 1}') == f'{{"password": "{MASK}", "n": 1}}'


@pytest.mark.parametrize("text", [*PLAIN, *CODE])
def test_honest_texts_and_programs_stay_as_they_are(text: str) -> None:
    assert OWN.text(text) == text
    assert OWN.code(text) == text


@pytest.mark.parametrize(
    "text",
    [
        'password = "hunter2"\n',
        'def test_login():\n    assert login("ann", password="S3cret!x") == 200\n',
        'headers = {"Authorization": "Basic YWxhZGRpbjpvcGVuc2VzYW1l"}\n',
        'assert get("/x?token=a1b2c3d4").status == 401\n',
        'assert split("https://user:pass@host/") == ("user", "pass")\n',
        'assert split("postgres://scott:tiger@localhost/x").password == "tiger"\n',
    ],
)
def test_a_test_that_runs_keeps_what_only_may_be_a_secret(text: str) -> None:
    assert OWN.code(text) == text


def test_a_comment_in_a_test_runs_nowhere() -> None:
    text = "# prod: password=hunter2\nassert f(password='hunter2') == 1\n"
    assert OWN.code(text) == f"# prod: password={MASK}\nassert f(password='hunter2') == 1\n"


def test_a_json_value_is_masked_with_its_keys_and_by_their_names() -> None:
    masking = Masking(secrets=("swordfish-42",))
    data = masking.json({"a": ["x swordfish-42 y", 3, None], "swordfish-42": True})
    assert data == {"a": [f"x {MASK} y", 3, None], MASK: True}
    named = masking.json(
        {"api_key": "a1b2c3d4e5", "token": "str", "tokens": 2048, "key": "a1/b2c3"}
    )
    assert named == {"api_key": MASK, "token": "str", "tokens": 2048, "key": "a1/b2c3"}


@pytest.mark.parametrize(
    "text", [*TOKENS.values(), *BLOCKS.values(), *(text for text, _ in NAMED.values())]
)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = OWN.text(text)
    assert OWN.text(once) == once
    assert OWN.code(once) == once


def test_a_rule_set_that_others_keep_stands_beside_the_own_list() -> None:
    masking = Masking(rules=lambda text: [(place, place + 4) for place in [text.find("ruse")]])
    assert masking.text("a ruse, and sk-abcdefghijklmnopqrstuv") == f"a {MASK}, and {MASK}"
    assert masking.code("x = 'ruse'") == f"x = '{MASK}'"
    assert masking.reply("a ruse") == "a ruse"


def test_a_reply_loses_known_secrets_only() -> None:
    masking = Masking(secrets=("swordfish-42", "postgres", "1234"))
    text = (
        'KEY = "sk-abcdefghijklmnopqrstuv"; connect(password="postgres", pin=1234) # swordfish-42'
    )
    assert masking.reply(text) == text.replace("swordfish-42", MASK)


def test_places_are_counted_and_values_are_not_shown() -> None:
    masking = Masking(secrets=("swordfish-42",))
    before = "swordfish-42, [masked] and swordfish-42"
    assert places_masked(before, masking.text(before)) == 2
    assert "swordfish" not in repr(masking)


def test_secrets_one_after_the_other_are_all_masked() -> None:
    text = "\n".join([*TOKENS.values(), *BLOCKS.values(), *(text for text, _ in NAMED.values())])
    masked = OWN.text(text)
    left = [kind for kind, token in TOKENS.items() if token in masked]
    left += [kind for kind, (_, secret) in NAMED.items() if secret in masked]
    assert left == []


@pytest.mark.parametrize("gap", ["\n", "\\n", "\r\n"])
def test_a_key_block_is_masked_however_short_it_is(gap: str) -> None:
    block = gap.join(
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "",
            "lQOYBF",
            "-----END PGP PRIVATE KEY BLOCK-----",
        )
    )
    assert OWN.code(f"see {block} there") == f"see {MASK} there"
