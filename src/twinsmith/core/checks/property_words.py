"""The properties that a task's words and names tell of a function, only where they leave no doubt.

One sentence has to match as a whole; where others follow, only a sorted result is read off.
"""

import re
from typing import Literal

Kind = Literal[
    "rises",
    "falls",
    "keeps items",
    "done once",
    "done once, in any order",
    "either order",
]
LONGEST_TEXT = 20_000

_GIVEN = r"(?:(?:an?|the|this|your|given|input|supplied|specified|whole|entire|unsorted) )*"
_NUMBERS = r"(?:integers?|ints|numbers?|floats)"
_THINGS = rf"(?:{_NUMBERS}|strings?|words|elements?|items?|values|characters?)"
_OF = rf"(?: of (?:(?:non-negative|positive|real|string|natural|any|python) )*{_THINGS})?"
_LIST = rf"{_GIVEN}(?:list|array|sequence|vector|slice){_OF}"
_TEXT = rf"{_GIVEN}(?:string|text|word|str)"
_ANY = rf"(?:{_LIST}|{_TEXT})"
_FROM = rf"(?:from|in|of) {_ANY}"
_SMALL, _BIG = r"(?:smallest|lowest)", r"(?:largest|highest|biggest)"
_UP = rf"(?:ascending|\bincreasing|non-?decreasing|{_SMALL} to (?:the )?{_BIG})"
_DOWN = rf"(?:descending|(?<!-)\bdecreasing|{_BIG} to (?:the )?{_SMALL})"
_ORDER = rf"(?: (?:in )?(?:the )?(?:order )?(?:from )?(?:the )?(?:{_UP}|{_DOWN})(?: order)?)?"
_HOW = r"(?: (?:by )?(?:using|with) (?:the )?\w+[ -]?sort(?: algorithm)?)?"
_KEY = r" (?:according to|based on|by|using the \w+ (?:value|item|element|field)\b)"
_REST = r"(?: (?!(?:and|then|until|using|while|only|without|degrees|\w*clockwise)\b)[\w'-]+)*"
_SPACE = r"(?:white ?spaces?|spaces|blanks)"
_REMOVE = r"(?:remove|delete|drop|filter out)s? (?:all |any |the )*"
_KIND = rf"(?:{_SPACE}|vowels|digits|punctuation|(?:odd|even|negative) numbers|zeroe?s)"
_FIND = r"(?:(?:return|find|compute|calculate|get)s? )?(?:an? |the )?"
_TWO = rf"{_GIVEN}two (?:given )?"
_COMMON = r"(?:greatest|highest|least|lowest) common (?:divisor|factor|multiple)"
_ONE_SIDED = (
    r"(?!.*\b(?:order|sorted|consecutive|first|second|sub\w+|contain\w*|prefix|suffix|divi\w+"
    r"|multiples?)\b)"
)

_WHOLE = re.compile(rf"sorts? {_LIST}{_ORDER}{_HOW}{_ORDER}")
_WORDS: dict[tuple[Kind, ...], tuple[str, ...]] = {
    ("keeps items",): (
        rf"sorts? {_GIVEN}(?:list|array|matrix)(?: of [\w-]{{1,20}})?{_ORDER}{_KEY}{_REST}",
    ),
    ("keeps items", "done once"): (
        rf"moves? all (?:the )?(?:zeroe?s|numbers) to the end of {_ANY}",
    ),
    ("done once, in any order",): (rf"{_REMOVE}(?:duplicates?|repeated)(?: {_THINGS})? {_FROM}",),
    ("done once",): (rf"{_REMOVE}{_KIND} {_FROM}",),
    ("either order",): (
        rf"{_FIND}(?:gcd|lcm|{_COMMON}) of {_TWO}[\w ]+",
        rf"{_FIND}(?:hamming|levenshtein|edit|manhattan) distance (?:between|of) {_TWO}[\w ]+",
        rf"(?:adds?|multiply|multiplies) {_TWO}{_NUMBERS}(?: \w and \w)?",
        rf"{_FIND}(?:sum|product|maximum|minimum) of {_TWO}{_NUMBERS}",
        rf"checks? (?:if|whether) {_TWO}\w+ (?:are|have|differ|share)\b{_ONE_SIDED}[\w -]*",
    ),
}
_RULES = [(kinds, re.compile("|".join(words))) for kinds, words in _WORDS.items()]
_SORTED = re.compile(
    r"\b(?:returns?|outputs?|gives?|into) (?:(?:an?|the|single|new) )*sorted "
    r"(?:list|array|tuple|unique|elements)\b"
)
_OTHERWISE_SORTED = re.compile(
    r"\b(?:by(?! using)|according|based|alphabet\w*|lexic\w*|(?<!of )length|key|absolute|reverse\w*"
    r"|strange|case|ignor\w*|comes?|before|after|followed|first|last|front|unless|except"
    r"|otherwise|depend\w*|alternat\w*|none|null|raises?|errors?|iterator|generator)\b|-1"
)
_NOT_THE_RESULT = re.compile(
    r"\b(?:each|whether|true|if|ind(?:ex|ices)|strings?|words?|only"
    r"|(?:list|array) of (?:\w+ ){0,2}(?:pairs|tuples|lists|dictionaries|records))\b"
)
_GIVES_NOTHING = r"\bin[ -]place\b|-> None\b|\bvoid {}\b"
_LEAD = re.compile(
    r"\A(?:.{0,60}?\bfunction\b.{0,60}? (?:to|that|which)|.{0,20}\byou (?:have|need) to) (?:that )?"
)

_INVERSES = {
    *(("encode", "decode"), ("encrypt", "decrypt"), ("compress", "decompress"), ("to", "from")),
    *(("serialize", "deserialize"), ("serialise", "deserialise"), ("escape", "unescape")),
    *(("quote", "unquote"), ("pack", "unpack"), ("marshal", "unmarshal")),
}
_IF_SAID = {("format", "parse"), ("stringify", "parse"), ("dump", "load"), ("dumps", "loads")}
_BACK = re.compile(r"\b(?:back|inverse|opposite|vice versa|round[ -]?trip)\b")
_LOSES = re.compile(
    r"\b(?:loss\w*|one-way|hash\w*|round(?:s|ed)?\b(?![ -]?trip)|truncat\w*|upper[ -]?case\w*"
    r"|lower[ -]?case\w*|ignor\w*|remov\w*|strip\w*|drops?)\b"
)


def named(text: str, entry: str) -> tuple[Kind, ...]:
    """The properties of a function that a task's words name."""
    text = text[:LONGEST_TEXT]
    if re.search(_GIVES_NOTHING.format(re.escape(entry)), text, re.IGNORECASE):
        return ()
    purpose, *more = _sentences(text, entry) or [""]
    order = _order(" ".join([purpose, *more]))
    if order and not more and _WHOLE.fullmatch(purpose):
        return (order, "keeps items", "done once")
    about_result = (each for each in (purpose, *more) if not _NOT_THE_RESULT.search(each))
    if order and any(map(_SORTED.search, about_result)):
        return (order,)
    return next((kinds for kinds, rule in _RULES if not more and rule.fullmatch(purpose)), ())


def undoes(there: str, back: str, text: str) -> bool:
    """Whether the second function's name says that it takes back all that the first does."""
    words = text[:LONGEST_TEXT].lower()
    if _LOSES.search(words):
        return False
    one, other = _parts(there), _parts(back)
    if len(one) == 3 and one[1] == "to" and one == other[::-1]:
        return _BACK.search(words) is not None
    changed = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    if len(one) != len(other) or len(changed) != 1:
        return False
    return changed[0] in _INVERSES or (changed[0] in _IF_SAID and _BACK.search(words) is not None)


def _parts(name: str) -> list[str]:
    """The words in a name: `to_roman`, `toRoman` and `ToRoman` have the same."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def _order(words: str) -> Literal["rises", "falls"] | None:
    """The direction in which words say that something is sorted; None where that is not clear."""
    up, down = re.search(_UP, words), re.search(_DOWN, words)
    if _OTHERWISE_SORTED.search(words) or (up and down):
        return None
    return "falls" if down else "rises"


def _sentences(text: str, entry: str) -> list[str]:
    """The sentences of a task, or of its docstring, without examples and the function's name."""
    name = re.escape(entry)
    docstring = re.search(rf"def {name}\b[^\"']*(\"\"\"|''')(.*?)(?:\1|\Z)", text, re.DOTALL)
    example = rf">>>|\bexamples?\b|\be\.g\.|\binput:|\b{name}\([^()]*\)`? *(?:[=➞→-]|\w+s\b)"
    told = docstring[2] if docstring else text
    told = re.split(example, told, maxsplit=1, flags=re.IGNORECASE)[0]
    plain = re.sub(r"https?://\S+|\([^()]*\)|[`*#/]", "", told).lower()
    parts = re.split(r"(?<=[.;!?]) |\bnote:", " ".join(plain.split()))
    parts = [_LEAD.sub("", part).strip(" .;:!?,") for part in parts]
    return [part for part in parts if part and not part.endswith(f"called {entry.lower()}")]
