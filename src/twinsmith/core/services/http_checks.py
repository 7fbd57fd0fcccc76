"""Checks of a service, made from its contract: what a stranger on the network would try.

Every check makes what it needs under names of its own, so neither their order nor what earlier ones
left behind matters. Its lines read as sentences, because a failing line is shown to whoever mends
the program: `good(register('amy'))`.
"""

from dataclasses import replace
from pprint import pformat
from string import Template

from twinsmith.core.events import Json
from twinsmith.core.planning.completing import who_and_password
from twinsmith.core.planning.contract import Contract, Field, Operation
from twinsmith.core.planning.purpose import Purpose, first, purpose_of
from twinsmith.core.probe import ABOUT_ACCOUNTS, Probe
from twinsmith.core.services.http_words import PASSWORD_MARK, WORDS
from twinsmith.core.verdict import Finding, Severity

NOTE = "note: "
# A service lives through all checks, and hashing a password well takes a while.
CPU_SECONDS = 60.0
PROBE_SECONDS = 15.0

_EVERYWHERE = """
# answers 404 to a path it does not have
for path in ('/no-such-path', '/no/such/path'):
    assert http('GET', path).status in (404, 401, 403), 'want 404'

# answers 404 or 405 to a method it does not have
wrong_methods()
"""

_ACCOUNTS = """
# registers a new user
good(register('amy'))

# logs in with the right password and gives a token
good(register('cat'))
assert token_of(login('cat'))

# tells nobody the password when it registers
reply = register('bob')
good(reply)
assert password('bob') not in reply.text, 'the reply holds the password'

# refuses a user name that is taken
good(register('dan'))
refused(register('dan', password='Other!7-dan-x'))
good(login('dan'))
refused(login('dan', password='Other!7-dan-x'))

# refuses a wrong password with 401 or 403
known('eve')
right = password('eve')
for wrong in ('wrong', right + 'x', right[:-1], right.swapcase()):
    refused(login('eve', password=wrong), 400, 401, 403)

# refuses a user it does not know
refused(login('stranger'), 400, 401, 403, 404)

# keeps names and passwords in any script
good(register('zoé', password='pässwörd-密码-Ω7'))
good(login('zoé', password='pässwörd-密码-Ω7'))
refused(login('zoé', password='passwort-密码-Ω7'))

# stores no password in plain
good(register('fay'))
good(login('fay'))
place = stored(password('fay'))
assert not place, f'the password can be read in {place}'

# login gives nothing to SQL in $name
known('sam')
for text in (*SQL, *aimed('$name', 'sam')):
    refused(login('sam', $name=text))
good(login('sam'))

# login gives nothing to SQL in the password
known('tim')
for text in SQL[:6]:
    refused(login('tim', password=text))
good(login('tim'))

# register is not upset by SQL in $name
known('una')
for text in SQL[:4]:
    calm(register('una', $name=text))
good(login('una'))
good(register('una2'))

# serves several users at the same time
def one(n):
    good(register(f'vic{n}'))
    good(login(f'vic{n}'))
together(one, 4)
"""

_GUARDED = """
# protected route takes the token as Authorization: Bearer
let_in(guarded(bearer(known('gus'))))

# protected route refuses who has no token
known('gus')
kept_out(guarded({}))

# protected route refuses a garbled token
token = known('gus')
for text in GARBLED:
    kept_out(guarded({'Authorization': text}))
kept_out(guarded(bearer(token[:-5])))

# protected route refuses a forged token
for text in changed(known('gus')):
    kept_out(guarded(bearer(text)))

# protected route refuses an unsigned token
for text in unsigned(known('gus')):
    kept_out(guarded(bearer(text)))

# protected route refuses a token signed with a well-known secret
for secret, text in guessed(known('gus')):
    kept_out(guarded(bearer(text)), f'signed with {secret!r}')

# each user gets their own token
first, second = known('lea'), known('max')
assert first != second, 'two users got the same token'
seen = [guarded(bearer(token)).text for token in (first, second)]
assert 'max' not in seen[0] and 'lea' not in seen[1], f'mixed up: {seen}'

# note: answers 401 to a missing or bad token
for headers in ({}, bearer('no-such-token')):
    assert guarded(headers).status == 401, 'want 401'
"""

_CREATE = """
# creates an item
good(create('one', a_token($token)))

# creates several items at the same time
token = a_token($token)
together(lambda n: good(create(f'twelve{n}', token)), 8)
"""
_CREATE_GUARDED = """
# creates nothing without a token
kept_out(create('nine', None))
"""
_READ = """
# reads what was created
token = a_token($token)
other = otherwise('create', 'three')
first, second = create('two', token), create('three', token, **other)
holds(read(id_of(first), token), 'two')
holds(read(id_of(second), token), 'three', **other)

# answers 404 to what is not there
token = a_token($token)
for which in NOWHERE:
    refused(read(which, token))

# create is not upset by SQL in any value
token = a_token($token)
first = create('ten', token)
for name in texts_of('create'):
    for text in SQL:
        calm(create('ten', token, **{name: text}))
good(create('eleven', token))
holds(read(id_of(first), token), 'ten')
"""
_READ_TEXT = """
# keeps text with quotes as it is
token = a_token($token)
for text in SQL:
    reply = create('four', token, $first=text)
    if reply.status // 100 == 2:
        seen = leaves(read(id_of(reply), token))
        assert text in seen, f'{text!r} has become {seen!r:.200}'
"""
_LIST = """
# lists what was created
token = a_token($token)
good(create('five', token))
holds(listed(token), 'five')
"""
_UPDATE = """
# updates what was created
token = a_token($token)
which = id_of(create('six', token))
other = otherwise('update', 'seven')
good(update(which, 'seven', token, **other))
shows(which, 'seven', token, **other)

# answers 404 to an update of what is not there
refused(update('987654', 'no', a_token($token)))
"""
_DELETE = """
# deletes what was created
token = a_token($token)
which = id_of(create('eight', token))
good(delete(which, token))
gone(which, token)
refused(delete('987654', token))
"""

_LATER: dict[Purpose, str] = {"list": _LIST, "update": _UPDATE, "delete": _DELETE}

_BODY = """
# $what refuses what is not a JSON object
token = a_token($token)
for body in NOT_OBJECTS:
    refused(raw('$what', body, token))

# $what is not upset by values of wrong types
token = a_token($token)
for name, value in wrong_types('$what'):
    calm(ask('$what', 'ray', token, **{name: value}))

# $what is not upset by very long text
token = a_token($token)
for name in texts_of('$what'):
    calm(ask('$what', 'quin', token, **{name: 'x' * 100_000}))
"""
_NEEDED = """
# $what refuses missing and empty values
token = a_token($token)
refused(ask('$what', 'pat', token, only={}))
for name in $needed:
    for value in (GONE, None, '', ['a'], {'a': 1}):
        refused(ask('$what', 'pat', token, **{name: value}))
"""


_QUERY = """
# $what reads no SQL in its query
token = a_token($token)
if route_for('create'):
    create('sue', a_token(route_for('create')['token']))
for name in $names:
    the_same('$what', name, token)
"""


def severity_of(probe: Probe) -> Severity:
    """The severity of failing a check: a note where its name begins with `note: `."""
    return "note" if probe.name.startswith(NOTE) else "blocking"


def setup_of(contract: Contract) -> str:
    """The code that defines the words of checks, with the routes of this service."""
    routes = [
        {
            "method": each.method,
            "path": each.path,
            "purpose": purpose_of(each, contract),
            "fields": {field.name: field.kind for field in _body(each)},
            "examples": {field.name: field.value() for field in _body(each) if field.example},
            "query": {field.name: _sampled(field) for field in _query(each)},
            "token": each.login,
            "gives": _names(each),
        }
        for each in contract.operations
    ]
    return WORDS.replace("ROUTES = []", f"ROUTES = {pformat(routes, width=100)}")


def _body(operation: Operation) -> tuple[Field, ...]:
    """The required fields in the JSON body of a request."""
    wanted = operation.takes if operation.accepts == "json" else ()
    return tuple(field for field in wanted if field.required)


def _query(operation: Operation) -> tuple[Field, ...]:
    """The required fields in the query of a request."""
    wanted = operation.takes if operation.accepts == "query" else ()
    return tuple(field for field in wanted if field.required)


def _sampled(field: Field) -> tuple[str, str, Json]:
    return field.kind, "sue", field.value() if field.example else None


def _names(operation: Operation) -> list[str]:
    example = operation.example()
    return list(example) if isinstance(example, dict) else []


def basic_checks(contract: Contract) -> tuple[Probe, ...]:
    """Checks that every service with this contract has to pass, whoever may use it."""
    checks = [*_answers(contract), *_scenarios(_EVERYWHERE)]
    for each in contract.operations:
        if _body(each) and not each.parameters and each.part not in ("register", "login"):
            checks += _bodies(each)
        texts = [field.name for field in each.takes if field.kind == "string"]
        if each.accepts == "query" and texts and not each.parameters:
            what = f"{each.method} {each.path}"
            asked = _scenarios(_QUERY, what=what, token=str(each.login), names=repr(texts))
            checks += _tried(each, asked)
    return tuple(checks)


def account_checks(contract: Contract) -> tuple[Probe, ...]:
    """Checks of registering and logging in, as strangers would try it."""
    login, register = contract.part("login"), contract.part("register")
    if login is None or register is None:
        return ()
    checks = []
    if who_and_password(login.takes) and who_and_password(register.takes):
        checks += _scenarios(_ACCOUNTS, name=who_and_password(login.takes)[0].name)
        if any(each.login for each in contract.operations):
            checks += _scenarios(_GUARDED)
    checks += [*_bodies(register), *_bodies(login)]
    return tuple(replace(each, about=ABOUT_ACCOUNTS) for each in checks)


def usual_checks(contract: Contract) -> tuple[Probe, ...]:
    """Checks of how things are usually made, read, listed, changed and deleted: an opinion."""
    create, read = first("create", contract), first("read", contract)
    if create is None or not _body(create):
        return ()
    token = str(create.login)
    checks = _tried(create, _scenarios(_CREATE, token=token))
    if create.login and contract.accounts:
        checks += _scenarios(_CREATE_GUARDED)
    if read is not None:
        checks += _tried(read, _scenarios(_READ, token=token))
        text = next((field.name for field in _body(create) if field.kind == "string"), "")
        if text and read.status < 300:
            checks += _tried(read, _scenarios(_READ_TEXT, token=token, first=text))
    for purpose, scenarios in _LATER.items():
        operation = first(purpose, contract)
        if operation is not None:
            checks += _tried(operation, _scenarios(scenarios, token=token))
    return tuple(checks)


def _tried(operation: Operation, checks: list[Probe]) -> list[Probe]:
    return [replace(each, functions=(operation.function,)) for each in checks]


def log_findings(log: str) -> tuple[Finding, ...]:
    """A finding where the service wrote a password of the checks into its log."""
    line = next((line for line in log.splitlines() if PASSWORD_MARK in line), "")
    if not line:
        return ()
    what, evidence = "a password stands in the log", line.strip()[:200]
    return (Finding(what=what, where="log", evidence=evidence, severity="blocking"),)


def _scenarios(text: str, **values: str) -> list[Probe]:
    """Checks from a text, one a paragraph: the name on the first line, then the code."""
    filled = Template(text.strip()).substitute(values)
    paragraphs = (paragraph.partition("\n") for paragraph in filled.split("\n\n"))
    return [
        Probe(name=name.removeprefix("# "), origin="plan", source=source)
        for name, _, source in paragraphs
    ]


def _answers(contract: Contract) -> list[Probe]:
    """The check that the service answers at all."""
    health = contract.part("health")
    if health is None:
        return []
    what = f"{health.method} {health.path}"
    source = f"there(ask({what!r}, 'guest'))"
    probe = Probe(name=f"answers {what}", origin="plan", source=source)
    return [replace(probe, functions=(health.function,))]


def _bodies(operation: Operation) -> list[Probe]:
    what, token = f"{operation.method} {operation.path}", str(operation.login)
    checks = _scenarios(_BODY, what=what, token=token)
    needed = [field.name for field in _needed(operation)]
    if needed:
        checks = _scenarios(_NEEDED, what=what, token=token, needed=repr(needed)) + checks
    return checks


def _needed(operation: Operation) -> tuple[Field, ...]:
    """The fields without which a request makes no sense; others may be optional."""
    if operation.part:
        return who_and_password(operation.takes)
    return tuple(field for field in _body(operation)[:1] if field.kind == "string")
