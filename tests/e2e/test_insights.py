"""`twinsmith insights`: what was learned, as a person and as a program see it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

from tests.conftest import Command
from twinsmith.core.knowing.insight import Insight, Outcome
from twinsmith.flow.insights import record, tell_outcomes
from twinsmith.settings import load
from twinsmith.wiring.graph import FILE, opened_graph

FIX = Insight(
    text="open one sqlite3 connection\nfor each thread",
    kind="fix",
    language="python",
    run="20261115-101500-a3f9",
    learned="2026-11-15T10:15:00",
    error="ProgrammingError: SQLite objects created in a thread",
)
FOUR = replace(FIX, kind="counterexample", subject="f(2)", error="", text="f(2) gives 4")
FIVE = replace(FOUR, text="f(2) gives 5", run="20261115-111500-b3f9")


def learn(command: Command, learned: Sequence[Insight], outcomes: Sequence[Outcome] = ()) -> None:
    """What a build does."""

    async def main() -> None:
        async with opened_graph(
            load({"TWINSMITH_HOME": str(command.home), **command.env})
        ) as graph:
            (first, *_) = await record(graph, learned, task="an API")
            for outcome in outcomes:
                await tell_outcomes(graph, [first.key], outcome)

    asyncio.run(main())


def test_nothing_is_learned_yet(command: Command) -> None:
    assert command("insights").stdout.startswith("nothing learned yet; every build may add to it")
    assert json.loads(command("insights", "--json").stdout) == []
    assert not (command.home / "graph").exists()


def test_what_was_learned_is_shown_with_what_became_of_it(command: Command) -> None:
    outcomes = [Outcome(run=f"r{n}", helped=n != 1, at=f"{n}") for n in range(4)]
    learn(command, [FIX, FOUR], outcomes)
    learn(command, [FIVE])
    lines = command("insights").stdout.splitlines()
    assert " ".join(lines[0].split()) == "weight kind helped failed run what was learned"
    one_line = "open one sqlite3 connection for each thread"
    assert lines[1].split(maxsplit=5) == ["0.67", "fix", "3", "1", FIX.run, one_line]
    assert lines[2].split(maxsplit=5)[5] == FOUR.text
    assert lines[3].strip() == f"contradicts: {FIVE.text}"
    assert lines[5].strip() == f"contradicts: {FOUR.text}"
    assert len(command("insights", "-n", "1").stdout.splitlines()) == 2


def test_about_finds_by_words_and_by_the_names_of_errors(command: Command) -> None:
    learn(command, [FIX, FOUR])
    for about in ("ProgrammingError", "sqlite3 threads"):
        (found,) = json.loads(command("insights", "--about", about, "--json").stdout)
        assert (found["text"], found["run"], found["weight"]) == (FIX.text, FIX.run, 0.5)
    for about in ("kubernetes", "?!", "\udcff"):
        shown = command("insights", "--about", about).stdout
        assert shown == f"nothing learned about {about!r}\n"
    assert command("insights", "--language", "go").stdout == "nothing learned in 'go'\n"


def test_what_programs_printed_does_not_steer_the_terminal(command: Command) -> None:
    learn(command, [replace(FIX, text="\x1b[2Jgone\x07 \udcff " + "x" * 500)])
    line = command("insights").stdout.splitlines()[1]
    assert line.isprintable()
    # Nothing is cut where there is no terminal.
    assert line.endswith(" " + "x" * 500)


def test_no_key_is_kept(command: Command) -> None:
    command.env["MY_API_KEY"] = "correct-horse"
    learn(command, [replace(FIX, text="call it with correct-horse")])
    assert "call it with [masked]" in command("insights").stdout
    assert b"correct-horse" not in (command.home / "graph" / FILE).read_bytes()


def test_what_is_wrong_is_one_line(command: Command) -> None:
    assert "0 is too small" in command("insights", "-n", "0", code=2).stderr
    command.env["TWINSMITH_GRAPH_URL"] = "http://127.0.0.1"
    refused = command("insights", code=2).stderr
    assert "graph.url from TWINSMITH_GRAPH_URL starts with 'http'; it must start with" in refused
    command.env["TWINSMITH_GRAPH_URL"] = "bolt://127.0.0.1:9"
    away = command("insights", code=3).stderr
    assert "graph bolt://127.0.0.1:9 cannot be used" in away
    assert away.count("\n") == 1
    command.env.clear()
    (command.home / "graph").mkdir(parents=True)
    (command.home / "graph" / FILE).write_text("not a graph" * 1000)
    broken = command("insights", "--json", code=3).stdout
    assert "move it away" in json.loads(broken)["error"]


def test_a_password_in_the_file_is_refused(command: Command) -> None:
    command.home.mkdir()
    (command.home / "twinsmith.toml").write_text("[graph]\nurl = 'bolt://me:hunter22@h'\n")
    refused = command("insights", code=2).stderr
    assert "graph.url" in refused
    assert "set TWINSMITH_GRAPH_URL or NEO4J_PASSWORD" in refused
    assert "hunter22" not in refused
