"""Facts that the words of a task tell without asking a model: language, kind, names."""

import re

from twinsmith.core.program import Kind

LANGUAGES = ("python", "perl", "rust", "go", "c", "cpp")
_SPOKEN = {"c": "C", "cpp": "C++"}

_NAMES = {
    "python": r"python ?3?",
    "perl": r"perl ?5?",
    "rust": r"rust",
    "go": r"go(?:lang)?",
    "c": r"c(?:99|11|17)?(?![+#\w])",
    "cpp": r"c\+\+(?:\d\d)?|cpp",
}
_OTHERS = (
    r"java(?:script)?|typescript|ruby|php|swift|kotlin|haskell|scala|fortran|pascal|cobol|lua|julia"
    r"|elixir|erlang|c#|f#|zig|ocaml|lisp|clojure|scheme|prolog|matlab|r|dart|ada|bash|basic"
    r"|visual basic|assembly|assembler|objective-c|nim|crystal|brainfuck|vb\.net"
)
_THINGS = (
    r"functions?|programs?|scripts?|modules?|library|libraries|packages?|crates?|services?|servers?"
    r"|tools?|code|class(?:es)?|apis?|rest|cli|command|http|web|implementation|apps?|applications?"
)
# Short words are languages only where a language is expected: "in Go", "a Go function".
_IN = r"\b(?:in|using|with|en|auf|mit)\s+(?:the\s+)?(?:{})(?=$|[\s.,;:!?)`\"'])"
_A_THING = r"(?:^|\s)(?:{})[\s-]+(?:{})\b"
_CODE = (
    ("rust", re.compile(r"^\s*(?:pub )?fn \w+\s*[(<]", re.MULTILINE)),
    ("go", re.compile(r"^\s*func \w+\s*\(", re.MULTILINE)),
    ("python", re.compile(r"^\s*(?:async )?def \w+\s*\(", re.MULTILINE)),
    ("perl", re.compile(r"^\s*sub \w+\s*\{", re.MULTILINE)),
    ("cpp", re.compile(r"\bstd::|#include\s*<(?:iostream|vector|string)>")),
    ("c", re.compile(r"#include\s*<\w+\.h>")),
)
_KINDS: tuple[tuple[Kind, "re.Pattern[str]"], ...] = (
    (
        "service",
        re.compile(
            r"\b(?:rest(?:ful)?|http|web|json)[\s-]*(?:apis?|services?|servers?|endpoints?|backend)\b"
            r"|\b(?:web|micro)[\s-]?services?\b|\bendpoints?\b|\bapi\b.*\b(?:get|post|routes?)\b"
            r"|\brest\b|\bservice (?:that|which|for|to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "cli",
        re.compile(
            r"\bKommandozeile\w*|\bKonsolenprogramm|\bligne de commande\b|\bl[ií]nea de comandos\b"
            r"|\bcommand[\s-]?line\b|\bcli\b|\bconsole (?:program|tool|application)\b|\bterminal\b"
            r"|\b(?:standard input|stdin|stdout|standard output)\b"
            r"|\b(?:program|script|tool) (?:that|which|to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "library",
        re.compile(
            r"\b(?:library|module|package|crate|class|Bibliothek|Klasse|bibliothèque|biblioteca)\b",
            re.IGNORECASE,
        ),
    ),
)
_CHANNELS = {
    "stdin": re.compile(
        r"\bstandard input\b|\bstdin\b|\bpipe[sd]?\b|\breads? (?:its|the|some|text)? ?input\b"
        r"|\bfrom (?:its |the )?input\b|\blines? of (?:its |the )?input\b|\bStandardeingabe\b",
        re.IGNORECASE,
    ),
    "files": re.compile(r"\bfiles?\b|\bDatei", re.IGNORECASE),
    "options": re.compile(r"(?:^|\s)`?--?[a-z]|\boptions?\b|\bflags?\b|\bswitch", re.IGNORECASE),
    "args": re.compile(
        r"\barguments?\b|\bon (?:its|the) command[ -]line\b|\bparameters?\b|\bArgument"
        r"|\bauf der Kommandozeile\b|\bit is given\b",
        re.IGNORECASE,
    ),
}
_FUNCTION = re.compile(r"\bfunctions?\b|\bmethod\b|\bFunktion\b|\bfonction\b", re.IGNORECASE)
_DEFINED = re.compile(
    r"^[ \t]*(?:async )?(?:def|(?:pub )?fn|func|sub)[ \t]+(\w+)(?:[ \t]*[(<{][^\n]*)?", re.MULTILINE
)
_DEFINED_IN_C = re.compile(
    r"^[ \t]*[A-Za-z_][\w:<>,&* \t]{0,80}[ \t&*>]"
    r"(?!(?:if|for|while|switch|catch|return)\b)([A-Za-z_]\w*)[ \t]*\([^;{}()\n]{0,300}\)[ \t]*\{",
    re.MULTILINE,
)
_CALLED = (
    re.compile(r"\b(?:function|method)s?\s+(?:called|named)?\s*[`'\"]?([A-Za-z_]\w*)[`'\"]?\s*\("),
    re.compile(r"\b(?:called|named)\s+[`'\"]?([A-Za-z_]\w*)"),
    re.compile(r"`([A-Za-z_]\w*)\([^`]*\)"),
    re.compile(r"(?:^|\s)([a-z]\w*_\w+|[a-z]+[A-Z]\w*)\("),
    re.compile(
        r"\b(?:write|implement|create|make|need)\s+(?:an?\s+|the\s+)?([a-z_]\w*)\(", re.IGNORECASE
    ),
)
_HARM = re.compile(
    r"\b(?:ransomware|keylogger|rootkit|botnet|spyware|malware|computer virus|trojan horse"
    r"|credential stealer|password stealer|phishing|ddos|denial[- ]of[- ]service attack"
    r"|fork bomb|self[- ]replicating|crypto ?jack\w*)\b",
    re.IGNORECASE,
)
_DEFENCE = re.compile(
    r"\b(?:detects?|detection|detecting|prevent\w*|protect\w*|block\w*|scan\w*|defen[cs]e|"
    r"against|filter\w*|classif\w*|report\w*|recogni[sz]e\w*|avoid\w*)\b",
    re.IGNORECASE,
)


def language_in(text: str) -> str:
    """The language that a task names or is written in; empty where it says nothing."""
    for name, spelled in _NAMES.items():
        if _names(spelled, text):
            return name
    return next((name for name, code in _CODE if code.search(text)), "")


def foreign_language_in(text: str) -> str:
    """A language that a task names and that cannot be built; empty where there is none."""
    found = _names(_OTHERS, text)
    return found.strip() if found else ""


def spoken(language: str) -> str:
    """The name of a language as people write it."""
    return _SPOKEN.get(language, language.capitalize())


_ROUTE = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE)\s+/")
"""The pattern of a request such as `GET /notes`."""


def kind_in(text: str) -> Kind:
    """The kind of program that a task wants; a function, where nothing tells otherwise."""
    if _definitions(text):
        return "function"
    found = [(match.start(), kind) for kind, words in _KINDS if (match := words.search(text))]
    function = _FUNCTION.search(text)
    if function and all(function.start() < at for at, _ in found):
        return "function"
    plain: Kind = "service" if _ROUTE.search(text) else "function"
    return next((kind for kind, words in _KINDS if words.search(text)), plain)


def kind_is_told(text: str) -> bool:
    """Whether a task says by itself what kind of program it wants.

    Words of a service and of a command contradict each other: "a command that reads the log of a
    web server".
    """
    told = _definitions(text) or _FUNCTION.search(text) or entry_in(text) or _ROUTE.search(text)
    found = {kind for kind, words in _KINDS if words.search(text)}
    return bool(told or found) and not {"service", "cli"} <= found


def channels_in(text: str) -> frozenset[str]:
    """The kinds of input that a task's words give to a command: stdin, files, options, args."""
    found = {name for name, words in _CHANNELS.items() if words.search(text)}
    # A program that is given nothing else is given arguments.
    return frozenset(found or {"args"})


def entry_in(text: str) -> str:
    """The function that a task spells out: the last that it defines, else one that it names."""
    defined = _definitions(text)
    if defined:
        return defined[-1][1]
    return next((match[1] for words in _CALLED if (match := words.search(text))), "")


def signature_in(text: str, entry: str) -> str:
    """The line in a task that defines the function; empty where there is none."""
    lines = [m[0].strip() for m in _definitions(text) if m[1] == entry]
    return lines[-1] if lines else ""


def _definitions(text: str) -> list[re.Match[str]]:
    """The matches of lines that define functions, in their order."""
    found = [*_DEFINED.finditer(text), *_DEFINED_IN_C.finditer(text)]
    return sorted(found, key=re.Match.start)


def harm_in(text: str) -> str:
    """The word by which a task asks for a weapon; empty where it asks for none, or for defence."""
    found = _HARM.search(text)
    return found[0] if found and not _DEFENCE.search(text) else ""


def says_something(text: str) -> bool:
    """Whether there are at least two words in a task."""
    return len(re.findall(r"\w{2,}", text)) >= 2


def _names(spelled: str, text: str) -> str:
    for pattern in (_IN.format(spelled), _A_THING.format(spelled, _THINGS)):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            word = re.search(rf"\b(?:{spelled})", match[0], re.IGNORECASE)
            # "let it go function by function": a word so short is a name when it is written as one.
            if word and (len(word[0]) > 2 or word[0][0].isupper() or pattern.startswith(_IN[:6])):
                return word[0]
    return ""
