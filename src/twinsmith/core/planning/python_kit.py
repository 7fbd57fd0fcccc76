"""A Python service built around its pieces: what the contract says already, no model writes."""

import json
import keyword
from collections.abc import Mapping

from twinsmith.core.planning.completing import KIT_NAMES, who_and_password
from twinsmith.core.planning.contract import PYTHON_KINDS, Contract, Operation
from twinsmith.core.planning.openapi import openapi_of
from twinsmith.core.program import Program, SourceFile

KIT_FILE, CONTRACT_FILE = "kit.py", "contract.py"
PACKAGES = ("Flask", "PyJWT")
_HEAD = '''"""{title}

What it answers stands in contract.py, what every service needs in kit.py.
"""
'''
_STORE = """
TABLES = {tables}
store = Store(os.environ.get("DATABASE", "service.db"), TABLES)
"""
_END = '''

@app.get("/openapi.json")
def openapi():
    """What this service answers, as an OpenAPI document."""
    return jsonify(OPENAPI)


if __name__ == "__main__":
    serve()
'''
_CONTRACT_HEAD = '"""The contract of this service, as an OpenAPI document."""\n\nimport json\n\n'
_CONFLICTS = (409, 400, 422)


def assembled(contract: Contract, pieces: Mapping[str, str], kit: str) -> Program:
    """The whole program of a service: the kit, the routes, and the pieces that models wrote."""
    functions = [pieces[each.function].strip("\n") for each in contract.pieces]
    source = "\n".join(
        [
            _HEAD.format(title=contract.title.replace('"""', "'''").replace("\\", "/")),
            "import os",
            "",
            "from contract import OPENAPI",
            "from kit import (",
            *(f"    {name}," for name in KIT_NAMES),
            ")",
            _STORE.format(tables=_tables(contract)),
        ]
    )
    source += "".join(f"\n\n{text}\n" for text in functions)
    source += "".join(f"\n\n{route_of(each, contract)}" for each in contract.operations)
    document = json.dumps(openapi_of(contract), indent=1, ensure_ascii=False)
    told = f"{_CONTRACT_HEAD}OPENAPI = json.loads({document!r})\n"
    files = (SourceFile(name=CONTRACT_FILE, text=told), SourceFile(name=KIT_FILE, text=kit))
    return Program(source=source + _END, kind="service", files=files)


def _tables(contract: Contract) -> str:
    """The tables as Python text: by name, the key column and the kind of each column."""
    kinds = {t.name: {each.name: each.kind for each in t.columns} for t in contract.tables}
    return repr({table.name: (table.key.name, kinds[table.name]) for table in contract.tables})


def route_of(operation: Operation, contract: Contract) -> str:
    """The Python lines that pass a request on to the function that answers it."""
    path = operation.path
    for name in operation.parameters:
        path = path.replace(f"{{{name}}}", f"<{_own(name)}>")
    given = ", ".join(_own(name) for name in operation.parameters)
    what = operation.quote or operation.function.replace("_", " ")
    lines = [
        f"@app.{operation.method.lower()}({path!r})",
        f"def route_{operation.function}({given}):",
        f"    {json.dumps(' '.join(what.split()), ensure_ascii=False)}",
    ]
    if operation.part:
        return "\n".join([*lines, *_brought(operation), ""])
    if operation.login:
        lines.append("    user = current_user()")
    for name in operation.parameters:
        kind = PYTHON_KINDS[contract.kind_of(name)]
        lines.append(f"    {_own(name)} = part({name!r}, {_own(name)}, {kind})")
    lines += _taken(operation)
    words = ["user"] if operation.login else []
    words += [f"{name}={_own(name)}" for name in operation.parameters]
    words += ["**taken"] if operation.takes else []
    form = f", {operation.answers!r}" if operation.answers in ("text", "html", "nothing") else ""
    call = f"lambda: {operation.function}({', '.join(words)})"
    lines.append(f"    return answer(store, {call}, {operation.status}{form})")
    return "\n".join([*lines, ""])


def _own(name: str) -> str:
    """A name with `_` behind it where it would hide one of Python's own, such as `id`."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("id", "type", "format") else name


def _taken(operation: Operation) -> list[str]:
    if not operation.takes:
        return []
    if operation.accepts == "text":
        return [f"    taken = {{{operation.takes[0].name!r}: text()}}"]
    kinds = ", ".join(
        f"{each.name}={PYTHON_KINDS[each.kind]}"
        if each.required
        else f"{each.name}=({PYTHON_KINDS[each.kind]}, {json.loads(each.default)!r})"
        for each in operation.takes
    )
    reads = {"json": "body", "query": "query", "form": "form"}[operation.accepts]
    return [f"    taken = {reads}({kinds})"]


def _brought(operation: Operation) -> list[str]:
    """The lines of a route that the kit answers by itself."""
    if operation.part == "health":
        return ['    return jsonify(status="ok")']
    who, secret = (field.name for field in who_and_password(operation.takes))
    refusals = [refusal.status for refusal in operation.refuses]
    wanted = _CONFLICTS if operation.part == "register" else (401, 403, 400)
    refused = next((status for status in wanted if status in refusals), wanted[0])
    example = operation.example()
    gives = example if isinstance(example, dict) else {}
    words = f"{who!r}, {secret!r}, {operation.status}, {refused}, {gives!r}"
    return [
        *_taken(operation),
        f"    done = lambda: {operation.part}(store, taken, {words})",
        f"    return answer(store, done, {operation.status})",
    ]
