"""What makes Python run that nearly does: text that reads, an entry, imports, no demonstration."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice

from twinsmith.core.program import Kind
from twinsmith.core.replies.python_names import (
    Function,
    called,
    defined,
    effects,
    import_lines,
    imported,
    parsed,
    problem,
    useless_imports,
)
from twinsmith.core.replies.source_text import (
    Mended,
    Step,
    plain,
    straight,
    unescaped,
    without_margin,
)

_MOST_ERRORS = 30
_MOST_CUT = 40
_MOST_BLOCKS = 20
_MOST_STATEMENTS = 1000
_PARSED_AT_MOST = 3_000_000
_SENTENCE = re.compile(
    r"\s*(?:[-*•>]\s+|\d+[.)]\s+|\#+\s+)?[*_`\"“(]*[A-Za-z][\w'’]*[*_`:,.!\"”)]*"  # noqa: RUF001
    r"(?:\s+[*_`\"“(]*[A-Za-z\d]|\s*$)"
)
_MARKDOWN = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*$|\s*[-*=_]{3,}\s*$|\s*\#{2,}\s.*$|\s*\*\*.*$")
_HEADING = re.compile(r"#{2,}\s")
_STATEMENT = re.compile(
    r"\s*(?:def|class|return|if|elif|else|for|while|import|from|assert|with|try|except|finally"
    r"|raise|async|await|yield|pass|break|continue|global|nonlocal|del|lambda|not|and|or)\b|\s*@"
)
_OUTER = re.compile(r"(?:def|class|async|import|from|if __name__)\b|@")
_DEMO = re.compile(
    r"_*(?i:run_?|do_?)?(?i:tests?|checks?|demo|examples?|main|usage|verify)(?![a-z])"
)
_RUNNERS = frozenset({"doctest", "unittest", "pytest", "timeit"})


def _readable(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """Text that Python can read, with as few changes as do; None when nothing helps."""
    if parsed(source):
        return None
    done: list[str] = []
    for words, spelled in _LETTERS:
        changed = spelled(source)
        if changed != source:
            source = changed
            done.append(words)
    if parsed(source):
        return source, ", ".join(done)
    for count in (1, 2, 3):
        for changes in combinations(_CHANGES, count):
            text = source
            for _, change in changes:
                text = change(text, entry)
            if (tree := parsed(text)) and tree.body:
                return text, ", ".join([*done, *(words for words, _ in changes)])
    return None


def _straight(source: str) -> str:
    return straight(source, "python")


def _evenly_indented(source: str) -> str:
    """Tabs as four spaces, no margin; the first line may have lost its own."""
    text = re.sub(r"^[ \t]+", lambda found: found[0].expandtabs(4), source, flags=re.MULTILINE)
    text = without_margin(text)
    if text != source or parsed(text):
        return text
    first, _, rest = text.partition("\n")
    return again if parsed(again := f"{first}\n{without_margin(rest)}") else text


def _without_prose(source: str, _entry: str) -> str:
    """Lines that stop the parser and read as sentences or marks are left out."""
    text = _following_errors(source, _drop_sentence)
    if text == source:
        return source
    lines = text.rstrip().split("\n")
    while lines and (not lines[-1].strip() or _HEADING.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).lstrip("\n") + "\n"


def _indented_bodies(source: str, _entry: str) -> str:
    return _following_errors(source, _indent)


def _following_errors(source: str, act: Callable[[list[str], int, str], bool]) -> str:
    """Act on the line of each error, as long as there is one that can be acted on."""
    lines = source.split("\n")
    for _ in range(_tries(source, _MOST_ERRORS)):
        error = problem("\n".join(lines))
        if error is None or not error.lineno or error.lineno > len(lines):
            break
        if not act(lines, error.lineno - 1, error.msg):
            break
    return "\n".join(lines)


def _tries(source: str, most: int) -> int:
    return min(most, _PARSED_AT_MOST // (len(source) + 1))


def _drop_sentence(lines: list[str], at: int, _message: str) -> bool:
    if not _is_prose(lines[at]):
        return False
    del lines[at]
    return True


def _is_prose(line: str) -> bool:
    """Whether a line that stops the parser is no code at all."""
    first = line.lstrip()[:1]
    if _MARKDOWN.match(line) or (first.isalpha() and not first.isascii()):
        return True
    return bool(_SENTENCE.match(line)) and not _STATEMENT.match(line) and "=" not in line


def _indent(lines: list[str], at: int, message: str) -> bool:
    """Move what the parser finds at the wrong depth."""
    before = next((line for line in reversed(lines[:at]) if line.strip()), "")
    if message.startswith("expected an indented block"):
        end = _end_of_body(lines, at) if "function definition" in message else at + 1
        depth = _depth(before) + 4 - _depth(lines[at])
    elif message.startswith(("unexpected indent", "unindent does not match")):
        levels = {_depth(line) for line in lines[:at] if line.strip()} or {0}
        end, depth = _end_of_block(lines, at), _nearest(levels, _depth(lines[at]))
        depth = (_depth(before) if message.startswith("unexp") else depth) - _depth(lines[at])
    else:
        return False
    for i in range(at, end):
        if lines[i].strip():
            lines[i] = " " * max(_depth(lines[i]) + depth, 0) + lines[i].lstrip()
    return depth != 0


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _nearest(levels: set[int], depth: int) -> int:
    return min(levels, key=lambda level: (abs(level - depth), level))


def _end_of_body(lines: Sequence[str], at: int) -> int:
    depth = _depth(lines[at])
    ends = (i for i in range(at, len(lines)) if _OUTER.match(lines[i][depth:]))
    return next((i for i in ends if i > at and _depth(lines[i]) <= depth), len(lines))


def _end_of_block(lines: Sequence[str], at: int) -> int:
    depth = _depth(lines[at])
    shallower = (i for i in range(at, len(lines)) if lines[i].strip() and _depth(lines[i]) < depth)
    return next(shallower, len(lines))


def _without_end(source: str, entry: str) -> str:
    """The longest beginning that can be read and still has the entry."""
    lines = source.rstrip().split("\n")
    ends = [len(lines) - cut for cut in range(1, min(_MOST_CUT, len(lines)))]
    outer = [i for i in range(1, len(lines)) if re.match(r"[\w@]", lines[i])]
    ends += [end for end in reversed(outer) if not ends or end < ends[-1]][:_MOST_BLOCKS]
    for end in islice(ends, _tries(source, len(ends))):
        text = "\n".join(lines[:end]).rstrip() + "\n"
        tree = parsed(text)
        if tree and tree.body and (not entry or entry in defined(tree)):
            return text
    return source


_LETTERS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("HTML's marks turned into characters", unescaped),
    ("typographic marks made plain", _straight),
    ("indentation made even", _evenly_indented),
)
_CHANGES: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    ("prose removed", _without_prose),
    ("bodies indented", _indented_bodies),
    ("an unfinished end removed", _without_end),
)


def _with_entry(source: str, entry: str, kind: Kind) -> Mended | None:
    """A function under the name that was asked for, where it has another or stands in a class."""
    tree = parsed(source)
    if tree is None or not entry or kind in {"cli", "service"} or entry in defined(tree):
        return None
    for cls in tree.body:
        if isinstance(cls, ast.ClassDef) and (method := _method(cls, entry)):
            static = "staticmethod" in {each.id for each in _names(method.decorator_list)}
            added = _wrapper(entry, method, f"{cls.name}().{method.name}", skip=0 if static else 1)
            return _added(source, added, f"{entry} added: it was a method of {cls.name}")
    functions = [node for node in tree.body if isinstance(node, Function)]
    alike = [node for node in functions if plain(node.name) == plain(entry)]
    alike = alike or [node for node in functions if not _DEMO.match(node.name)]
    if len(alike) != 1:
        return None
    added = _wrapper(entry, alike[0], alike[0].name, skip=0)
    return _added(source, added, f"{entry} added: it was called {alike[0].name}")


def _method(cls: ast.ClassDef, entry: str) -> ast.FunctionDef | None:
    """The method that is meant, of a class that can be made of nothing."""
    methods = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
    for node in methods:
        if node.name == "__init__" and len(node.args.args) - len(node.args.defaults) > 1:
            return None
    public = [node for node in methods if not node.name.startswith("_")]
    alike = [node for node in public if plain(node.name) == plain(entry)]
    only = public if cls.name == "Solution" and len(public) == 1 else []
    return next(iter(alike or only), None)


def _wrapper(
    entry: str, node: ast.FunctionDef | ast.AsyncFunctionDef, call: str, *, skip: int
) -> str:
    """A function with the same parameters that calls the other."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if skip > len(positional):
        return ""
    own = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=each.arg) for each in positional[skip:]],
        vararg=args.vararg and ast.arg(arg=args.vararg.arg),
        kwonlyargs=[ast.arg(arg=each.arg) for each in args.kwonlyargs],
        kw_defaults=args.kw_defaults,
        kwarg=args.kwarg and ast.arg(arg=args.kwarg.arg),
        defaults=args.defaults,
    )
    given = [each.arg for each in own.args]
    given += [f"*{own.vararg.arg}"] if own.vararg else []
    given += [f"{each.arg}={each.arg}" for each in own.kwonlyargs]
    given += [f"**{own.kwarg.arg}"] if own.kwarg else []
    kind, wait = ("async def", "await ") if isinstance(node, ast.AsyncFunctionDef) else ("def", "")
    try:
        head = f"{kind} {entry}({ast.unparse(own)}):"
    except (RecursionError, ValueError):
        return ""
    return f"{head}\n    return {wait}{call}({', '.join(given)})\n"


def _added(source: str, text: str, words: str) -> Mended | None:
    whole = f"{source.rstrip()}\n\n\n{text}"
    return (whole, words) if text and parsed(whole) else None


def _without_demonstrations(source: str, entry: str, kind: Kind) -> Mended | None:
    """Nothing runs at import but what the functions need."""
    tree = parsed(source)
    if tree is None or kind in {"cli", "service"} or (entry and entry not in defined(tree)):
        return None
    if len(tree.body) > _MOST_STATEMENTS:
        return None
    changed, needed = effects(source, tree, entry)
    if kind == "library":
        needed |= defined(tree)
    foreign = imported(tree)
    idle = [
        node
        for node in tree.body
        if _is_idle(node) or not (_is_firm(node, foreign) or changed(node) & needed)
    ]
    kept = {line for node in tree.body if node not in idle for line in _lines(node)}
    idle = [node for node in idle if kept.isdisjoint(_lines(node))]
    if not idle:
        return None
    dropped = {line for node in idle for line in _lines(node)}
    lines = source.split("\n")
    for node in idle:
        above = node.lineno - 1
        while above > 0 and lines[above - 1].startswith("#"):
            dropped.add(above)
            above -= 1
    text = "\n".join(line for i, line in enumerate(lines, start=1) if i not in dropped)
    text = text.strip("\n") + "\n"
    return (text, "code that would run at import removed") if parsed(text) else None


def _lines(node: ast.stmt) -> range:
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in (node, *decorators))
    return range(first, (node.end_lineno or node.lineno) + 1)


def _is_idle(node: ast.stmt) -> bool:
    """What only shows or checks something, whatever it touches."""
    match node:
        case ast.Assert():
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), orelse=[]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in {"print", "exit", "quit"} or bool(_DEMO.match(name))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))):
            return name in _RUNNERS or (name, attr) == ("sys", "exit")
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant | ast.Call | ast.Await | ast.NamedExpr)
    return False


def _is_firm(node: ast.stmt, foreign: set[str]) -> bool:
    """What stays, whatever uses it."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.ClassDef():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return True
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
            return not calls or _sets_up(node, foreign)
        case ast.Expr():
            return _sets_up(node, foreign)
    firm = (*(ast.FunctionDef, ast.ClassDef), *(ast.Import, ast.ImportFrom))
    return any(isinstance(each, firm) for each in ast.walk(node))


def _sets_up(node: ast.stmt, foreign: set[str]) -> bool:
    """It changes something of a module: `sys.setrecursionlimit(…)`, `getcontext().prec = …`."""
    match node:
        case ast.Expr(value=ast.Call(func=target)):
            return called(target) in foreign
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target, *_]):
            return called(target) in foreign
    return False


def _names(nodes: Sequence[ast.expr]) -> Iterator[ast.Name]:
    return (node for node in nodes if isinstance(node, ast.Name))


def _with_imports(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """The imports that well-known names need."""
    tree = parsed(source)
    lines = import_lines(source, tree) if tree else []
    if tree is None or not lines:
        return None
    place = 0
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if node is tree.body[0]:
                place = node.end_lineno or 0
            case ast.ImportFrom(module="__future__"):
                place = node.end_lineno or 0
    if place == 0 and tree.body:
        place = _lines(tree.body[0])[0] - 1
    text = source.split("\n")
    gap = [] if _begins_with_import(text[place:]) else ["", ""]
    whole = "\n".join([*text[:place], *lines, *gap, *text[place:]])
    return (whole, f"imports added: {'; '.join(lines)}") if parsed(whole) else None


def _begins_with_import(lines: Sequence[str]) -> bool:
    return bool(lines) and (not lines[0].strip() or lines[0].startswith(("import ", "from ")))


def _without_useless_imports(
    source: str, entry: str, kind: Kind, beside: frozenset[str]
) -> Mended | None:
    """Packages that nothing uses, and the program as its own module."""
    tree = parsed(source)
    useless = useless_imports(tree, beside) if tree and kind in {"function", "library"} else []
    if tree is None or not useless or (entry and entry not in defined(tree)):
        return None
    dropped = {line for node in useless for line in _lines(node)}
    if any(set(_lines(node)) & dropped for node in tree.body if node not in useless):
        return None
    lines = source.split("\n")
    text = "\n".join(line for i, line in enumerate(lines, start=1) if i not in dropped)
    return (text, "imports that nothing uses removed") if parsed(text) else None


def python_steps(beside: frozenset[str]) -> tuple[Step, ...]:
    """What is done to a Python file, with the names of the modules that lie beside it."""
    return (
        _readable,
        _with_entry,
        _without_demonstrations,
        partial(_without_useless_imports, beside=beside),
        _with_imports,
    )
