"""Secrets of the environment: which variables hold them, and every spelling they turn up in."""

import base64
import html
import json
import random
import shlex
import string
import urllib.parse

import pytest

from twinsmith.core.masking import Masking
from twinsmith.core.sensitive.places import MASK
from twinsmith.core.sensitive.variables import is_secret_variable, secrets_in

SECRET_NAMES = """
    OPENAI_API_KEY API_KEY_2 API_KEY2 KEY1 KEY_PROD GITHUB_PAT GITHUB_TOKEN GH_TOKEN TOKEN TOKENS
    MYSQL_PWD DB_PWD PGPASSWORD NEO4J_PASSWORD DB_PASS SMTP_PASSWD REDISCLI_AUTH NPM_AUTH
    TWINSMITH_SERVER_KEY SECRET SECRET_KEY_BASE DJANGO_SECRET_KEY CLIENT_SECRET SESSION_SECRET
    AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_ACCESS_KEY_ID SSH_PRIVATE_KEY GPG_PASSPHRASE
    GOOGLE_CREDENTIALS MY_CREDS SENTRY_DSN JWT VAULT_TOKEN_DEV AZURE_STORAGE_KEY ENCRYPTION_KEY_V
    SLACK_WEBHOOK SLACK_WEBHOOK_URL COOKIE SESSION_COOKIE CARD_PIN APIKEY MYAPIKEY githubToken
    dbPassword api-key WALLET_MNEMONIC WIFI_PSK BACKUP_PASSWORD_OLD TOKEN_GITHUB API_KEY_OPENAI
"""
OTHER_NAMES = """
    PATH PWD OLDPWD HOME USER SHELL LANG TERM EDITOR KEYBOARD KEYMAP MONKEY HOTKEYS_ENABLED GPG_TTY
    SSH_AUTH_SOCK SSH_ASKPASS XAUTHORITY DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID XDG_SESSION_TYPE
    DESKTOP_SESSION SESSION_MANAGER LS_COLORS SSH_KEY_PATH TLS_KEY_FILE PASSWORD_FILE TOKEN_URL
    TOKEN_LIMIT AUTH_METHOD AUTHOR AUTHOR_NAME TOKENIZERS_PARALLELISM COMPASS BYPASS PASSENGER_HOST
    KEY_REPEAT_RATE KEYCLOAK_HOST SECRET_NAME PASSWORD_MIN_LENGTH PATH_PATTERN PATCH_LEVEL SPIN
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_a_variable_tells_by_its_name(name: str) -> None:
    assert is_secret_variable(name)


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_a_variable_that_holds_no_secret_is_left_alone(name: str) -> None:
    assert not is_secret_variable(name)


def test_what_is_no_secret_is_none_under_a_telling_name() -> None:
    env = {
        "A_TOKEN": "true",
        "USE_AUTH": "1",
        "SSH_KEY": "/home/me/.ssh/id_ed25519",
        "GOOGLE_APPLICATION_CREDENTIALS": "~/keys/me.json",
        "MAX_TOKENS": "200000",
        "TWINSMITH_BUILD_BUDGET_TOKENS": "60000",
        "API_KEY": "",
        "LOGIN_AUTH": "https://login.example.org/oauth",
    }
    assert secrets_in(env) == ()


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("DATABASE_URL", "postgresql://me:hunter22@host/db", ["hunter22"]),
        ("DATABASE_URL", "postgresql://me:a%40b%2Fc22@h/db", ["a%40b%2Fc22", "a@b/c22"]),
        ("CACHE", "redis://:hunter22@h:6379/0", ["hunter22"]),
        ("ORIGIN", "https://0123456789abcdef0123@github.com/a", ["0123456789abcdef0123"]),
        ("SITE", "https://me@host.example/x", []),
        ("CONNECTION", "host=db user=me password=hunter22 dbname=x", ["hunter22"]),
        ("CONNECTION", "Server=db;Password=hunter22;Encrypt=yes", ["hunter22"]),
        ("STORAGE", "AccountName=x;AccountKey=abcdefgh==;E=y", ["abcdefgh=="]),
        ("ACCOUNT", '{"client_secret": "hunter22", "client_id": "x"}', ["hunter22"]),
        ("SLACK_WEBHOOK_URL", "https://hooks.example/T1/B2", ["https://hooks.example/T1/B2"]),
    ],
)
def test_a_secret_inside_a_value_is_known_as_well(
    name: str, value: str, secrets: list[str]
) -> None:
    assert [secret for secret in secrets_in({name: value}) if secret != value] == [
        secret for secret in secrets if secret != value
    ]
    assert set(secrets) <= set(secrets_in({name: value}))


def _base64(data: bytes) -> list[str]:
    plain = [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()]
    return [*plain, *(text.rstrip("=") for text in plain)]


def spellings(secret: str) -> list[str]:
    """A secret as programs write it."""
    data = secret.encode()
    quoted = urllib.parse.quote(secret, safe="")
    every = "".join(f"%{byte:02x}" for byte in data)
    wrapped = base64.encodebytes(b"0123456789" * 5 + data + b"0123456789" * 5).decode()
    return [
        *(secret, quoted, urllib.parse.quote(secret), urllib.parse.quote_plus(secret)),
        *(quoted.lower() if secret.islower() else quoted, every, every.upper()),
        urllib.parse.quote(quoted, safe=""),
        *(
            json.dumps(secret),
            json.dumps(json.dumps(secret)),
            json.dumps(secret, ensure_ascii=False),
        ),
        *(repr(secret), html.escape(secret), shlex.quote(secret), secret.replace("/", "\\/")),
        *(text for lead in (b"", b"u:", b"user:", b"me:x") for text in _base64(lead + data)),
        *_base64(b"user:" + data + b"\n"),
        *_base64(base64.b64encode(data)),
        *_base64(secret.encode("utf-16-le")),
        *(wrapped, wrapped.replace("\n", "\\n"), urllib.parse.quote(wrapped, safe="")),
        json.dumps({"auth": base64.b64encode(b"me:" + data).decode().replace("/", "\\/")}),
        *(base64.b32encode(data).decode(), base64.b32encode(b"x" + data).decode().lower()),
        *(data.hex(), data.hex().upper(), data.hex(":"), data.hex(" ")),
        "".join(f"\\x{byte:02x}" for byte in data),
        "".join(f"&#{ord(letter)};" for letter in secret),
    ]


def left_of(secret: str, masked: str) -> bool:
    """Whether a decoder would find the secret in a masked text."""
    seen = masked
    for _ in range(3):
        seen = html.unescape(urllib.parse.unquote_plus(seen))
    alphabet = f"{string.ascii_letters}{string.digits}+/-_"
    runs = "".join(letter if letter in alphabet else " " for letter in seen).split()
    texts = [
        seen,
        seen.replace("\\", ""),
        *(_decoded(run[cut:]) for run in runs for cut in range(4)),
    ]
    return any(secret in text for text in texts) or secret.encode().hex() in masked.lower()


def _decoded(run: str) -> str:
    whole = run[: len(run) // 4 * 4].translate(str.maketrans("-_", "+/"))
    return base64.b64decode(whole).decode(errors="replace")


SECRETS = [
    "swordfish-42",
    "abcdef",
    "p@ss w0rd&<>'\"/\\+%=",
    "pässwörd-密码-Ω7",
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "line one is long enough\nline two is long enough too",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_no_spelling_of_a_known_secret_survives(secret: str) -> None:
    masking = Masking(variables=(("MY_PASSWORD", secret),))
    for spelling in spellings(secret):
        masked = masking.code(f"before {spelling} after")
        assert MASK in masked, spelling
        assert masked.startswith("before "), spelling
        assert not left_of(secret, masked), (spelling, masked)


def test_no_spelling_of_any_secret_survives() -> None:
    chance = random.Random(7)
    alphabet = string.ascii_letters + string.digits + string.punctuation + " äß密Ω"
    for _ in range(12):
        secret = "".join(chance.choice(alphabet) for _ in range(chance.randint(10, 40))).strip()
        masking = Masking(variables=(("A_TOKEN", f"{secret}~"),))
        for spelling in spellings(f"{secret}~"):
            masked = masking.code(f"x={spelling}; and again {spelling}")
            assert not left_of(f"{secret}~", masked), (secret, spelling, masked)


def test_both_spellings_in_one_text_are_masked() -> None:
    masking = Masking(secrets=("a/b c-42",))
    assert masking.code("a/b c-42 and a%2Fb%20c-42") == f"{MASK} and {MASK}"


def test_a_key_in_a_variable_is_known_line_by_line() -> None:
    lines = [f"{letter * 30}{letter.upper() * 34}" for letter in "abc"]
    key = "\n".join(["-----BEGIN X-----", *lines, "-----END X-----"])
    for value in (key, key.replace("\n", "\\n")):
        masking = Masking(variables=(("DEPLOY_KEY", value),))
        for text in (key, key.replace("\n", "\\n"), f"  {lines[1]}", json.dumps(key)):
            masked = masking.code(text)
            assert not any(line in masked for line in lines)


def test_a_secret_that_was_cut_at_the_end_is_masked_as_far_as_it_goes() -> None:
    masking = Masking(secrets=("swordfish-0123456789",))
    assert masking.code("the key is swordfish-0123") == f"the key is {MASK}"
    assert masking.code("the key is a sword") == "the key is a sword"


def test_the_longest_secret_goes_first() -> None:
    masking = Masking(variables=(("A_TOKEN", "abcdef"), ("B_TOKEN", "abcdefghi")))
    assert masking.text("abcdefghi") == MASK


@pytest.mark.parametrize("value", ["1234", "pw1", "postgres", "123456"])
def test_a_short_or_ordinary_value_is_masked_only_where_a_secret_stands(value: str) -> None:
    masking = Masking(variables=(("MYSQL_PWD", value), ("USER", "ann")))
    for text in (f"password={value}", f'"pin": "{value}"', f"MYSQL_PWD={value}", f"token: {value}"):
        assert value not in masking.code(text)
    for text in (f"redis://me:{value}@h/0", f"mysql -u me -p{value} x"):
        assert value not in masking.code(text)
    basic = base64.b64encode(f"me:{value}".encode()).decode()
    assert len(value) < 4 or basic not in masking.code(f"Basic {basic}")
    honest = f"{value} rows of {value} in x{value}y; f({value}) == {value}; /home/{value}/x"
    assert masking.text(honest) == honest


@pytest.mark.parametrize("value", ["pw7!", "a1b2", "x-9z"])
def test_a_short_value_of_mixed_characters_is_masked_as_a_word(value: str) -> None:
    masking = Masking(variables=(("MYSQL_PWD", value),))
    assert masking.code(f"try {value}, or '{value}'") == f"try {MASK}, or '{MASK}'"
    honest = f"c0ffee{value}c0ffee /{value}/ k{value}"
    assert masking.text(honest) == honest


def test_a_password_that_is_somebodys_name_does_not_spoil_paths() -> None:
    masking = Masking(variables=(("DB_PASSWORD", "ann-lee"), ("USER", "ann-lee")))
    assert masking.text("/home/ann-lee/x") == "/home/ann-lee/x"
    assert masking.text("password: ann-lee") == f"password: {MASK}"


def test_a_password_that_is_called_password_is_a_word() -> None:
    masking = Masking(variables=(("DB_PASSWORD", "password"),))
    text = "def login(token, password):\n    return check(password=password)\n"
    assert masking.code(text) == text
    assert masking.text("postgresql://me:password@host/db") == f"postgresql://me:{MASK}@host/db"
