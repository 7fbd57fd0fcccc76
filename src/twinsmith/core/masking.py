"""Secrets never reach the disk: what is known to be one, or looks like one, is masked.

Patterns are kept by hand because secret scanners work on files, take tens of milliseconds a line
and flag by entropy; a journal needs microseconds and no false alarms on hashes.
"""

import re
from collections.abc import Iterable, Mapping

from twinsmith.core.events import Json

MASK = "[masked]"
SHORTEST_SECRET = 6

_SECRET_NAME = re.compile(r"(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?$")
_NOT_SECRET = {"1", "0", "true", "false", "yes", "no", "none", "null"}

_LOOKS_SECRET = re.compile(
    r"""
      \bsk-[A-Za-z0-9_\-]{16,}                                   # OpenAI, Anthropic
    | \bAIza[A-Za-z0-9_\-]{30,}                                  # Google
    | \b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}                 # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{30,}
    | \bglpat-[A-Za-z0-9_\-]{16,}                                # GitLab
    | \bhf_[A-Za-z0-9]{30,}                                      # Hugging Face
    | \bxox[abprs]-[A-Za-z0-9\-]{10,}                            # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                              # AWS
    | \beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{6,}   # JSON web token
    | -----BEGIN[ A-Z]*PRIVATE\ KEY-----.*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\Z)
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/\-]{16,}=*
    | (?<=://)[^\s:/@]*:[^\s/@]+(?=@)                            # user:password in an address
    """,
    re.VERBOSE | re.DOTALL,
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables that are named like secrets, longest first."""
    found = {
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name)
        and len(value) >= SHORTEST_SECRET
        and value.lower() not in _NOT_SECRET
    }
    return tuple(sorted(found, key=len, reverse=True))


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every known or likely secret replaced."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(MASK, text)


def mask_json(value: Json, secrets: Iterable[str] = ()) -> Json:
    """The same for a JSON value, keys included."""
    match value:
        case str():
            return mask(value, secrets)
        case list():
            return [mask_json(item, secrets) for item in value]
        case dict():
            return {mask(k, secrets): mask_json(v, secrets) for k, v in value.items()}
        case _:
            return value
