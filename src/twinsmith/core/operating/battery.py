"""The exploit battery: what a hostile stranger tries on a running service with a contract.

Nothing in it looks at files or starts anything, so it runs against a service wherever that stands.
Passwords that it leaves behind hold a mark: whoever has the service's data looks for that.
"""

import base64
import hashlib
from collections.abc import Collection, Iterator, Mapping
from pprint import pformat
from typing import Literal, get_args

from twinsmith.core.operating.battery_answers import ANSWERS
from twinsmith.core.operating.battery_words import WORDS
from twinsmith.core.planning.completing import who_and_password
from twinsmith.core.planning.contract import Contract, Operation
from twinsmith.core.planning.python_kit import KIT_FILE
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import FILE_NAMES, MODULE
from twinsmith.core.services.http_checks import setup_of
from twinsmith.core.services.http_words import PASSWORD_MARK
from twinsmith.core.verdict import Finding

Attack = Literal[
    "missing authentication",
    "objects of others",
    "SQL injection",
    "path traversal",
    "code injection",
    "secrets in answers",
    "verbose errors",
    "plain passwords",
    "header bombs",
    "body bombs",
    "slow clients",
]
ATTACKS: tuple[Attack, ...] = get_args(Attack)
MARKED_PASSWORD = f"{PASSWORD_MARK}-marked-pw"
"""The password of the user whom the battery leaves behind."""
OWN_FILES = (
    *(*FILE_NAMES.values(), MODULE, KIT_FILE, "contract.py"),
    *("service.db", "requirements.lock", ".env", ".git/config"),
)
_LENGTHS = ("-1", "abc", "99999999999", "5, 6", "1e3", "3\r\nContent-Length: 9")
_CHUNKS = (b"ZZZ\r\nx\r\n", b"FFFFFFFFFFFFFFFF\r\nx", b"-1\r\nx\r\n0\r\n\r\n", b"\0\xff\r\n\r\n")
_FRAMES = {
    "a wrong Content-Length": [(f"Content-Length: {each}", b"{}") for each in _LENGTHS],
    "garbage in chunks": [("Transfer-Encoding: chunked", each) for each in _CHUNKS],
}
_BEGIN = "begin = next(bodied())[1]"
_BOMBS: Mapping[str, str] = {
    "header bombs: a thousand headers": "survives_head(*[f'X-{n}: {n}' for n in range(1000)])",
    "header bombs: a header of 64 kB": "survives_head('X-Long: ' + 'x' * 65536)",
    "header bombs: a path of 64 kB": "survives_head(path='/' + 'x' * 65536)",
    "header bombs: headers that are none": r"survives_head('no colon', ': no name', 'X-Cut: \0')",
    "body bombs: two megabytes of JSON": "survives_bodies(large)",
    "body bombs: deeply nested JSON": "survives_bodies(deep)",
    **{
        f"body bombs: {name}": "\n".join(
            [_BEGIN, *(f"survives_frame(begin, {line!r}, {body!r})" for line, body in frames)]
        )
        for name, frames in _FRAMES.items()
    },
    "slow clients: of headers": r"serves_beside('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ')",
    "slow clients: of bodies": (
        _BEGIN + "\n" + r"serves_beside(f'{begin}Content-Length: 1000\r\n{HOST}')"
    ),
}


def battery(
    contract: Contract, *, shared: Collection[str] = (), hidden: Collection[str] = ()
) -> Probes:
    """Every attack on a service with this contract, each named by its kind and its route.

    `shared` are paths of collections whose things all users may see and change; `hidden` are
    SHA-256 digests of values that no answer may hold, so that they themselves stay outside.
    """
    entering = _entering(contract)
    sources: dict[str, tuple[str, tuple[str, ...]]] = {}
    for each in contract.operations:
        for attack, source in _on_route(each, contract, entering=bool(entering), shared=shared):
            sources[f"{attack}: {_what(each)}"] = source, (each.function,)
    sources |= {name: (source, ()) for name, source in _on_whole(entering).items()}
    checks = [
        Probe(name=name, origin="plan", source=f"{source}\nalive()", functions=functions)
        for name, (source, functions) in sources.items()
    ]
    order = {attack: n for n, attack in enumerate(ATTACKS)}
    checks.sort(key=lambda probe: order[attack_of(probe.name)])
    return Probes(checks=tuple(checks), setup=_setup(contract, entering, hidden))


def attack_of(name: str) -> Attack:
    """The kind of attack that a probe of the battery tries, by its name."""
    for attack in ATTACKS:
        if name.partition(":")[0] == attack:
            return attack
    raise ValueError(f"{name!r} names no attack; one of {', '.join(ATTACKS)}")


def password_findings(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding for each file that keeps a password of the battery so that it can be read or found.

    To be asked of the data that a service wrote while the battery ran.
    """
    data = MARKED_PASSWORD.encode()
    forms = [base64.b64encode(data), data.hex().encode(), data[::-1]]
    for name in ("md5", "sha1", "sha256", "sha512"):
        digest = hashlib.new(name, data)
        forms += [digest.digest(), digest.hexdigest().encode()]
    found: list[Finding] = []
    for name, text in sorted(files.items()):
        plain = PASSWORD_MARK.encode() in text
        if plain or any(form in text for form in forms):
            how = "in plain" if plain else "in a form that is as good as plain"
            evidence = f"the password of the attacks stands there {how}"
            what = "a password is kept in plain; keep a slow, salted hash"
            found.append(Finding(what=what, where=name, evidence=evidence, severity="blocking"))
    return tuple(found)


def _what(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def _entering(contract: Contract) -> tuple[str, ...]:
    """The names of the values that users are known by; none where nobody can join and log in."""
    parts = (contract.part("login"), contract.part("register"))
    known = [who_and_password(part.takes) if part else () for part in parts]
    return tuple(dict.fromkeys(pair[0].name for pair in known)) if all(known) else ()


def _on_route(
    operation: Operation, contract: Contract, *, entering: bool, shared: Collection[str]
) -> Iterator[tuple[Attack, str]]:
    what, asked = _what(operation), f"{_what(operation)!r}, {_token(operation)}"
    if operation.login:
        yield "missing authentication", f"keeps_strangers_out({what!r})"
        if not entering:
            return
        if _is_owned(operation, contract, shared):
            yield "objects of others", f"keeps_what_is_anothers({what!r})"
    if operation.part != "login" and (operation.takes or operation.parameters):
        yield "SQL injection", f"reads_no_sql({asked})"
        yield "path traversal", f"reads_no_files({asked})"
        yield "code injection", f"runs_no_code({asked})"
    yield "secrets in answers", f"tells_no_secrets({what!r})"
    yield "verbose errors", f"stays_quiet({asked})"


def _token(operation: Operation) -> str:
    return "entered(new('amy'))" if operation.login else "None"


def _is_owned(operation: Operation, contract: Contract, shared: Collection[str]) -> bool:
    """Whether a route is about one thing that a user made, and belongs to that user."""
    before, _, last = operation.shape[1].rpartition("/")
    makers = [each for each in contract.operations if each.shape == ("POST", before)]
    return last == "{}" and bool(makers) and makers[0].login and makers[0].path not in shared


def _on_whole(entering: tuple[str, ...]) -> dict[str, str]:
    """Attacks on no route in particular."""
    known = {
        "path traversal: paths that were never offered": "offers_no_files()",
        "secrets in answers: paths that were never offered": "has_no_doors()",
        "verbose errors: wrong paths and methods": "stays_quiet_elsewhere()",
    }
    if entering:
        known["SQL injection: logging in"] = f"logs_nobody_in({entering[0]!r})"
        known["secrets in answers: registering and logging in"] = "tells_no_password()"
        known["plain passwords: one is left behind"] = (
            f"entered(new('pat'), password={MARKED_PASSWORD!r})"
        )
    return {**known, **_BOMBS}


def _setup(contract: Contract, entering: tuple[str, ...], hidden: Collection[str]) -> str:
    aims = [
        {
            "what": _what(each),
            "method": each.method,
            "path": each.path,
            "shape": each.shape[1],
            "parameters": each.parameters,
            "part": each.part,
            "accepts": each.accepts,
            "takes": [
                (field.name, field.kind, field.value() if field.example else None, field.required)
                for field in each.takes
            ],
            "names": [field.name for field in each.takes],
            "gives": _names(each),
        }
        for each in contract.operations
    ]
    values = {
        "AIMS = []": f"AIMS = {pformat(aims, width=100)}",
        "ENTERING = ()": f"ENTERING = {entering!r}",
        "OWN_FILES = ()": f"OWN_FILES = {OWN_FILES!r}",
        "HIDDEN = ()": f"HIDDEN = {tuple(sorted(hidden))!r}",
        'MARK = ""': f"MARK = {PASSWORD_MARK!r}",
    }
    words = WORDS + ANSWERS
    for empty, full in values.items():
        words = words.replace(f"\n{empty}\n", f"\n{full}\n")
    return setup_of(contract) + words


def _names(operation: Operation) -> list[str]:
    """The names of all values in a route's example of an answer, however deep they lie."""
    names: list[str] = []
    waiting = [operation.example()]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            names += map(str, value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return list(dict.fromkeys(names))
