"""Words of a task that ask people to prove who they are: with an account, a password or a token.

A small model asked for them misses half and sees a login in "bee keeper"; so phrases that mean
nothing else count without it, and what it names counts only where such a word is in it.
"""

import re

_LIKELY = re.compile(
    r"password|passphrase|\bPIN\b|\blog(?:s|ged|ging)?[ -]?ins?\b"
    r"|\bsign(?:s|ed|ing)?[ -](?:in|up)\b|authenticat|authoriz|credential|\btokens?\b|\baccounts?\b"
    r"|\bregist(?:er|ra)|\btheir own\b",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?:\w+ )?(?:\bsign(?:s|ed|ing)?[ -](?:in|up)\b|\blog(?:ged|ging)?[ -]in\b"
    r"|\blogs in (?:with|to)\b|\blogin\b|\bwith logins\b|\bauthenticat\w+|\bbearer token)"
    r"|\b(?:user|with|needs?|has|have) (?:an )?accounts?\b|\busers? (?:can |may |must )?regist\w+"
    r"|\bwith [\w ,]{0,30}\bpassword\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|without|never|nobody|needs? no)\b[\w ]{0,25}$", re.IGNORECASE)


def proving(task: str) -> str:
    """The first words of a task that mean a login and nothing else; "" where it has none."""
    for found in _SURE.finditer(task):
        if not _DENIED.search(task[: found.end()]):
            return found[0]
    return ""


def about_proving(words: str) -> bool:
    """Whether words that a model took for a login speak of one at all."""
    return bool(_LIKELY.search(words))
