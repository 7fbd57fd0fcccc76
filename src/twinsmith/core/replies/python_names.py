"""Names in a Python source: which are defined, used or missing, and imports for them."""

import ast
import builtins
import symtable
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache

from twinsmith.core.syntax import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
"""The errors of Python's own parser for a text that is no program or no literal."""
_HOMES: Mapping[str, str] = {
    "abc": "ABC abstractmethod",
    "bisect": "bisect_left bisect_right insort insort_left insort_right",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "contextmanager suppress",
    "copy": "deepcopy",
    "dataclasses": "asdict dataclass field",
    "datetime": "date timedelta timezone",
    "decimal": "Decimal getcontext ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP",
    "enum": "Enum IntEnum",
    "fractions": "Fraction",
    "functools": "cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps",
    "heapq": "heapify heappop heappush heappushpop heapreplace nlargest nsmallest",
    "http.server": "BaseHTTPRequestHandler HTTPServer ThreadingHTTPServer",
    "http": "HTTPStatus",
    "io": "BytesIO StringIO",
    "itertools": "accumulate chain combinations combinations_with_replacement compress cycle "
    "dropwhile groupby islice pairwise permutations product starmap takewhile zip_longest",
    "math": "acos asin atan atan2 ceil comb cos degrees dist exp fabs factorial floor fmod fsum "
    "gcd hypot inf isclose isinf isnan isqrt lcm log log10 log2 modf nan perm pi prod radians sin "
    "sqrt tan tau trunc",
    "operator": "attrgetter itemgetter methodcaller mul xor",
    "pathlib": "Path",
    "random": "choice choices randint randrange sample shuffle uniform",
    "statistics": "fmean mean median mode multimode pstdev pvariance stdev variance",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation",
    "threading": "Lock RLock Thread",
    "time": "perf_counter sleep",
    "types": "SimpleNamespace",
    "typing": "Any Callable ClassVar DefaultDict Deque Dict Final FrozenSet Generator Generic "
    "Hashable Iterable Iterator List Literal Mapping MutableMapping NamedTuple NoReturn Optional "
    "Protocol Sequence Set Tuple Type TypedDict TypeVar Union cast overload",
    "unittest": "TestCase",
    "urllib.parse": "parse_qs parse_qsl unquote urlencode urlparse urlsplit",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = frozenset(
    {"argparse", "ast", "asyncio", "base64", "bisect", "calendar", "cmath", "collections", "copy"}
    | {"csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools"}
    | {"glob", "hashlib", "heapq", "hmac", "html", "io", "itertools", "json", "logging", "math"}
    | {"operator", "os", "pathlib", "pickle", "queue", "random", "re", "secrets", "shutil"}
    | {"signal", "socket", "sqlite3", "statistics", "string", "struct", "subprocess", "sys"}
    | {"tempfile", "textwrap", "threading", "time", "traceback", "types", "typing", "unicodedata"}
    | {"unittest", "uuid", "zlib"}
)
_DATETIME = frozenset({"datetime", "date", "time", "timedelta", "timezone", "UTC"})
"""Names in the module `datetime`; with any other, the class `datetime` is meant."""
_FRIENDS: Mapping[str, str] = {
    "fastapi": "Depends FastAPI HTTPException Header Request Response status",
    "flask": "Flask Response abort jsonify make_response request session",
    "pydantic": "BaseModel Field",
    "werkzeug.security": "check_password_hash generate_password_hash",
}
"""Names of packages that are imported only where a program uses the package anyway."""


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a source, shared and never changed; None where it is no Python."""
    try:
        with warnings.catch_warnings():
            # An odd escape is the program's own affair.
            warnings.simplefilter("ignore")
            return parse(source)
    except UNREADABLE:
        return None


def uncompilable(source: str) -> str:
    """Why a source that has a tree is no program all the same; empty where it is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<source>", "exec", dont_inherit=True)
    except UNREADABLE as error:
        return str(error) or type(error).__name__
    return ""


def problem(source: str) -> SyntaxError | None:
    """The syntax error at which the parser stops; None where there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse(source)
    except SyntaxError as error:
        return error
    except UNREADABLE:
        return None
    return None


def defined(tree: ast.Module) -> set[str]:
    """The names that a module defines, without those of packages outside the standard library."""
    found: set[str] = set()
    nodes: list[ast.AST] = [*tree.body]
    while nodes:
        node = nodes.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.ImportFrom(module=str(module), level=0):
                if module.partition(".")[0] in sys.stdlib_module_names:
                    found |= {alias.asname or alias.name for alias in node.names}
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.expr() if not isinstance(node, ast.Tuple | ast.Starred | ast.List):
                continue
            case _:
                nodes.extend(ast.iter_child_nodes(node))
    return found


def called(node: ast.expr) -> str:
    """The first name of an expression: `a` of `a.b(c).d[e]`."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id


def imported(tree: ast.Module) -> set[str]:
    """The names that imports bind, anywhere in a module."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def effects(
    source: str, tree: ast.Module, entry: str
) -> tuple[Callable[[ast.stmt], set[str]], set[str]]:
    """A function that tells which variables a statement may change, and the names needed."""
    try:
        top = symtable.symtable(source, "reply", "exec")
    except UNREADABLE:
        return lambda _: {"?"}, {"?"}
    reached = {child.get_name(): _globals(child) for child in top.get_children()}
    # A call of the entry itself shows something; it sets up nothing.
    reached[entry] = set()
    needed = {name for child in top.get_children() for name in _globals(child)}
    firm = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.If)
    for node in tree.body:
        if isinstance(node, firm):
            needed |= {each.id for each in _loaded(node)}
    variables = {
        each.id
        for node in tree.body
        if not isinstance(node, firm[:3])
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }

    @cache
    def reach(name: str) -> set[str]:
        names = {name}
        while more := {far for near in names for far in reached.get(near, ())} - names:
            names |= more
        return names & variables

    def changed(node: ast.stmt) -> set[str]:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return {far for name in names for far in reach(name)}

    return changed, needed | {entry}


def _globals(table: symtable.SymbolTable) -> set[str]:
    found: set[str] = set()
    tables = [table]
    while tables:
        each = tables.pop()
        tables.extend(each.get_children())
        found |= {one.get_name() for one in each.get_symbols() if one.is_global()}
    return found


def _loaded(node: ast.stmt) -> Iterator[ast.Name]:
    """The names that are read when a statement of a module is executed."""
    parts: list[ast.AST] = [node]
    if isinstance(node, Function):
        parts = [*node.decorator_list, *node.args.defaults]
        parts += [each for each in node.args.kw_defaults if each is not None]
    for part in parts:
        for each in ast.walk(part):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                yield each


def missing(source: str) -> set[str]:
    """The names that a source uses and binds nowhere."""
    try:
        top = symtable.symtable(source, "reply", "exec")
    except UNREADABLE:
        return set()
    used: set[str] = set()
    bound: set[str] = set(dir(builtins))
    tables = [top]
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            outer = table is top or symbol.is_global()
            if outer and symbol.is_referenced():
                used.add(symbol.get_name())
            if outer and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
    return used - bound


def import_lines(source: str, tree: ast.Module) -> list[str]:
    """Import lines for the missing names of a source that are well known."""
    names = missing(source)
    if not names:
        return []
    attributes: dict[str, set[str]] = {}
    alone: set[str] = set()
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in names:
                attributes.setdefault(name, set()).add(attr)
            case ast.Name(id=name) if id(node) not in owners:
                alone.add(name)
    homes = {**_HOME, **_of_friends(tree)}
    plain: set[str] = set()
    wanted: dict[str, set[str]] = {}
    for name in sorted(names):
        if name == "np" and name in attributes:
            plain.add("import numpy as np")
        elif name == "datetime" and (name in alone or attributes[name] - _DATETIME):
            wanted.setdefault("datetime", set()).add("datetime")
        elif name in _MODULES and name in attributes and name not in alone:
            plain.add(f"import {name}")
        elif name in homes:
            wanted.setdefault(homes[name], set()).add(name)
    chosen = [f"from {home} import {', '.join(sorted(each))}" for home, each in wanted.items()]
    return [*sorted(plain), *sorted(chosen)]


def _of_friends(tree: ast.Module) -> dict[str, str]:
    present = {module.partition(".")[0] for node in tree.body for module in _modules(node)}
    present |= {"werkzeug"} if "flask" in present else set()
    return {
        name: module
        for module, names in _FRIENDS.items()
        if module.partition(".")[0] in present
        for name in names.split()
    }


def _modules(node: ast.stmt) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
    return []


def useless_imports(tree: ast.Module, beside: frozenset[str]) -> list[ast.stmt]:
    """Imports outside the standard library that nothing uses, or whose names are redefined.

    Modules that lie beside it are its own as well.
    """
    used = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    own = {n.name for n in tree.body if isinstance(n, Function | ast.ClassDef)}
    found: list[ast.stmt] = []
    for node in tree.body:
        modules = {module.partition(".")[0] for module in _modules(node)}
        if not modules or modules & (sys.stdlib_module_names | beside):
            continue
        assert isinstance(node, ast.Import | ast.ImportFrom)
        names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        if "*" not in names and (names - own).isdisjoint(used):
            found.append(node)
    return found
