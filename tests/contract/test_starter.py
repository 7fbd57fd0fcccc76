"""The knowledge that is shipped: its format, and every piece of code run against its check."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.sandboxes import LIMITS, needs, sandbox
from twinsmith.adapters.knowledge.starter import FOLDER, NOTE, TOPICS, Entry, entries, read
from twinsmith.adapters.sandbox.layers import ALLOWED
from twinsmith.core.execution import Limits
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Kind, Program

FILES = {f"{language}.md": language for language in ("c", "cpp", "go", "perl", "python", "rust")}
FILES["general.md"] = ""
FEWEST = 120
LONGEST_CODE = 45
AT_ONCE = 2
# Machines that test are busy: what is looked for is a wrong answer, not a slow one.
PATIENT: Limits = replace(LIMITS, probe_seconds=10.0, cpu_seconds=10.0)


def of(file: str) -> list[Entry]:
    return [entry for entry in entries() if entry.file == file]


def test_files_and_totals() -> None:
    found = Counter(entry.file for entry in entries())
    assert set(found) <= set(FILES)
    if set(found) == set(FILES):
        assert found.total() >= FEWEST, found


def test_every_entry_can_be_told_from_the_others() -> None:
    titles = Counter(entry.title.lower() for entry in entries())
    assert [title for title, times in titles.items() if times > 1] == []
    codes = Counter(entry.code for entry in entries() if entry.code)
    assert [code for code, times in codes.items() if times > 1] == []


@pytest.mark.parametrize("file", FILES)
def test_entries_are_small_and_belong_where_they_stand(file: str) -> None:
    for entry in of(file):
        assert entry.topic in TOPICS, entry.title
        assert len(entry.code.splitlines()) <= LONGEST_CODE, entry.title
        assert set(entry.requires) <= set(ALLOWED.values()), entry.title
        if entry.kind == NOTE:
            assert entry.check == "", entry.title
        else:
            assert entry.language == FILES[file], entry.title


@pytest.mark.parametrize("file", [file for file in FILES if (FOLDER / file).exists()])
async def test_every_code_does_what_its_check_says(file: str) -> None:
    runnable = [entry for entry in of(file) if entry.kind != NOTE]
    if not runnable:
        return
    needs(FILES[file])
    box = sandbox()
    free = asyncio.Semaphore(AT_ONCE)

    async def tried(entry: Entry) -> str:
        program = Program(
            source=entry.code,
            language=entry.language,
            kind=cast("Kind", entry.kind),
            requires=entry.requires,
        )
        probe = Probe(name=entry.title, origin="plan", source=entry.check)
        async with free:
            execution = await box.run(program, Probes(checks=(probe,)), PATIENT)
        if execution.problem:
            return f"{entry.title}: {execution.problem}"
        (result,) = execution.results
        if result.outcome == "passed":
            return ""
        said = f"{result.errors}{execution.log}"[-600:]
        return f"{entry.title}: {result.outcome}: {result.detail} {said}"

    told = await asyncio.gather(*map(tried, runnable))
    assert [line for line in told if line] == []


# The format

GOOD = """\
# For people

## Adding
topic: data · kind: function · requires: numpy, httpx

It adds.

```python
## not a title
def add(a, b):
    return a + b
```

```check
assert add(1, 2) == 3
```

## Saying
topic: design · kind: note

Say it.
"""


def test_an_entry_is_read_in_its_parts() -> None:
    adding, saying = read("python.md", GOOD)
    assert adding == Entry(
        file="python.md",
        title="Adding",
        topic="data",
        kind="function",
        requires=("numpy", "httpx"),
        prose="It adds.",
        language="python",
        code="## not a title\ndef add(a, b):\n    return a + b\n",
        check="assert add(1, 2) == 3\n",
    )
    assert (saying.title, saying.kind, saying.code, saying.check) == ("Saying", "note", "", "")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("topic: data · ", "", "the line under the title"),
        ("topic: data", "topic: cooking", "unknown topic 'cooking'"),
        ("kind: function", "kind: poem", "unknown kind 'poem'"),
        ("It adds.\n", "", "no prose"),
        ("```python", "```cobol", "language 'cobol'"),
        ("```python", "```go", "only Python requires packages"),
        ("```check", "```python", "more than one code block"),
        ("```check\nassert add(1, 2) == 3\n```\n", "", "no check"),
        ("kind: function", "kind: note", "a note has no check"),
        ("```\n\n```check", "```check", "more than one code block|not closed"),
    ],
)
def test_what_is_malformed_names_its_file_and_title(old: str, new: str, why: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=rf"^odd\.md: \w+: .*({why})"):
        read("odd.md", GOOD.replace(old, new, 1))


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text(GOOD)
    (tmp_path / "a.md").write_text(GOOD.replace("Adding", "More"))
    (tmp_path / "c.txt").write_text("no")
    assert [(e.file, e.title) for e in entries(tmp_path)] == [
        *(("a.md", "More"), ("a.md", "Saying"), ("b.md", "Adding"), ("b.md", "Saying"))
    ]
