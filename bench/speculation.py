"""Does guessing ahead pay? A draft model and prompt look-up, on fresh text and on refinement.

Refinement copies most of a file, which is what look-up is made for. Bare runtime, one answer at a
time and four at once; every figure beside the same runtime without guessing. Run with:
python -m bench.speculation
"""

import concurrent.futures
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from twinsmith.adapters.models import catalogue
from twinsmith.adapters.models.install import ModelStore
from twinsmith.settings import load

TOKENS = 160
FRESH = "Write a Python module with a class Matrix: add, multiply, transpose, determinant."
FILE = '''def parse(text):
    """Read key=value lines into a dictionary."""
    result = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        key, value = line.split("=")
        result[key.strip()] = value.strip()
    return result


def render(data):
    """Write a dictionary as key=value lines."""
    lines = []
    for key in sorted(data):
        lines.append(f"{key}={data[key]}")
    return "\\n".join(lines)
'''
REFINE = (
    f"This file fails on lines with two equals signs:\n```python\n{FILE}```\n"
    "Answer with the whole corrected file and nothing else."
)
CHILD = """
import sys
import xllamacpp as x
p = x.CommonParams()
p.model.path = sys.argv[1]
p.n_ctx, p.n_parallel, p.port, p.verbosity = 16384, 4, 0, 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 2
p.kv_unified = p.use_jinja = True
p.ui = False
kind = x.common_speculative_type
how = sys.argv[2]
if how == "draft":
    p.speculative.types = [kind.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
    p.speculative.draft.mparams.path = sys.argv[3]
    p.speculative.draft.cpuparams.n_threads = 2
    p.speculative.draft.cpuparams_batch.n_threads = 2
elif how == "look-up":
    p.speculative.types = [kind.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    p.speculative.ngram_simple.size_n, p.speculative.ngram_simple.size_m = 4, 12
server = x.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def answer(url: str, text: str, seed: int) -> int:
    body = {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": TOKENS,
        "seed": seed,
        "temperature": 0.2,
    }
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return int(json.load(reply)["usage"]["completion_tokens"])


def rate(url: str, text: str, at_once: int) -> float:
    answer(url, text, 99)  # the prompt is paid once, for every way
    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        tokens = sum(pool.map(lambda seed: answer(url, text, seed), range(at_once)))
    return tokens / (time.perf_counter() - began)


def figures(how: str, model: Path, draft: Path) -> dict[str, float]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(model), how, str(draft)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": "/usr/bin:/bin", "OMP_WAIT_POLICY": "passive"},
    )
    assert child.stdout is not None
    url = child.stdout.readline().strip()
    try:
        return {
            f"{name} x{at_once}": rate(url, text, at_once)
            for name, text in (("fresh", FRESH), ("refine", REFINE))
            for at_once in (1, 4)
        }
    finally:
        child.communicate("")


def main() -> None:
    store = ModelStore(load().models_folder)
    names = ("qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b")
    model, draft = (store.path(catalogue.find(name)) for name in names)
    if model is None or draft is None:
        raise SystemExit(f"install {' and '.join(names)} first: twinsmith models install NAME")
    rows = {how: figures(how, model, draft) for how in ("plain", "look-up", "draft")}
    print(f"tokens a second, {TOKENS} tokens an answer; in brackets: times plain")
    print(f"{'':<10}" + "".join(f"{column:>18}" for column in rows["plain"]))
    for how, row in rows.items():
        cells = (f"{v:10.1f} ({v / rows['plain'][k]:.2f})" for k, v in row.items())
        print(f"{how:<10}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
