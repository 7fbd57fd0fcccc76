"""Choosing the search for a question, by meaning or by words, and telling answers from noise."""

import math
import re

from twinsmith.core.knowing.knowledge import Channel

# Of the default embedder, fitted by bench/retrieval.py to 48 off-topic questions among 250 to
# 12,000 passages: about 95 of 100 of them stay below.
_FEW, _NOISE_OF_FEW, _NOISE_GROWS, _MOST_NOISE = 250, 0.28, 0.03, 0.40

# Names as programs write them, in a question or alone.
_NAME = re.compile(
    r"\w_\w|\b_\w+|::|\w\(\)|`|\$\w|->|[!=]=|#include\b|^def \w"
    r"|\b[A-Za-z_]\w+\.[A-Za-z_]\w"  # a dotted name; neither 3.11 nor e.g.
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*"
)
# They look like names of code, and stand in plain questions.
_PROPER = re.compile(
    r"\b(?:JavaScript|TypeScript|CoffeeScript|GitHub|GitLab|BitBucket|PostgreSQL|MySQL|SQLite"
    r"|MongoDB|MariaDB|DynamoDB|GraphQL|OpenAI|OpenAPI|OpenSSL|FastAPI|PyTorch|TensorFlow|NumPy"
    r"|SciPy|PyPI|WebSockets?|DevOps|YouTube|LinkedIn|WordPress|PowerShell|LaTeX|macOS|iOS|iPhone"
    r"|[Nn]ode\.js|[Nn]ext\.js|[Vv]ue\.js|ASP\.NET)\b"
)
# What compilers, linkers and interpreters say: its form, then phrases without one.
_SAID = re.compile(
    r"\b(?:error|warning|panic|exception)\b\s*[:\[(]|\b[A-Z]\w*(?:Error|Exception|Warning)\b"
    r"|\b[Ee]\d{3,4}\b|\bSIG[A-Z]{3,}\b|\[-W|\b0x[0-9a-fA-F]+\b|\bline \d+|:\d+:\d+"
    r"|(?<!\w)['\"\u2018]%?\w+['\"\u2019](?!\w)"
    r"|(?i:\btraceback\b|segmentation fault|core dumped|undefined reference|\bpanicked\b"
    r"|out of range|out of bounds|not a member of|has no attribute|is not defined"
    r"|before assignment|declared and not used|no matching function|mismatched types"
    r"|lifetime (?:specifier|parameter)|\buninitiali[sz]ed\b|moved value|after move"
    r"|already borrowed|borrow occurs|after[ -](?:free|scope)|buffer[ -]overflow|codec can't"
    r"|wide character|hash assignment|global symbol|stack smashing|double free|core dump"
    r"|no such file|not callable|unexpected (?:indent|token|keyword)|circular import)"
)


def channel_for(query: str) -> Channel:
    """The search for a question: by words for identifiers and error messages, else by meaning."""
    plain = _PROPER.sub(" ", query)
    return "lexical" if _NAME.search(plain) or _SAID.search(plain) else "dense"


def least_cosine(passages: int) -> float:
    """The similarity from which on a passage counts as an answer; it rises with their number."""
    noise = _NOISE_OF_FEW + _NOISE_GROWS * math.log(max(passages, _FEW) / _FEW)
    return min(noise, _MOST_NOISE)
