"""The languages that programs are written in: each is one entry here and one driver."""

from collections.abc import Mapping

from twinsmith.adapters.sandbox.languages.c import C
from twinsmith.adapters.sandbox.languages.cpp import CPP
from twinsmith.adapters.sandbox.languages.go import GO
from twinsmith.adapters.sandbox.languages.language import Language
from twinsmith.adapters.sandbox.languages.perl import PERL
from twinsmith.adapters.sandbox.languages.python import PYTHON
from twinsmith.adapters.sandbox.languages.rust import RUST

LANGUAGES: Mapping[str, Language] = {
    language.name: language for language in (PYTHON, PERL, RUST, GO, C, CPP)
}
