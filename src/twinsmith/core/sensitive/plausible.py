"""Telling secrets from words, variables and placeholders, by the value alone.

Masking a placeholder or a variable spoils an honest text and hides nothing. What a person would
have to know to be sure cannot be told from a string: `hunter2` counts as a secret, `wrong` does
not.
"""

import re

from twinsmith.core.sensitive.places import MASK

SHORTEST_STRONG = 6
_SPECIAL = "!@#$%^&*+?~|"
_FEW_DIGITS, _SOME_DIGITS = 2, 4
_MANY_KINDS = 3
_LONGEST_WORDS = 100

_TEMPLATE = re.compile(
    # $NAME ${NAME}  {name} {{ name }}  <name>  %s %(name)s %NAME%  :name !name *name @name@  call(
    r"\$+[({]?[A-Za-z_].*|.*(?:\$\{|\{\{|%s|%\().*|.*\{[\w .-]*\}.*|<[^<>]*>?|%\w*[sdrv]|%[A-Z_]+%"
    r"|[:!*]+[A-Za-z_][\w.]*|@\w+@|[\w.]+\(.*|/\^.*|.*(?:\.\.\.|…|\*{3}|[xX]{3}).*|[\W_]+",
    re.DOTALL,
)
_PATH = re.compile(r"(?:[A-Za-z]:)?[~.]{0,2}/[\w.@-]*[A-Za-z_.][\w./@-]*|\w+://.*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_WORDS = re.compile(r"[A-Za-z_'-]+(?:[ ,.;:!?]+[A-Za-z_'-]+)*[.,;:!?]*")
_SNAKE = re.compile(
    r"[a-z]+(?:_[a-z]+)+_?\d{0,2}|[a-z0-9]+(?:_[a-z0-9]+){3,}|[A-Z]+\d?(?:_[A-Z]+\d?)+"
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Names of algorithms, types and formats end in numbers, as some passwords do.
_TECHNICAL = re.compile(
    r"(?i:(?:sha|md|base|uuid|utf|aes|rsa|hs|rs|es|ps|ed|oauth|https?|argon|pbkdf|hmac|blake|crc|int"
    r"|uint|float|double|decimal|n?varchar|n?char|string|str|bytes?|bits?|text|bcrypt|scrypt|secp"
    r"|totp|hotp|ecdsa|curve|iso|rfc|latin|ascii|jwt|rot|web|ipv|min|max|len|level)[-_]?\d{1,5}"
    r"[a-z]{0,4}(?:[-_/.:][a-z]{1,8}){0,3}|[a-z]\d{1,5}|#[0-9a-f]{3,8}|0x[0-9a-f]+)"
)
_ORDINARY_TEXT = (
    "a abc abcd abcde abcdef access account actual admin again all an and another "
    "any api apikey app appkey arg args as at auth authorization authtoken bad bar basic "
    "baz bearer been body bool both but by bytes can change changed changeme char client "
    "cls code column config confirm confirmation const cookie correct count cred "
    "credential credentials creds csrf current data db decoded def default demo digest do "
    "dummy each email empty encoded encrypted end entry env environ environment example "
    "examples expected expired fake false field file first fixme float foo for form from "
    "func function generated get getenv given goes good has hash hashed have header "
    "headers her here hex hidden his host id if in incorrect input int into invalid is it "
    "item its json jwt key keyfile keys kwargs last left length let like line load local "
    "login long map masked match max me min missing mock must my name never new next nil "
    "no none not null number object of off old on once one only opaque open optional or "
    "org os other our out output owner param parameter params pass passcode passphrase "
    "passwd password passwords path per placeholder plain port present previous private "
    "process public pw pwd query qux random raw read redacted refresh removed repeat "
    "replace req request required res response result results right role row salt same "
    "sample sdk second secret secrets see self send session set settings short should sig "
    "signature some something state static str string strong sys tbd temp test tested "
    "tester testing tests text that the their them then there they this three time tmp to "
    "todo tok token tokens too true two type undefined unknown update uri url used user "
    "userid username valid value values var variable very via void want was weak when "
    "where which will with without word words wrong x xyz y yes you your z zero "
)
_ORDINARY = frozenset(_ORDINARY_TEXT.split())


def is_template(value: str) -> bool:
    """Whether a value only says where a secret would stand: `${TOKEN}`, `<token>`, `***`."""
    return not value or MASK in value or _TEMPLATE.fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    """Whether a value is made of words that stand for a secret, as `your-api-key` or `pw1` are."""
    return is_template(value) or _is_ordinary(value, _FEW_DIGITS)


def is_reference(value: str) -> bool:
    """Whether program code would read a value as the name of something."""
    return _IDENTIFIER.fullmatch(value) is not None or _DOTTED.fullmatch(value) is not None


def is_strong(value: str) -> bool:
    """Whether a value looks like a secret wherever it stands: no word, path, type or reference."""
    if len(value) < SHORTEST_STRONG or is_template(value) or _is_ordinary(value, _SOME_DIGITS):
        return False
    if any(form.fullmatch(value) for form in (_PATH, _DOTTED, _WORDS, _SNAKE, _TECHNICAL)):
        return False
    if not any(character.isalpha() for character in value):
        return False
    return any(character.isdigit() or character in _SPECIAL for character in value)


def is_very_strong(value: str) -> bool:
    """Whether a value looks like a secret even where only a space is between it and a name."""
    kinds = (str.islower, str.isupper, str.isdigit, _SPECIAL.__contains__)
    digits = sum(character.isdigit() for character in value)
    mixed = sum(any(map(kind, value)) for kind in kinds)
    return is_strong(value) and (mixed >= _MANY_KINDS or digits >= _MANY_KINDS)


def _is_ordinary(value: str, digits: int) -> bool:
    if len(value) > _LONGEST_WORDS or sum(map(str.isdigit, value)) > digits:
        return False
    if any(character in _SPECIAL for character in value):
        return False
    parts = _PARTS.findall(value)
    return bool(parts) and all(len(part) == 1 or part.lower() in _ORDINARY for part in parts)
