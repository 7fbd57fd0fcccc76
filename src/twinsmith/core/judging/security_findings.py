"""Security mistakes in the source of a Python service, found without running it."""

import ast
import re
from collections.abc import Iterator, Sequence

from twinsmith.core.replies.python_names import parsed
from twinsmith.core.verdict import Finding, Severity

_PASSWORD = re.compile(r"password|passwd|passphrase|(?:^|_)(?:pass|pwd|pw)(?:_|$)", re.IGNORECASE)
_NOT_PLAIN = re.compile(
    r"hash|digest|salt|crypt|field|min|max|len|confirm|repeat|again", re.IGNORECASE
)
_HASHING = re.compile(r"hash|crypt|pbkdf2|derive|digest", re.IGNORECASE)
_SECRET = re.compile(r"(?:^|_)(?:secret|signing_key|jwt_key|private_key)", re.IGNORECASE)
_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|DROP|ALTER)\s", re.IGNORECASE)
_FAST = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s"})
_FROM_BYTES = frozenset({"pickle.loads", "pickle.load", "marshal.loads", "marshal.load"})
_LOGGED = frozenset({"print", "debug", "info", "warning", "error", "exception", "critical", "log"})
_EXECUTES = ("execute", "executemany", "executescript")
_BUILT = "SQL is put together from text; use ? for every value"
_ASSIGNED = (ast.Assign, ast.AnnAssign)


def security_findings(source: str) -> tuple[Finding, ...]:
    """Security mistakes in a source, each once a line; none where it cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return ()
    lines = source.splitlines()
    found: dict[tuple[str, int], Finding] = {}
    for scope in _scopes(tree):
        hashed, executed = _hashed_names(scope), _executed_names(scope)
        for node in _own_nodes(scope):
            for what, severity in _judged(node, hashed, executed):
                line = getattr(node, "lineno", 1)
                found[what, line] = Finding(
                    what=what,
                    where=f"line {line}",
                    evidence=lines[line - 1].strip()[:200],
                    severity=severity,
                )
    return tuple(sorted(found.values(), key=lambda finding: int(finding.where.split()[1])))


def _judged(
    node: ast.AST, hashed: frozenset[str], executed: frozenset[str]
) -> Iterator[tuple[str, Severity]]:
    if isinstance(node, ast.Call):
        yield from _of_call(node, hashed)
    elif isinstance(node, _ASSIGNED) and node.value is not None:
        targets = list(node.targets) if isinstance(node, ast.Assign) else [node.target]
        yield from _of_assignment(targets, node.value, hashed)
        if _is_built(node.value) and executed.intersection(map(_label, targets)):
            yield _BUILT, "blocking"
    elif isinstance(node, ast.Compare) and _compares_plain(node, hashed):
        yield "a password is compared in plain; keep and check a slow, salted hash", "blocking"


def _of_assignment(
    targets: Sequence[ast.expr], value: ast.expr, hashed: frozenset[str]
) -> Iterator[tuple[str, Severity]]:
    if any(_SECRET.search(_label(target)) for target in targets) and _literal_secret(value):
        yield "a secret stands in the source; take it from the environment or make it", "blocking"
    if any(_label(target).lower() == "debug" for target in targets) and _is_true(value):
        yield "debug mode runs code from the network", "blocking"
    kept = value.values if isinstance(value, ast.Dict) else [value]
    if any(isinstance(target, ast.Subscript) for target in targets) and any(
        _is_plain(each, hashed) for each in kept
    ):
        yield "a password is kept in plain; keep a slow, salted hash", "blocking"


def _of_call(call: ast.Call, hashed: frozenset[str]) -> Iterator[tuple[str, Severity]]:
    name = _dotted(call.func)
    last = name.rpartition(".")[2]
    words = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    first = call.args[0] if call.args else None
    if last in _EXECUTES and first is not None:
        if _is_built(first):
            yield _BUILT, "blocking"
        if any(_is_plain(each, hashed) for each in _bound(call)):
            yield "a password is kept or compared in plain; use a slow, salted hash", "blocking"
    if last == "run" and "debug" in words and _is_true(words["debug"]):
        yield "debug mode runs code from the network", "blocking"
    if last in _FAST and any(map(_mentions_password, call.args)):
        yield f"{last} is too fast for passwords; use scrypt, argon2 or pbkdf2", "blocking"
    if last in _LOGGED and any(_is_plain(each, hashed) for each in _shown(call)):
        yield "a password is printed", "blocking"
    yield from _of_token(name, call, words)
    yield from _of_code(name, call, words)


def _of_token(
    name: str, call: ast.Call, words: dict[str, ast.expr]
) -> Iterator[tuple[str, Severity]]:
    if name in ("jwt.encode", "jwt.decode") and len(call.args) > 1 and _is_text(call.args[1]):
        yield "a secret stands in the source; take it from the environment or make it", "blocking"
    if name == "jwt.decode":
        text = " ".join(
            ast.unparse(words[word]) for word in ("options", "algorithms") if word in words
        )
        if re.search(r"verify_signature.: False|.none.", text, re.IGNORECASE) or (
            "verify" in words and not _is_true(words["verify"])
        ):
            yield "tokens are taken without checking their signature", "blocking"
    if name.startswith("random.") and name != "random.SystemRandom":
        yield "random can be predicted; use secrets for tokens and codes", "note"


def _of_code(
    name: str, call: ast.Call, words: dict[str, ast.expr]
) -> Iterator[tuple[str, Severity]]:
    constant = bool(call.args) and all(isinstance(arg, ast.Constant) for arg in call.args)
    if name in ("eval", "exec", "os.system", "os.popen") and not constant:
        yield f"{name} runs what it is given", "blocking"
    if name in _FROM_BYTES:
        yield f"{name} runs what it reads; use json", "blocking"
    if name == "yaml.load" and "Safe" not in ast.unparse(call):
        yield "yaml.load runs what it reads; use yaml.safe_load", "blocking"
    if name.startswith("subprocess.") and _is_true(words.get("shell")) and not constant:
        yield "a shell reads what it is given; pass a list of words", "blocking"


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += node.decorator_list
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def _hashed_names(scope: ast.AST) -> frozenset[str]:
    """Names that a hash was put into: `password = generate_password_hash(password)`."""
    return frozenset(
        target.id
        for node in _own_nodes(scope)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and _is_hashing(node.value)
    )


def _executed_names(scope: ast.AST) -> frozenset[str]:
    """Names that are given to a database as SQL: `cursor.execute(query)`."""
    calls = [node for node in _own_nodes(scope) if isinstance(node, ast.Call) and node.args]
    return frozenset(
        _label(call.args[0])
        for call in calls
        if _dotted(call.func).rpartition(".")[2] in _EXECUTES and isinstance(call.args[0], ast.Name)
    )


def _is_hashing(value: ast.expr) -> bool:
    calls = [_dotted(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)]
    return any(map(_HASHING.search, calls))


def _is_plain(node: ast.expr, hashed: frozenset[str]) -> bool:
    """Whether a value is a password as it came: a name, or a value of a request, that says so."""
    match node:
        case ast.Name(id=name):
            return name not in hashed and _says_password(name)
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return _says_password(name)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return _says_password(name)
        case ast.Attribute(attr=name):
            return _says_password(name)
    return False


def _says_password(name: str) -> bool:
    return bool(_PASSWORD.search(name)) and not _NOT_PLAIN.search(name)


def _mentions_password(node: ast.expr) -> bool:
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    names += [str(n.value) for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return any(_PASSWORD.search(name) for name in names)


def _compares_plain(node: ast.Compare, hashed: frozenset[str]) -> bool:
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return False
    left, right = node.left, node.comparators[0]
    if any(isinstance(side, ast.Constant) for side in (left, right)):
        return False
    if any(_PASSWORD.search(t) and _NOT_PLAIN.search(t) for t in map(ast.unparse, (left, right))):
        return False
    return any(
        _is_plain(one, hashed) and not _is_hashing(other)
        for one, other in ((left, right), (right, left))
    )


def _literal_secret(value: ast.expr) -> bool:
    """Whether a value is a secret in the source, perhaps as a default for the environment."""
    match value:
        case ast.Constant(value=str(text) | bytes(text)):
            return bool(text)
        case ast.Call(func=function, args=[_, default]) if _dotted(function) in (
            "os.environ.get",
            "os.getenv",
            "environ.get",
            "getenv",
        ):
            return _is_text(default)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_literal_secret(each) for each in values)
    return False


def _is_built(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr(values=values):
            parts = [each.value for each in values if isinstance(each, ast.FormattedValue)]
            changing = [part for part in parts if not _is_constant_name(part)]
            return bool(changing) and bool(_SQL.match(ast.unparse(node)[2:]))
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod(), right=right):
            together = _is_text(left) and _is_text(right)
            return not together and (_is_statement(left) or _is_built(left))
        case ast.Call(func=ast.Attribute(attr="format", value=text)):
            return _is_statement(text)
    return False


def _is_statement(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(_SQL.match(str(node.value)))


def _is_constant_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.isupper()


def _bound(call: ast.Call) -> list[ast.expr]:
    """The values that a database call binds to its statement."""
    return [
        each for arg in call.args[1:] if isinstance(arg, ast.Tuple | ast.List) for each in arg.elts
    ]


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    for arg in call.args:
        yield arg
        for part in ast.walk(arg):
            if isinstance(part, ast.FormattedValue):
                yield part.value


def _label(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value)}.{name}".lstrip(".")
    return ""


def _is_text(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and bool(node.value)
    )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
