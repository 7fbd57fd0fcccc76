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
    is_very_strong,
)

_CALL_REACH = 300
_SHORTEST_SET = 4
# Passwords of examples are shorter: `login("ann", password="Abc12345!")` stays.
_SHORTEST_IN_CALL = 16

# How a telling name goes on and ends, in small letters; looking for its beginning first is fast.
_STEMS = (
    *("pass", "pwd", "secret", "token", "key", "credential", "authorization", "connection"),
    *(
        "_auth",
        "sess",
        "contrase",
        "senha",
        "wachtwoord",
        "пароль",
        "密码",
        "パスワード",
        "비밀번호",
    ),
)
_NAME = re.compile(
    r"(?:passw(?:or)?[dt]|passphrase|passcode|(?<![a-z])passe?|pwd|secret|token|key|credentials?"
    r"|authorization|connection[-_]?string|_auth|sess(?:ion)?[-_]?id|contrase[ñn]a|senha|wachtwoord"
    r"|пароль|密码|パスワード|비밀번호)(?:[-_]?(?:base|value|plain|text|base64|b64|[0-9]{1,3}))?"
    r"(?![a-z0-9_])"
)
# A key is a secret only as one of these.
_OF_KEY = re.compile(
    r"(?:api|access|account|auth|client|encryption|license|master|private|secret|sharedaccess"
    r"|signing|storage|subscription|webhook)[-_. ]?\Z"
)
_BEFORE = re.compile(r"[\w.-]*\Z")
_QUOTE = r"(?:\\*[\"'`]|%2[27]|&quot;|&#3[49];|\\+u002[27])"
_VALUE = re.compile(
    # password=…  "password": "…"  password: str = '…'  'password' => '…'  <password>…  PASSWORD "…"
    rf"{_QUOTE}?\]?(?::\s*[A-Za-z_][\w.\[\]| ]{{0,30}}(?=\s=\s))?"
    r"(?P<set>\s*(?:=>|:=|\?=|=(?!=)|:(?!:)|%3[dDaA]|\\+u003[dDaA])\s*|>|\s+(?:is:?|-|->|→)\s+"
    rf"|[ \t]+|\s*,\s*(?={_QUOTE}))"
    rf"(?P<open>{_QUOTE})?"
    r"(?P<value>(?(open)(?:(?!(?P=open))[^\r\n]){0,4000}(?=(?P=open))|[^\s\"'`<>]{1,4000}))"
)
_TIGHT = re.compile(r"=|%3[dD]|\\+u003[dD]")
# `pass stream=True` is a sentence.
_VERB = re.compile(r"(?i)(?:^|[^a-z])pass\Z")
_SPACED = re.compile(r"[ \t]+(?:(?:-|->|→)[ \t]+)?")
_FLAG_VALUE = re.compile(
    r"(?:[ \t]+|[\"'],[ \t]*)(?P<open>[\"'])?"
    r"(?P<value>(?(open)(?:(?!(?P=open))[^\r\n]){1,4000}|[^\s\"'`<>-][^\s\"'`<>]{0,4000}))"
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
        r"\b(?:curl|wget|http|xh)\b[^\r\n]{0,400}?\s(?:-u|--user|-a|--auth)[ =]?[\"']?[^\s:\"']+:",
    ),
    (("sshpass",), r"\bsshpass\s+-p\s*[\"']?"),
    (("mysql",), r"\bmysql(?:dump|admin)?\b[^\r\n]{0,400}?\s-p[\"']?"),
    (("docker login", "ldap"), r"\b(?:docker login|ldap\w+)\b[^\r\n]{0,400}?\s-[pw][ =]?[\"']?"),
    (("sudo -s",), r"\becho\s+[\"']?(?=[^\r\n]*\|\s*sudo -S)"),
    (("redis-cli",), r"\bredis-cli\b[^\r\n]{0,400}?\s-a\s+[\"']?"),
    (("password ",), r"\blogin\s+\S+\s+password\s+[\"']?"),
    (("identified",), r"(?i:\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\"'])"),
    ((":5432:", ":*:"), r"(?<!\S)[\w.*-]+:(?:5432|\*):[\w*-]+:[\w*.-]+:"),
    (
        ("env ", "set ", "setx ", "setenv "),
        r"\b(?:ENV|setx?|setenv)\s+[A-Z0-9_]*(?:PASSWORD|PASSWD|PWD|TOKEN|SECRET|KEY)\s+[\"']?",
    ),
    (
        ("auth=(", "basicauth("),
        r"(?:\bauth=\(|BasicAuth\()\s*[\"'][^\"']+[\"']\s*,\s*[\"'](?=[^\"']*[\d!@#$%^&*?])",
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
_CODE = re.compile(r"[()\[\]{},]")


def named_in(text: str) -> Iterator[Place]:
    """The places of values whose name or place says that they are secrets."""
    small = lowered(text)
    done = 0
    for begin in sorted(begin for stem in _STEMS for begin, _ in found(small, stem)):
        name = _NAME.match(small, begin) if begin >= done else None
        if name is not None and _is_telling(small, name):
            for place in _behind(text, name):
                done = place[1]
                yield place
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
    """The place of the value behind a telling name, if it is a secret there."""
    before = _BEFORE.search(text, max(0, name.start() - 60), name.start())
    begin = before.start() if before else name.start()
    if text.startswith("-", begin):
        match = _FLAG_VALUE.match(text, name.end())
        if match is not None and is_strong(match["value"]):
            yield match.span("value")
    match = _VALUE.match(text, name.end())
    if match is not None:
        yield from _assigned(text, text[begin : name.end()], match)


def _assigned(text: str, name: str, match: re.Match[str]) -> Iterator[Place]:
    begin, end = match.span("value")
    start = match.start() - len(name)
    if match["open"] is None:
        in_query = start > 0 and text[start - 1] in "?&"
        end = begin + len(_alone(match["value"], in_query=in_query))
    value = text[begin:end]
    if not value or is_template(value) or (_SPACED.match(match["set"]) and _VERB.search(name)):
        return
    if match["set"] == ">":
        secret = text.startswith("</", end) and not is_placeholder(value)
    elif match["open"] is not None:
        secret = _counts_quoted(text, start, match, value)
    else:
        secret = not _in_call(text, start) and _counts(match["set"], value)
    if secret:
        yield begin, end


def _alone(value: str, *, in_query: bool) -> str:
    """An unquoted value, cut before the separator to the next one."""
    value = value.partition("&")[0] if in_query else value
    return _SEPARATED.split(value)[0].rstrip(_TRAILING)


def _counts_quoted(text: str, start: int, match: re.Match[str], value: str) -> bool:
    """Whether a quoted value behind a telling name is a secret there."""
    if value[0] in " ,;:)+%.'\"`" or value.startswith("\\n"):
        # The quotation mark ends a string: `print("token=" + token)`.
        return False
    variable = text[start : match.start()].isupper()
    if "," in match["set"] and not variable:
        return False
    if _in_call(text, start) and not variable and len(value) < _SHORTEST_IN_CALL:
        return False
    tight = _TIGHT.fullmatch(match["set"]) and len(value) >= _SHORTEST_SET
    return is_strong(value) or bool(tight and variable and not is_placeholder(value))


def _counts(how: str, value: str) -> bool:
    """Whether an unquoted value behind a telling name, outside of calls, is a secret."""
    if _SPACED.fullmatch(how):
        return is_very_strong(value) and not _CODE.search(value)
    if not _TIGHT.fullmatch(how):
        return is_strong(value) and not _CODE.search(value)
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
