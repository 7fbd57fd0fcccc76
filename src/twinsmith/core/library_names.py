"""Names of functions and classes that a task writes as calls or definitions."""

import ast
import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from twinsmith.core.program import Program
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.wording import LANGUAGES, spoken

MODULE_LEVEL = "module"
"""The owner of a function that belongs to no class."""
MOST_NAMES = 12
_BUILTINS = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
_CALL = re.compile(
    r"(?<![\w.\"'@:])(?:(?P<owner>[A-Z]\w*)\.)?(?P<name>[A-Za-z_]\w*)"
    r"\((?P<given>[^()\n]{0,200})\)(?P<gives>[ ]?->[ ]?[\w.&:]+(?:[\[<][^\]>\n]{0,60}[\]>])?)?"
)
_CLASSES = (re.compile(r"\b[Cc]lass\s+`?([A-Z]\w*)"), re.compile(r"\b([A-Z]\w*)`?\s+class\b"))
_PARAMETER = re.compile(r"(?:[*&$@%]|const )*[A-Za-z_](?!\w*[\"'])")
_WORD = re.compile(r"(?<=[^\s.!?:]\s)`?([A-Z]\w*[a-z]\w*)")
_CONSTANTS = {"True", "False", "None", "true", "false", "null", "nil"}
_PLURALS = {"s", "es"}
_LAST_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*(?:\[\d*\])?\s*$)")
_FIRST_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINED = {
    "perl": r"\bsub\s+{}\b",
    "rust": r"\bfn\s+{}\b",
    "go": r"\bfunc\s+(?:\([^)]*\)\s*)?{}\s*[(\[]",
    "c": r"\b{}\s*\(",
    "cpp": r"\b{}\s*\(",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One name as a task writes it: a class, or a function that may belong to one."""

    name: str
    given: tuple[str, ...] | None = None
    """The parameters as the task writes them; None: a class that is named without any."""
    gives: str = ""
    owner: str = ""
    """The class that the function is a method of; empty where it is none."""
    is_class: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The bare names of the parameters."""
        found = [_parameter_name(each) for each in self.given or ()]
        return tuple(name for name in found if name)

    @property
    def path(self) -> str:
        """The name with that of its class in front."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


def written_in(text: str, language: str) -> tuple[Written, ...]:
    """The classes and functions that a task writes with their parameters, once each.

    `parse('12')` is an example of use and no definition; `word(s)` a plural, unless others are
    written so; `ValueError(…)` and `sorted(…)` are the language's own. Only Python has classes.
    """
    found: dict[str, Written] = {}
    plural = [m for m in _CALL.finditer(text) if m["given"].strip() in _PLURALS]
    lonely = {m["name"] for m in plural} if len({m["name"] for m in plural}) == 1 else set()
    for match in _CALL.finditer(text):
        name, given = match["name"], _parameters(match["given"])
        if given is None or name in lonely or (name in _BUILTINS and name[0].isupper()):
            continue
        is_class = language == "python" and name[0].isupper() and not match["owner"]
        one = Written(
            name=name,
            given=given,
            gives=(match["gives"] or "").strip() if language in ("python", "rust") else "",
            owner=(match["owner"] or "") if language == "python" else "",
            is_class=is_class,
        )
        found.setdefault(one.path, one)
    classes = _classes(text) if language == "python" else ()
    named = {name: Written(name=name, is_class=True) for name in classes if name not in found}
    return tuple([*named.values(), *found.values()][:MOST_NAMES])


def possible_owners(text: str, written: Sequence[Written]) -> tuple[str, ...]:
    """The classes that functions of a task may belong to: those it writes, and names in its text.

    A capital at the beginning of a sentence makes no name.
    """
    told = [each.name for each in written if each.is_class]
    told += [each.owner for each in written if each.owner]
    others = {spoken(language) for language in LANGUAGES} | _BUILTINS
    inside = [word for word in _WORD.findall(text) if word not in others]
    return tuple(dict.fromkeys([*told, *inside]))


def placed(written: Sequence[Written], owners: Mapping[str, str]) -> tuple[Written, ...]:
    """Every function with the class that it belongs to; classes come first, with their methods.

    What has the name of a function that every program has is no definition, outside of a class.
    """
    found = [
        each
        if each.is_class or each.owner
        else replace(each, owner=owners.get(each.name, "").removesuffix(MODULE_LEVEL))
        for each in written
    ]
    known = {each.name for each in found if each.is_class}
    made = [Written(name=o, is_class=True) for o in dict.fromkeys(e.owner for e in found)]
    found += [each for each in made if each.name and each.name not in known]
    own = [each for each in found if each.owner or each.is_class or each.name not in _BUILTINS]
    classes = [each for each in own if each.is_class]
    ordered = [e for c in classes for e in (c, *(m for m in own if m.owner == c.name))]
    return (*ordered, *(each for each in own if each not in ordered))


def undefined(program: Program, wanted: Sequence[str]) -> tuple[str, ...]:
    """The wanted names that a program does not define; a method is `Class.name`."""
    if program.language != "python":
        shape = _DEFINED[program.language]
        return tuple(n for n in wanted if not re.search(shape.format(re.escape(n)), program.text))
    tree = parsed(program.source)
    if tree is None:
        return ()
    there = _bound(tree)
    return tuple(name for name in wanted if not _is_there(name, there))


def _is_there(wanted: str, there: Mapping[str, ast.stmt]) -> bool:
    owner, _, name = wanted.rpartition(".")
    if not owner:
        return name in there
    node = there.get(owner)
    if not isinstance(node, ast.ClassDef):
        return node is not None
    inherits = any(not (isinstance(b, ast.Name) and b.id == "object") for b in node.bases)
    return inherits or name in _bound(node)


def _bound(of: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    """The names that a module or class binds, with the statements that bind them."""
    found: dict[str, ast.stmt] = {}
    for node in of.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Import() | ast.ImportFrom():
                found |= {alias.asname or alias.name: node for alias in node.names}
            case ast.Assign() | ast.AnnAssign() | ast.If() | ast.Try():
                stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
                found |= {n.id: node for n in stored if isinstance(n.ctx, ast.Store)}
    return found


def _classes(text: str) -> tuple[str, ...]:
    names = [name for shape in _CLASSES for name in shape.findall(text)]
    spoken_of = {spoken(language) for language in LANGUAGES}
    return tuple(dict.fromkeys(n for n in names if n not in _BUILTINS | spoken_of))


def _parameters(text: str) -> tuple[str, ...] | None:
    """The parameters in a text from between brackets; None where one of them is a value."""
    found = [part.strip().strip("`") for part in _at_commas(text)]
    if found == [""]:
        return ()
    fine = all(_PARAMETER.match(part) and part not in _CONSTANTS for part in found)
    return tuple(found) if fine else None


def _at_commas(text: str) -> list[str]:
    """The parts of a text between commas that stand in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[<{") - (letter in "]>}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parameter_name(text: str) -> str:
    """The name of a parameter: `text` of `text: &str`, `a` of `const std::string& a`."""
    head = re.split(r"[:=](?!:)", text.replace("::", ""), maxsplit=1)[0].strip()
    found = _LAST_NAME.search(head) if re.search(r"[&*]|^const ", head) else None
    found = found or _FIRST_NAME.search(head)
    return found[0] if found else ""
