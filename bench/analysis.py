"""The behaviour analysis on a long journal: events a second of processor time, and memory.

    .venv/bin/python -m bench.analysis [EVENTS] [FOLDER]

A journal of EVENTS sealed lines (10,000,000 unless told otherwise; 0.5 GB a million) is written to
FOLDER, or to a temporary one. Each way reads all of it in a process of its own, on one thread:

- twinsmith: every line's own hash is checked, all facts kept, and the view of models asked once;
- DuckDB alone: the files as they lie, one question (calls, tokens, seconds by model, version and
  role), nothing checked and nothing kept;
- a loop: `json` and a dictionary, the same question, on a tenth of the files.

What all three say of tokens has to be the same, or it ends with an error.
"""

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.journals import Levels, Plan, chains
from twinsmith.core.events import GENESIS

EVENTS = 10_000_000
GOAL = 100_000
WAYS = ("twinsmith", "DuckDB alone", "loop")
TENTH = 10
_HASH, _DIGEST = b',"hash":"', 64
_TAIL = len(_HASH) + _DIGEST + len('"}')


def main() -> None:
    """Write the journal, and print a line for each way."""
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2], Path(sys.argv[3]))
        return
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(temporary)
        lines, size = written(folder, events)
        print(f"{lines:,} events in {len(list(folder.glob('runs/*')))} chains, {size / 1e9:.2f} GB")
        told = [measured(way, folder) for way in WAYS]
    for way, each in zip(WAYS, told, strict=True):
        rate = each["events"] / each["cpu"]
        print(
            f"{way:<14}{each['events']:>12,.0f} events {each['cpu']:>7.1f} s of processor "
            f"{each['wall']:>7.1f} s {rate:>11,.0f} a second of processor "
            f"{each['peak']:>7,.0f} MB at most, {rate / GOAL:.2f} of the goal"
        )
    whole, alone, loop = (each["tokens"] for each in told)
    assert whole == alone, f"tokens differ: {whole} and {alone}"
    assert loop == told[2]["checked"], f"tokens of a tenth differ: {loop}"


def written(folder: Path, events: int) -> tuple[int, int]:
    """A journal of about so many lines; how many they are, and their bytes."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    shape = Levels()
    plan = Plan(shape=lambda _: shape, days=30, runs=10, seed=21, answers=24)
    made = [(name, [line.encode() for line in lines]) for name, lines in chains(plan)]
    count = size = 0
    for copy in range(sys.maxsize):
        for name, lines in made:
            text = b"".join(sealed_anew(name.encode(), f"{name}.{copy}".encode(), lines))
            (folder / "runs" / f"{name}.{copy}.jsonl").write_bytes(text)
            count, size = count + len(lines), size + len(text)
            if count >= events:
                return count, size
    raise AssertionError


def sealed_anew(old: bytes, new: bytes, lines: list[bytes]) -> Iterator[bytes]:
    """The lines of a run under another name, their hashes chained again."""
    before, last = GENESIS.encode(), GENESIS.encode()
    for line in lines:
        body = line[:-_TAIL].replace(b'"run":"' + old, b'"run":"' + new)
        body = body.replace(before, last) + b"}"
        before = line[-_DIGEST - 2 : -2]
        last = hashlib.sha256(body).hexdigest().encode()
        yield body[:-1] + _HASH + last + b'"}\n'


def measured(way: str, folder: Path) -> dict[str, float]:
    """What one way took and said, in a process of its own."""
    words = [sys.executable, "-m", "bench.analysis", "inside", way, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


def inside(way: str, folder: Path) -> None:
    """One way, and what it took."""
    began = time.perf_counter()
    found = {"twinsmith": by_twinsmith, "DuckDB alone": by_duckdb, "loop": by_loop}[way](folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            found
            | {
                "cpu": used.ru_utime + used.ru_stime,
                "wall": time.perf_counter() - began,
                "peak": used.ru_maxrss / 1024,
            }
        )
    )


def by_twinsmith(folder: Path) -> dict[str, float]:
    """As `twinsmith analyse models` does it."""
    from twinsmith.adapters.journal.file_blocks import file_blocks
    from twinsmith.analysis.changes import drifts_of
    from twinsmith.analysis.facts import Facts
    from twinsmith.analysis.figures import Only, rows, total, trusts

    facts = Facts(threads=1)
    facts.take(file_blocks(folder, {}))
    rows(facts, ("model", "version", "role"), Only())
    trusts(facts, Only())
    drifts_of(facts, "models", "")
    calls = total(facts, Only()).calls
    assert facts.read.altered == facts.read.torn == 0
    return {"events": facts.read.lines, "tokens": calls.tokens_in + calls.tokens_out}


ASKED = """SELECT sum(n), sum(tokens) FILTER (kind = 'model.replied') FROM (
  SELECT kind, data->>'model' AS model, data->>'version' AS version, data->>'role' AS role,
    count(*) AS n, sum((data->>'seconds')::DOUBLE) AS seconds,
    sum((data->>'tokens_in')::BIGINT + (data->>'tokens_out')::BIGINT)
      FILTER (NOT coalesce((data->>'cached')::BOOLEAN, false)) AS tokens
  FROM read_json($files, format = 'newline_delimited',
    columns = {"kind": 'VARCHAR', "data": 'JSON'})
  GROUP BY ALL)"""


def by_duckdb(folder: Path) -> dict[str, float]:
    """DuckDB on the files as they lie."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1, "memory_limit": "512MB"})
    found = connection.execute(ASKED, {"files": str(folder / "runs" / "*.jsonl")}).fetchone()
    assert found is not None
    return {"events": float(found[0]), "tokens": float(found[1])}


def by_loop(folder: Path) -> dict[str, float]:
    """Plain Python on a tenth of the files; DuckDB says afterwards whether it counted right."""
    files = sorted(folder.glob("runs/*.jsonl"))[::TENTH]
    events = tokens = 0
    seconds: Counter[tuple[str, str, str]] = Counter()
    for path in files:
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            events += 1
            data = entry["data"]
            if entry["kind"] == "model.replied":
                key = data["model"], data["version"], data["role"]
                seconds[key] += data["seconds"]
                tokens += (data["tokens_in"] + data["tokens_out"]) * (not data["cached"])
    import duckdb

    asked = duckdb.connect().execute(ASKED, {"files": [str(each) for each in files]}).fetchone()
    assert asked is not None
    return {"events": events, "tokens": tokens, "checked": float(asked[1])}


if __name__ == "__main__":
    main()
