"""Which nodes of a parsed text matter in each language, and what they are called."""

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

SYMBOL_CHARACTERS = 120
_CAPSULE_NAME = b"tree_sitter.Language"
FUNCTION_VALUES = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Which nodes of a language matter, by their types."""

    leaves: frozenset[str]
    """Definitions that are never cut along their parts."""
    owners: frozenset[str] = frozenset()
    """Definitions with members: cut when they are large."""
    wrappers: frozenset[str] = frozenset()
    """Definitions when they hold one: an export, a decorator, a template."""
    through: frozenset[str] = frozenset()
    """Looked through for definitions: bodies, conditions, namespaces."""
    notes: frozenset[str] = frozenset({"comment"})
    """Belong to the definition that follows."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_C_LEAVES = (
    "function_definition union_specifier enum_specifier type_definition preproc_function_def"
)
_C_THROUGH = (
    "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification"
    " declaration_list"
)
GRAMMARS = {
    "python": Grammar(
        leaves=_set("function_definition"),
        owners=_set("class_definition"),
        wrappers=_set("decorated_definition"),
        through=_set(
            "block if_statement elif_clause else_clause try_statement except_clause finally_clause"
            " with_statement"
        ),
    ),
    "perl": Grammar(
        leaves=_set("subroutine_declaration_statement method_declaration_statement"),
        owners=_set("package_statement class_statement"),
        through=_set("block block_statement"),
        notes=_set("comment pod"),
    ),
    "rust": Grammar(
        leaves=_set(
            "function_item function_signature_item struct_item enum_item union_item"
            " macro_definition"
        ),
        owners=_set("impl_item trait_item mod_item"),
        through=_set("declaration_list foreign_mod_item"),
        notes=_set("line_comment block_comment attribute_item"),
    ),
    "go": Grammar(leaves=_set("function_declaration method_declaration type_declaration")),
    "c": Grammar(leaves=_set(_C_LEAVES + " struct_specifier"), through=_set(_C_THROUGH)),
    "cpp": Grammar(
        leaves=_set(_C_LEAVES + " concept_definition"),
        owners=_set("class_specifier struct_specifier"),
        wrappers=_set("template_declaration"),
        through=_set(_C_THROUGH + " namespace_definition field_declaration_list"),
    ),
    "javascript": Grammar(
        leaves=_set("function_declaration generator_function_declaration method_definition"),
        owners=_set("class_declaration class"),
        wrappers=_set(
            "export_statement lexical_declaration variable_declaration expression_statement"
            " field_definition"
        ),
        through=_set("class_body"),
    ),
}


@cache
def load_language(name: str) -> "Language":
    """The grammar of a language, from its own wheel, loaded when first needed."""
    from tree_sitter import Language

    pointer = import_module(f"tree_sitter_{name}").language()
    if isinstance(pointer, int):  # tree-sitter-perl predates capsules; a bare number warns
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        pointer = capsule(pointer, _CAPSULE_NAME, None)
    return Language(pointer)


def text_of(node: "Node | None") -> str:
    """What a node says, on one line."""
    if node is None or node.text is None:
        return ""
    return " ".join(node.text.decode("utf-8", "replace").split())[:SYMBOL_CHARACTERS]


def _plain(name: str) -> str:
    """A type's name without its parameters and sigils."""
    return re.sub(r"<.*|\[.*|^[&*\s]+", "", name)


def member(owner: str, name: str) -> str:
    """A name with its owner's before it."""
    return f"{owner}.{name}" if owner and name else owner or name


def name_of(node: "Node") -> str:
    """What a definition is called, with the type that a method names itself."""
    get = node.child_by_field_name
    if node.type == "impl_item":
        trait, kind = _plain(text_of(get("trait"))), _plain(text_of(get("type")))
        return f"{trait} for {kind}" if trait else kind
    if node.type == "method_declaration":
        receiver = text_of(get("receiver")).strip("() ").rpartition(" ")[2]
        return member(_plain(receiver), text_of(get("name")))
    if node.type == "type_declaration":
        names = (text_of(spec.child_by_field_name("name")) for spec in node.named_children)
        return ", ".join(filter(None, names))[:SYMBOL_CHARACTERS]
    if node.type in ("function_definition", "type_definition") and get("declarator"):
        return _declared(node)
    known = get("name") or get("left") or get("property")
    return text_of(known) or ("default" if node.type == "export_statement" else "")


def _declared(node: "Node") -> str:
    """The name in a C declarator: under pointers, references and parameter lists."""
    inner: Node | None = node.child_by_field_name("declarator")
    while inner is not None:
        node = inner
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator"):
            inner = node.named_children[0] if node.named_children else None
    name = text_of(node)
    # `A<T>::push`, but not the `<` of `operator<`.
    return re.sub(r"(?<!operator)(?<!operator<)<[^<>]*>", "", name).replace("::", ".")
