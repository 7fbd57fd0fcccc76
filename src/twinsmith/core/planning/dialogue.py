"""Short dialogues with a program: tests in Python, whatever language it is written in.

A service is spoken to through functions that are named as in its contract, so that whoever writes a
test thinks of what the service does and not of HTTP.
"""

import ast
import json
from collections.abc import Iterator
from pprint import pformat

from twinsmith.core.errors import BadReply
from twinsmith.core.planning.contract import Contract, Operation, signature
from twinsmith.core.planning.piece import example_call
from twinsmith.core.planning.words import SERVICE_WORDS
from twinsmith.core.probe import Probe
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.replies.reply_code import source_in

MOST_TESTS = 4
LONGEST_TEST = 1500
_ALLOWED = frozenset(
    [
        "len",
        "sorted",
        "sum",
        "min",
        "max",
        "round",
        "abs",
        "set",
        "list",
        "dict",
        "tuple",
        "str",
        "int",
        "float",
        "bool",
        "any",
        "all",
        "range",
        "zip",
        "enumerate",
        "isinstance",
    ]
)


def service_setup(contract: Contract) -> str:
    """The code that defines the functions which tests of a service call."""
    told = {
        each.function: {
            "method": each.method,
            "path": each.path,
            "login": each.login,
            "takes": [field.name for field in each.takes],
            "accepts": each.accepts,
        }
        for each in contract.operations
        if each.part not in ("register", "login")
    }
    accounts = {}
    for part in ("register", "login"):
        operation = contract.part("register" if part == "register" else "login")
        if operation is not None:
            accounts[part] = {
                "path": operation.path,
                "takes": {f.name: f.value() for f in operation.takes},
            }
    text = SERVICE_WORDS.replace("OPERATIONS = {}", f"OPERATIONS = {pformat(told, width=100)}")
    return text.replace("ACCOUNTS = {}", f"ACCOUNTS = {pformat(accounts, width=100)}")


def described(contract: Contract) -> str:
    """The functions of a service as a critic is told about them."""
    return "\n".join(f"{signature(each, contract)}\n{_told(each)}" for each in contract.pieces)


def _told(operation: Operation) -> str:
    """The answer of a route's function, as one line of a docstring."""
    gives = operation.example()
    names = ""
    if isinstance(gives, dict) and gives:
        names = " with " + ", ".join(map(str, gives))
    elif isinstance(gives, list):
        inside = gives[0] if gives else {}
        held = f" of {', '.join(map(str, inside))}" if isinstance(inside, dict) else ""
        names = f" with a list{held}"
    elif operation.answers in ("text", "html"):
        names = " with a text"
    refusals = "".join(f" {each.status} when {each.when}." for each in operation.refuses)
    return f'    """Gives {operation.status}{names}.{refusals}"""'


def first_test(contract: Contract, about: tuple[Operation, ...]) -> str:
    """An example test, made from the contract alone, that shows how tests are written."""
    makers = [each for each in contract.pieces if each.method == "POST" and not each.parameters]
    chosen = next(
        (each for each in (*makers, *about, *contract.pieces) if not each.parameters), None
    )
    if chosen is None:
        return ""
    gives = chosen.example()
    sent = {field.name: field.value() for field in chosen.takes}
    wanted = [f"first.status == {chosen.status}"]
    if isinstance(gives, dict):
        same = [name for name in gives if name in sent]
        wanted += [f"first[{json.dumps(name)}] == {sent[name]!r}" for name in same[:1]]
    call = example_call(chosen, contract)
    return f"def test_0():\n    first = {call}\n    assert {' and '.join(wanted)}"


def read_tests(text: str, *, about: int, names: frozenset[str]) -> Iterator[Probe]:
    """The tests in a critic's reply: functions that call only these names and assert something."""
    try:
        source = source_in(text, "python")
    except BadReply:
        return
    tree = parsed(source)
    found = 0
    for node in tree.body if tree else []:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
            continue
        if node.args.args or node.name == "test_0" or not _is_plain(node, names):
            continue
        body = ast.unparse(node)
        if len(body) <= LONGEST_TEST and found < MOST_TESTS:
            found += 1
            lines = "\n".join(map(ast.unparse, node.body))
            yield Probe(name=_title(node), origin="plan", source=lines, about=about)


def _title(node: ast.FunctionDef) -> str:
    """The last assert of a test, which serves as its title."""
    asserts = [each for each in ast.walk(node) if isinstance(each, ast.Assert)]
    return ast.unparse(asserts[-1].test)[:120]


def _is_plain(node: ast.FunctionDef, names: frozenset[str]) -> bool:
    """Whether a test calls only known names, the program's among them, and asserts something."""
    called = set()
    for each in ast.walk(node):
        match each:
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.While():
                return False
            case ast.Call(func=ast.Name(id=name)):
                called.add(name)
    own = called & names
    asserts = any(isinstance(each, ast.Assert) for each in ast.walk(node))
    local = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
    return bool(own) and asserts and called <= names | _ALLOWED | local


def called_in(source: str, names: frozenset[str]) -> tuple[str, ...]:
    """The program's functions that a test calls, in their order."""
    tree = parsed(source)
    found = (
        node.func.id
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    return tuple(dict.fromkeys(name for name in found if name in names))
