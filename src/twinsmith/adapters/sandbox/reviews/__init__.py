"""The review tools of each language."""

from collections.abc import Mapping

from twinsmith.adapters.sandbox.reviews.c import CPPCHECK_C, CPPCHECK_CPP, GCC, GXX
from twinsmith.adapters.sandbox.reviews.go import VET
from twinsmith.adapters.sandbox.reviews.perl import PERL_C, PERLCRITIC
from twinsmith.adapters.sandbox.reviews.python import BANDIT, RUFF
from twinsmith.adapters.sandbox.reviews.rust import CLIPPY
from twinsmith.adapters.sandbox.reviews.tool import Tool

REVIEWS: Mapping[str, tuple[Tool, ...]] = {
    "python": (RUFF, BANDIT),
    "perl": (PERL_C, PERLCRITIC),
    "rust": (CLIPPY,),
    "go": (VET,),
    "c": (GCC, CPPCHECK_C),
    "cpp": (GXX, CPPCHECK_CPP),
}
