"""Names and types of a function's parameters, read off where it is declared."""

import ast
import re
from dataclasses import dataclass

from twinsmith.core.brackets import closed, parts
from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.syntax import parse

LONGEST_DECLARATION = 1000
DEEPEST = 8
_BEFORE = {"python": r"\bdef\s+", "go": r"\bfunc\s+", "rust": r"\bfn\s+"}
_C_LIKE = r"[\w>*&]\s*[\s*&]"
_BODY = re.compile(r"[^;{}=]{0,200}\{")
_QUALIFIER = re.compile(
    r"\b(?:const|mut|static|struct|unsigned|signed|restrict|dyn)\b|'\w+\b|\bstd::|&"
)
_NAMES = {
    **dict.fromkeys(("int", "long", "short", "size_t", "ssize_t", "byte", "isize", "usize"), "int"),
    **dict.fromkeys(("float", "double", "float32", "float64", "f32", "f64"), "float"),
    **dict.fromkeys(("str", "string", "String", "string_view"), "str"),
    **dict.fromkeys(("char", "rune"), "chr"),
    **dict.fromkeys(("bool", "_Bool"), "bool"),
}
_INTEGER = re.compile(
    r"[iu](?:8|16|32|64|128)|u?int(?:8|16|32|64)(?:_t)?|uint|long(?: long)?(?: int)?"
)
_MADE_OF = {
    **dict.fromkeys(
        ("vector", "list", "deque", "set", "unordered_set", "initializer_list"), "list"
    ),
    **dict.fromkeys(("Vec", "VecDeque", "HashSet", "BTreeSet", "span"), "list"),
    **dict.fromkeys(("map", "unordered_map", "HashMap", "BTreeMap"), "dict"),
    **dict.fromkeys(("pair", "tuple"), "tuple"),
    **dict.fromkeys(("Option", "optional"), "optional"),
    **dict.fromkeys(("Box", "Rc", "Arc"), ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a function."""

    name: str
    type: str = ""
    """The type as an annotation of Python; empty where it says nothing about the values."""


def parameters_in(text: str, function: str, language: str) -> tuple[Parameter, ...]:
    """The parameters of a function that the text declares; none where they are not plain."""
    if language == "perl" or not function:
        return ()
    head = _BEFORE.get(language, _C_LIKE)
    for found in re.finditer(rf"{head}{re.escape(function)}\s*(?:<[^()<>]*>\s*)?\(", text):
        inside, behind = closed(text[found.end() : found.end() + LONGEST_DECLARATION]) or ("", "")
        # In examples there are calls that look much the same.
        if language == "python" or _BODY.match(behind):
            read = _READ[language](inside)
            if read:
                return read
    return ()


def annotations_in(text: str, function: str, language: str) -> tuple[str, ...]:
    """The types of a function's parameters if all are known, without the lengths of C lists."""
    known = list(parameters_in(text, function, language))
    if language == "c":
        known = _without_lengths(known)
    types = tuple(each.type for each in known)
    return types if all(types) else ()


def _python(inside: str) -> tuple[Parameter, ...]:
    try:
        defined = parse(f"def f({inside}): pass").body[0]
    except UNREADABLE:
        return ()
    assert isinstance(defined, ast.FunctionDef)
    given = defined.args
    if given.vararg or given.kwarg or given.kwonlyargs:
        return ()
    return tuple(
        Parameter(name=each.arg, type=ast.unparse(each.annotation) if each.annotation else "")
        for each in (*given.posonlyargs, *given.args)
    )


def _rust(inside: str) -> tuple[Parameter, ...]:
    listed = parts(inside)
    read = [re.fullmatch(r"(?:mut\s+)?(\w+)\s*:\s*(.+)", part, re.DOTALL) for part in listed]
    found = [Parameter(name=each[1], type=_annotation(each[2])) for each in read if each]
    return tuple(found) if len(found) == len(listed) else ()


def _go(inside: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    spelled = ""
    for part in reversed(parts(inside)):
        # "a, b int": a name alone has the type of the next one.
        name, _, own = part.partition(" ")
        spelled = own.strip() or spelled
        found.append(Parameter(name=name, type=_annotation(spelled)))
    return tuple(reversed(found))


def _c(inside: str) -> tuple[Parameter, ...]:
    listed = parts(inside)
    read = [
        re.fullmatch(r"([^=]*[\s*&>])([A-Za-z_]\w*)\s*((?:\[\w*\]\s*)*)", part, re.DOTALL)
        for part in listed
    ]
    found = [
        Parameter(name=each[2], type=_annotation(each[1] + "*" * each[3].count("[")))
        for each in read
        if each
    ]
    return tuple(found) if len(found) == len(listed) else ()


_READ = {"python": _python, "rust": _rust, "go": _go, "c": _c, "cpp": _c}


def _without_lengths(known: list[Parameter]) -> list[Parameter]:
    """Parameters of C without the lengths of lists, and without places where a length is put."""
    kept: list[Parameter] = []
    behind = [*known[1:], Parameter(name="")]
    counted = False
    for each, following in zip(known, behind, strict=True):
        if counted and each.type == "int":
            counted = False
            continue
        counted = each.type.startswith("list[")
        if not counted or following.type == "int":
            kept.append(each)
    return kept


def _annotation(spelled: str, depth: int = 0) -> str:
    """A type of another language as Python spells it; empty where it is not known."""
    bare = " ".join(_QUALIFIER.sub(" ", spelled).split())
    if depth > DEEPEST:
        return ""
    if bare.endswith("*"):
        inner = _annotation(bare[:-1], depth + 1)
        return "str" if inner == "chr" else _made("list", [inner])
    if bare.startswith("[]"):
        return _made("list", [_annotation(bare[2:], depth + 1)])
    if bare.startswith("[") and bare.endswith("]") and ";" not in bare:
        return _made("list", [_annotation(bare[1:-1], depth + 1)])
    if bare.startswith("(") and bare.endswith(")"):
        return _made("tuple", [_annotation(part, depth + 1) for part in parts(bare[1:-1])])
    in_go = re.fullmatch(r"map\[(\w+)\](.+)", bare)
    if in_go:
        return _made("dict", [_annotation(each, depth + 1) for each in in_go.groups()])
    made = re.fullmatch(r"(?:\w+::)*(\w+) ?<(.*)>", bare)
    if made and made[1] in _MADE_OF:
        return _made(_MADE_OF[made[1]], [_annotation(part, depth + 1) for part in parts(made[2])])
    if "unsigned" in spelled and not bare:
        return "int"
    return "int" if _INTEGER.fullmatch(bare) else _NAMES.get(bare, "")


def _made(name: str, inner: list[str]) -> str:
    if not all(inner) or not inner:
        return ""
    return f"{name}[{', '.join(inner)}]" if name else inner[0]
