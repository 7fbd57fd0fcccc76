"""Environment variables that hold secrets: told by their names, and by what is in them.

A name tells by its words (`GITHUB_PAT`, `MYSQL_PWD`, `API_KEY_2`, `PGPASSWORD`), unless its last
word says that it is about a secret and none itself (`SSH_KEY_PATH`, `TOKEN_LIMIT`). Whatever its
name, a value may hold a login: `DATABASE_URL=postgresql://me:secret@host`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

# Words that tell of a secret wherever they stand in a name.
_TELLING_TEXT = (
    "apikey apikeys credential credentials creds jwt mnemonic passcode passphrase passwd "
    "passwds password passwords pat pwd secret secrets token tokens webhook webhooks "
)
_TELLING = frozenset(_TELLING_TEXT.split())
# Words that do so at the end of a name only: KEY_REPEAT and AUTH_METHOD hold no secrets.
_TELLING_LAST_TEXT = (
    "auth bearer cookie cookies dsn key keys otp pass pin psk pw salt sas seed session signature "
)
_TELLING_LAST = frozenset(_TELLING_LAST_TEXT.split())
_TELLING_ENDS = re.compile(
    r"(?:passw(?:or)?d|passphrase|secret|token|credential|(?:api|access|auth|client|encryption|license"
    r"|master|pass|private|secret|signing|ssh|account)key)s?"
)
_KEYS = re.compile(
    r"(?:^|_)(?:access|account|api|app|auth|client|deploy|encryption|license|master|private|secret"
    r"|service|signing|storage)_keys?(?:_|$)"
)
# Last words that say what the value is instead.
_ABOUT_TEXT = (
    "address agent agents algorithm alias args askpass audience bits bus bytes cmd color "
    "colors command count days dir directory display email enabled endpoint expiry file "
    "filename files folder format group header helper home host hosts hours id ids info "
    "issuer kind layout length level limit limits lock manager map max method min minutes "
    "mode model name names namespace num options path paths pid policy port prefix "
    "program prompt provider ratio region repeat required role rounds scheme scope "
    "seconds size sock socket source store strategy suffix timeout ttl tty type types uri "
    "url user username vendor version "
)
_ABOUT = frozenset(_ABOUT_TEXT.split())
_NEVER = frozenset({"pwd", "oldpwd", "desktop_session", "gdmsession", "session", "seed"})
# Words that only say which of several secrets it is.
_WHICH = frozenset({"prod", "production", "dev", "staging", "test", "live", "old", "new", "base64"})
_NOT_SECRET = frozenset(
    {
        "1",
        "0",
        "true",
        "false",
        "yes",
        "no",
        "none",
        "null",
        "on",
        "off",
        "auto",
        "-",
        "empty",
        "unset",
    }
)
_LOGIN = re.compile(r"[A-Za-z][\w+.\-]*://([^\s/:@]*):?([^\s@]*(?:@[^\s@/]*)*)@[^\s@]")
_SETTING = re.compile(
    r"(?i)(?:^|[;&?\s])(?:password|passwd|pwd|accountkey|sharedaccesskey|secret|token|sig|api_?key)"
    r"\s*=\s*(?:'([^']+)'|([^;&\s]+))"
)
_PATH = re.compile(r"(?:[A-Za-z]:\\|~/|\.{1,2}/|/)[\w.@ +\-]+(?:[/\\][\w.@ +\-]*)*")
_RANDOM_PART = re.compile(r"(?=[^/]*[a-z])(?=[^/]*[A-Z])(?=[^/]*\d)[^/.]{12,}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TOKEN_LENGTH = 16
# Who works here, and where: their names are in every path.
_PEOPLE = ("USER", "USERNAME", "LOGNAME", "HOSTNAME", "HOST", "SUDO_USER")


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets in an environment, each once, in the order of their variables."""
    found = (
        value for name, text in environment.items() for value in _secrets_of(name, text.strip())
    )
    return tuple(dict.fromkeys(found))


def names_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the user and the machine: no secrets, even where a password is the same."""
    return tuple(environment[name] for name in _PEOPLE if environment.get(name))


def is_secret_variable(name: str) -> bool:
    """Whether the name of a variable says that its value is a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and (words[-1].isdigit() or words[-1] in _WHICH):
        words.pop()
    joined = "_".join(words)
    if not words or joined in _NEVER:
        return False
    if words[-1] in _ABOUT:
        return joined.endswith("access_key_id") or "webhook" in words
    if words[-1] in _TELLING_LAST or not _TELLING.isdisjoint(words):
        return True
    return any(_TELLING_ENDS.search(word) and _ends(word) for word in words) or bool(
        _KEYS.search(joined)
    )


def _ends(word: str) -> bool:
    return re.search(rf"(?:{_TELLING_ENDS.pattern})$", word) is not None


def _secrets_of(name: str, value: str) -> Iterator[str]:
    if not value or value.lower() in _NOT_SECRET:
        return
    if is_secret_variable(name) and not _is_harmless(name, value):
        yield value
    if "://" in value:
        yield from _logins(value)
    for quoted, bare in _SETTING.findall(value):
        yield quoted or bare
    if value.startswith("{"):
        yield from _in_json(value)


def _is_harmless(name: str, value: str) -> bool:
    """Whether a variable with a secret's name holds none: a path, an address, a token limit."""
    if _PATH.fullmatch(value) and not _RANDOM_PART.search(value):
        return True
    if re.fullmatch(r"\w+://[^\s@?]*", value):
        return "hook" not in name.lower()
    return name.lower().endswith("tokens") and value.replace("_", "").isdigit()


def _logins(value: str) -> Iterator[str]:
    for user, password in _LOGIN.findall(value):
        for part in (password, unquote(password)):
            if part:
                yield part
        if not password and len(user) >= _TOKEN_LENGTH:
            yield user


def _in_json(value: str) -> Iterator[str]:
    try:
        tree = json.loads(value)
    except ValueError:
        return
    pairs = list(tree.items()) if isinstance(tree, dict) else []
    while pairs:
        name, inner = pairs.pop()
        if isinstance(inner, dict):
            pairs += inner.items()
        elif isinstance(inner, str) and is_secret_variable(name) and not _is_harmless(name, inner):
            yield inner.strip()
