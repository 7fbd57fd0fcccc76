"""Known secrets, and every spelling in which they may turn up.

A value is looked for as it is, and as base64 at every alignment (alone, or between other bytes, as
in `user:secret`), base32, hexadecimal, percent-encoded, escaped as in JSON, HTML or a shell, and
wrapped over lines. A value too short or too ordinary to be looked for everywhere is masked only
where a secret stands; a short one of mixed characters (`pw7!`) also where it is a word by itself.
"""

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.entities import codepoint2name
from urllib.parse import unquote

from twinsmith.core.sensitive.places import Place, found
from twinsmith.core.sensitive.plausible import is_placeholder

SHORTEST = 6
_SHORTEST_NUMBER = 9
_SHORTEST_MIXED = 4
_SHORTEST_LINE = 20
_SHORTEST_WRAPPED = 16
_SHORTEST_CUT = 8
_LONGEST_PIECE = 160
_ROUNDS = 3

# Passwords that are words of any text: masking them everywhere would hide nothing and spoil much.
_WORDS_TEXT = (
    "administrator changeme default development docker dummy elastic example grafana "
    "guest letmein localhost mariadb minioadmin mongodb ollama oracle password postgres "
    "postgresql private public python rabbitmq redis secret sqlite sqlserver testing "
    "token twinsmith unused username welcome "
)
_WORDS = frozenset(_WORDS_TEXT.split())
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt])|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_BREAK = re.compile(r"[\r\n]+[ \t]*")
_GAP = r"(?:(?:\\+[rn]|[\r\n]|\\+x0[aAdD]|%(?:25)*0[aAdD]|&#1[03];)+(?:[ \t]|%(?:25)*20)*)?"
_RUN = r"(?:[A-Za-z0-9+/_=\-]|%2[bBfF]|%3[dD]|\\+/)*"
_PAIRS = re.compile(r"(?:[0-9a-fA-F]{2}[: \-]){5,}[0-9a-fA-F]{2}")
_PAIR_GAP = re.compile(r"[: \-]")
_BESIDE = (
    r"(?i:pass|pwd|(?<![a-z])pw(?![a-z0-9])|pin|secret|token|key|auth|cred)[\w.\-]*[\"'`\])]{0,3}\s*"
    r"(?:=>|:=|=+|:|\bis\b|\s)\s*[\"'`(]{0,3}(?P<a>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The secrets of this machine, prepared for the search."""

    plain: tuple[str, ...] = ()
    encoded: tuple[str, ...] = ()
    caseless: tuple[str, ...] = ()
    beside: re.Pattern[str] | None = None
    shortest: int = 0

    def places(self, text: str) -> Iterator[Place]:
        """The places of known secrets in a text, however they are spelled."""
        yield from self.unmistakable(text)
        if self.beside is not None:
            for match in self.beside.finditer(text):
                yield match.span(match.lastgroup or 0)

    def unmistakable(self, text: str) -> Iterator[Place]:
        """The places of known secrets that are neither short nor ordinary words."""
        if not self.plain and not self.encoded:
            return
        decoded = _decoded(text)
        joined = _BREAK.sub("", decoded) if "\n" in decoded or "\r" in decoded else decoded
        for form in self.plain:
            seen = joined if len(form) >= _SHORTEST_WRAPPED else decoded
            yield from _spelled(text, seen, form, around="")
            yield from _cut(text, form)
        # What is encoded has no spaces in it, and most words of a text are shorter.
        words = " ".join(word for word in joined.split() if len(word) >= self.shortest)
        for form in self.encoded:
            if form in words:
                yield from _spelled(text, joined, form, around=_RUN)
        yield from self._in_any_case(text, words.lower())

    def _in_any_case(self, text: str, words: str) -> Iterator[Place]:
        pairs = [
            (match.span(), _PAIR_GAP.sub("", match[0].lower())) for match in _PAIRS.finditer(text)
        ]
        for form in self.caseless:
            if form in words:
                yield from (match.span() for match in _caseless(form).finditer(text))
            yield from (place for place, digits in pairs if form in digits)


NOTHING = Known()


def known_values(values: Iterable[str], ordinary: Iterable[str] = ()) -> Known:
    """Secrets prepared for the search; `ordinary` are strings that honest texts have as well."""
    given = {value.strip() for value in values} - {""}
    words = _WORDS | {word.lower() for word in ordinary}
    guarded = {value for value in given if _is_ordinary(value, words)}
    anywhere = given - guarded
    data = [value.encode(errors="surrogateescape") for value in anywhere]
    data += [f":{value}".encode(errors="surrogateescape") for value in guarded if len(value) > 3]
    encoded = _prepared(form for each in data for form in _base64_forms(each))
    caseless = _prepared(form for each in data for form in _caseless_forms(each))
    return Known(
        plain=_prepared(form for value in anywhere for form in _plain_forms(value)),
        encoded=encoded,
        caseless=caseless,
        beside=_beside(guarded),
        shortest=min(map(len, (*encoded, *caseless)), default=0),
    )


def _is_ordinary(value: str, words: frozenset[str]) -> bool:
    if len(value) < SHORTEST or value.lower() in words:
        return True
    return value.isdigit() and len(value) < _SHORTEST_NUMBER


def _is_mixed(value: str) -> bool:
    """Whether a short value is no word and no number, so that honest texts hardly have it."""
    kinds = (str.isalpha, str.isdigit, lambda character: not character.isalnum())
    short = _SHORTEST_MIXED <= len(value) < SHORTEST
    return short and sum(any(map(kind, value)) for kind in kinds) > 1


def _is_code(value: str) -> bool:
    """Whether a value reads as a variable of a program: `password=password`."""
    return value.isalpha() and is_placeholder(value)


def _beside(guarded: set[str]) -> re.Pattern[str] | None:
    """A pattern for short and ordinary secrets: behind a telling name, in an address."""
    if not guarded:
        return None
    choice = "|".join(map(re.escape, _prepared(guarded)))
    named = "|".join(re.escape(v) for v in _prepared(guarded) if not _is_code(v)) or "(?!)"
    mixed = "|".join(re.escape(v) for v in _prepared(guarded) if _is_mixed(v)) or "(?!)"
    return re.compile(
        rf"{_BESIDE}{named})(?!\w)|://[^\s:/@]*:(?P<b>{choice})@|\s-p(?P<c>{named})(?!\w)"
        rf"|(?<![\w+/\-])(?P<d>{mixed})(?![\w+/\-])"
    )


def _plain_forms(value: str) -> Iterator[str]:
    """The spellings of a value in plain text: in shells, on web pages, line by line."""
    whole = _BREAK.sub("", _decoded(value)) if "\n" in value or "\\n" in value else value
    yield value
    yield whole
    yield whole.replace(" ", "+")
    # A shell's way with its own quotation mark, and bytes that were taken for letters.
    yield whole.replace("'", "'\"'\"'")
    yield whole.replace("'", r"'\''")
    yield whole.encode(errors="surrogateescape").decode("latin-1")
    for line in re.split(r"\r?\n|\\n", value):
        if len(line.strip()) >= _SHORTEST_LINE and not line.lstrip().startswith("-----"):
            yield line.strip()


def _caseless_forms(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield from (form.lower() for form in _cores(data, 5, base64.b32encode))


def _base64_forms(data: bytes) -> Iterator[str]:
    again = base64.b64encode(data).rstrip(b"=")
    wide = data.decode(errors="replace").encode("utf-16-le")
    for each in (data, again, wide):
        for core in _cores(each, 6, base64.b64encode):
            yield core
            yield core.translate(str.maketrans("+/", "-_"))


def _cores(data: bytes, bits: int, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """The parts of base64 or base32 that data always has in common, wherever it begins."""
    group = {6: 3, 5: 5}[bits]
    for shift in range(group):
        whole = encode(bytes(shift) + data + bytes(group)).decode()
        core = whole[-(-shift * 8 // bits) : (shift + len(data)) * 8 // bits]
        if len(core) >= SHORTEST:
            yield core


def _decoded(text: str) -> str:
    """A text as it was before it was escaped, once or several times."""
    for _ in range(_ROUNDS):
        before = text
        if "%" in text:
            text = unquote(text)
        if "\\" in text:
            text = _ESCAPE.sub(_unescaped, text)
        if "&" in text:
            text = html.unescape(text)
        if text == before:
            break
    return text


def _unescaped(match: re.Match[str]) -> str:
    four, two, control, other = match.groups()
    if four or two:
        return chr(int(four or two, 16))
    return _CONTROLS[control] if control else str(other)


def _spelled(text: str, decoded: str, form: str, *, around: str) -> Iterator[Place]:
    """The places where a spelling stands in a text, escaped or not."""
    if form in text:
        if around:
            yield from (match.span() for match in _pattern(form, around).finditer(text))
        else:
            yield from found(text, form)
    if decoded is text:
        return
    plain = _decoded(form)
    if plain not in decoded or decoded.count(plain) <= text.count(form):
        return
    places = [
        match.span()
        for wanted in {form, plain}
        for match in _pattern(wanted, around).finditer(text)
    ]
    # It is in there, in a spelling that cannot be pointed at: nothing of the text is kept.
    yield from places or [(0, len(text))]


@lru_cache(maxsize=512)
def _pattern(form: str, around: str) -> re.Pattern[str]:
    """A pattern for a spelling, with every character escaped in any usual way."""
    return re.compile(around + _GAP.join(map(_any_spelling, form)) + around)


@lru_cache(maxsize=512)
def _caseless(form: str) -> re.Pattern[str]:
    """A pattern for a spelling in large or small letters, wrapped over lines or not."""
    return re.compile(_GAP.join(form), re.IGNORECASE)


def _any_spelling(character: str) -> str:
    number = ord(character)
    data = character.encode(errors="surrogateescape")
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in data)
    wide = character.encode("utf-16-be", errors="surrogatepass").hex()
    units = "".join(rf"\\+u{wide[at : at + 4]}" for at in range(0, len(wide), 4))
    choices = [
        rf"\\*{re.escape(character)}",
        f"(?i:{percent}|{units}|&#0*{number};|&#x0*{number:x};)",
    ]
    if number < 256:
        choices.append(rf"(?i:\\+x{number:02x})")
    if number in codepoint2name:
        choices.append(f"&{codepoint2name[number]};")
    choices += {"\n": [r"\\+n"], "\r": [r"\\+r"], "\t": [r"\\+t"], "'": ["&apos;"]}.get(
        character, []
    )
    return f"(?:{'|'.join(choices)})"


def _cut(text: str, form: str) -> Iterator[Place]:
    """The place of a secret's beginning at the end of a text that was cut there."""
    least = max(_SHORTEST_CUT, len(form) // 3)
    begin = text.rfind(form[:least], max(0, len(text) - len(form) + 1))
    if begin >= 0 and form.startswith(text[begin:]):
        yield begin, len(text)


def _prepared(forms: Iterable[str]) -> tuple[str, ...]:
    """The spellings to search for, longest first; very long ones in pieces."""
    pieces = {piece for form in forms for piece in _pieces(form)}
    return tuple(sorted(pieces, key=lambda piece: (-len(piece), piece)))


def _pieces(form: str) -> Iterator[str]:
    count = -(-len(form) // _LONGEST_PIECE)
    size = -(-len(form) // count) if count else 0
    for at in range(0, len(form), size or 1):
        yield form[at : at + size]
