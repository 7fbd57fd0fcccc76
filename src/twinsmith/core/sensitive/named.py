"""Values behind telling names: settings, query strings, flags, JSON, sentences.

Where only a setting can stand (`?token=…`, `DB_PASSWORD=…`) any value counts that is no
placeholder. Everywhere else, where program code and sentences say `password: str` or `password:
at least 8 characters`, the value itself has to look like a secret.
"""

import re
from collections.abc import Iterator

from twinsmith.core.sensitive.places import Place, found, lowered
from twinsmith.core.sensitive.plausible import (
    is_placeholder,
    is_reference,
    is_strong,
    is_template,
)

_CALL_REACH = 300
_SHORTEST_SET = 4

# How a telling name goes on and ends, in small letters; looking for its beginning first is fast.
_STEMS = (
    *("passw", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential"),
    *("connection", "_auth"),
)
_NAME = re.compile(
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|key|credential|connection[-_]?string"
    r"|_auth)(?:[-_]?(?:value|plain|text|base64|b64|[0-9]{1,3}))?(?![a-z0-9_])"
)
# A key is a secret only as one of these.
_OF_KEY = re.compile(
    r"(?:api|access|account|auth|client|encryption|license|master|private|secret|sharedaccess"
    r"|signing|storage|subscription|webhook)[-_. ]?\Z"
)
_BEFORE = re.compile(r"[\w.-]*\Z")
_VALUE = re.compile(
    # password=…  "password": "…"  password: str = '…'  'password' => '…'  <password>…  PASSWORD "…"
    r"(?:\\*[\"'`])?\]?(?::\s*[A-Za-z_][\w.\[\]| ]{0,30}(?=\s=\s))?"
    r"(?P<set>\s*(?:=>|:=|\?=|=(?!=)|:(?!:)|%3[dD])\s*|>|\s+is:?\s+|\s+(?=[\"'`]))"
    r"(?P<open>\\*[\"'`])?(?P<value>(?(open)(?:(?!(?P=open))[^\r\n])*(?=(?P=open))|[^\s\"'`<>]+))"
)
_FLAG_VALUE = re.compile(
    r"(?:[ \t]+|[\"'],[ \t]*)(?P<open>[\"'])?"
    r"(?P<value>(?(open)(?:(?!(?P=open))[^\r\n])+|[^\s\"'`<>-][^\s\"'`<>]*))"
)
_QUERY = re.compile(
    r"[?&;](?P<name>[\w.\-\[\]%]*(?i:token|passw(?:or)?d|pwd|pass|secret|api[-_]?key|auth|jwt|key|sig"
    r"|signature|credential|session(?:[-_]?id)?|access[-_]?key(?:[-_]?id)?|code_verifier))"
    r"=(?P<value>[^\s&;#\"'`<>\\]+)"
)
# What a query calls so may be anything.
_VAGUE = re.compile(r"(?i)(?:\w*[-_])?(?:key|auth|session(?:[-_]?id)?|sig|signature|pass)")
# Commands and files whose words have no name in front of them; each with what tells of it.
_COMMANDS = (
    (
        ("curl", "wget", "http"),
        r"\b(?:curl|wget|http|xh)\b[^\r\n]*?\s(?:-u|--user|-a|--auth)[ =]?[\"']?[^\s:\"']+:",
    ),
    (("sshpass",), r"\bsshpass\s+-p\s*[\"']?"),
    (("mysql",), r"\bmysql(?:dump|admin)?\b[^\r\n]*?\s-p[\"']?"),
    (("redis-cli",), r"\bredis-cli\b[^\r\n]*?\s-a\s+[\"']?"),
    (("password ",), r"\blogin\s+\S+\s+password\s+[\"']?"),
    (("identified",), r"(?i:\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\"'])"),
    ((":5432:", ":*:"), r"(?<!\S)[\w.*-]+:(?:5432|\*):[\w*-]+:[\w*.-]+:"),
    (
        ("env ", "set ", "setx ", "setenv "),
        r"\b(?:ENV|setx?|setenv)\s+[A-Z0-9_]*(?:PASSWORD|PASSWD|PWD|TOKEN|SECRET|KEY)\s+[\"']?",
    ),
    (
        ('" value="',),
        r"(?i:name|key)=\"[\w.:-]*(?i:password|passwd|pwd|secret|token|api[-_]?key)\" [Vv]alue=\"",
    ),
)
_COMPILED = tuple(
    (words, re.compile(rf"{pattern}(?P<value>[^\s\"']+)")) for words, pattern in _COMMANDS
)
_SEPARATED = re.compile(r";(?=\s|$|[\w ]+=)|,(?=\s|$|\w+[=:])|\\+[nrt\"']|%26")
_TRAILING = ".,;:!?)]}"
_CODE = re.compile(r"[()\[\]{}]")


def named_in(text: str) -> Iterator[Place]:
    """Where a value stands whose name, or whose place, says that it is a secret."""
    small = lowered(text)
    for begin in (begin for stem in _STEMS for begin, _ in found(small, stem)):
        name = _NAME.match(small, begin)
        if name is not None and _is_telling(small, name):
            yield from _behind(text, name)
    if "=" in text:
        yield from _in_queries(text)
    for words, pattern in _COMPILED:
        if any(word in small for word in words):
            for match in pattern.finditer(text):
                if not is_placeholder(match["value"]):
                    yield match.span("value")


def is_secret_name(name: str) -> bool:
    """Whether a key of a JSON object names a secret."""
    small = lowered(name)
    return any(
        match.end() == len(small) and _is_telling(small, match) for match in _NAME.finditer(small)
    )


def _is_telling(small: str, name: re.Match[str]) -> bool:
    """Whether a name tells of a secret: `api_key` does, `key` does not."""
    if not name[0].startswith("key"):
        return True
    return _OF_KEY.search(small, max(0, name.start() - 20), name.start()) is not None


def _behind(text: str, name: re.Match[str]) -> Iterator[Place]:
    """The value behind a telling name, if it is a secret there."""
    before = _BEFORE.search(text, max(0, name.start() - 60), name.start())
    begin = before.start() if before else name.start()
    match = _VALUE.match(text, name.end())
    if match is not None:
        yield from _assigned(text, begin, match)
    elif text.startswith("-", begin):
        match = _FLAG_VALUE.match(text, name.end())
        if match is not None and is_strong(match["value"]):
            yield match.span("value")


def _assigned(text: str, name: int, match: re.Match[str]) -> Iterator[Place]:
    begin, end = match.span("value")
    if match["open"] is None:
        in_query = name > 0 and text[name - 1] in "?&"
        end = begin + len(_alone(match["value"], in_query=in_query))
    value = text[begin:end]
    if value and not is_template(value) and _counts(text, name, match, value):
        yield begin, end


def _alone(value: str, *, in_query: bool) -> str:
    """An unquoted value without what separates it from the next one."""
    value = value.partition("&")[0] if in_query else value
    return _SEPARATED.split(value)[0].rstrip(_TRAILING)


def _counts(text: str, name: int, match: re.Match[str], value: str) -> bool:
    """Whether a value that was assigned to a telling name is a secret there."""
    how, tight = match["set"], match["set"] in ("=", "%3D", "%3d")
    if how == ">":
        closed = text.startswith("</", match.start("value") + len(value))
        return closed and not is_placeholder(value)
    if match["open"] is not None:
        if value[0] in " ,;:)+%.":
            # The quotation mark ends a string: `print("token=" + token)`.
            return False
        variable = tight and len(value) >= _SHORTEST_SET and text[name : match.start()].isupper()
        return is_strong(value) or (variable and not is_placeholder(value))
    if _in_call(text, name) or not tight:
        return not _in_call(text, name) and is_strong(value) and not _CODE.search(value)
    if len(value) < _SHORTEST_SET or value.endswith(("[", "(", "{")):
        return False
    return not is_placeholder(value) and not ("." in value and is_reference(value))


def _in_queries(text: str) -> Iterator[Place]:
    for match in _QUERY.finditer(text):
        value = match["value"]
        if is_strong(value) if _VAGUE.fullmatch(match["name"]) else not is_placeholder(value):
            yield match.span("value")


def _in_call(text: str, place: int) -> bool:
    """Whether a place is among the arguments of a call: `connect(host, password=…`."""
    depth = 0
    for here in range(place - 1, max(0, place - _CALL_REACH) - 1, -1):
        if text[here] == ")":
            depth += 1
        elif text[here] == "(":
            if depth == 0:
                return here > 0 and (text[here - 1].isalnum() or text[here - 1] == "_")
            depth -= 1
    return False
