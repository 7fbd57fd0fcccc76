"""Every hostile program by language and by what it is after."""

from tests.hostile import (
    attacks_c,
    attacks_cpp,
    attacks_go,
    attacks_perl,
    attacks_python,
    attacks_rust,
)

_SOURCES = {
    "python": attacks_python,
    "perl": attacks_perl,
    "rust": attacks_rust,
    "go": attacks_go,
    "c": attacks_c,
    "cpp": attacks_cpp,
}
BOMBS: dict[str, str] = {name: source.BOMBS for name, source in _SOURCES.items()}
CALLS: dict[str, str] = {name: source.CALLS for name, source in _SOURCES.items()}
REACH: dict[str, str] = {name: source.REACH for name, source in _SOURCES.items()}
FORGERY: dict[str, str] = {name: source.FORGERY for name, source in _SOURCES.items()}
