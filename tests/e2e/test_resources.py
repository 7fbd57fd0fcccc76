"""Who uses what, what is let in, and what is cleaned away, through the real command."""

import json
import os
import time
from pathlib import Path

from tests.conftest import DOUBLE, PROFILE, RIGHT, Command, script, until
from tests.delivered import result

OLD_DAYS = 200


def aged(folder: Path) -> None:
    then = time.time() - OLD_DAYS * 86_400
    os.utime(folder, (then, then))


def test_what_is_old_is_told_and_then_removed_and_what_is_needed_stays(command: Command) -> None:
    command.use_script(script(code=(RIGHT, RIGHT)))
    over, young = (command("build", DOUBLE, "--json", code=None) for _ in range(2))
    assert over.returncode == young.returncode == 0
    done, fresh = command.runs()
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    command.env |= {"TWINSMITH_BUILD_QUESTIONS": "park", "TWINSMITH_BUILD_ANSWER_SECONDS": "172800"}
    command("build", DOUBLE, code=6)
    (waiting,) = {*command.runs()} - {done, fresh}
    folders = {run: command.home / "runs" / run for run in (done, fresh, waiting)}
    folders[waiting].mkdir(exist_ok=True)
    for run in (done, waiting):
        aged(folders[run])
    journal = {each: each.read_bytes() for each in (command.home / "journal").rglob("r*/*.jsonl")}
    told = command("resources", "clean", "--dry-run").stdout
    assert f"{done}: unused for {OLD_DAYS} days" in told
    assert fresh not in told
    assert waiting not in told
    assert "nothing was removed" in told
    refused = command("resources", "clean", code=2).stderr
    assert refused == (
        "twinsmith: nobody is here to be asked; give --yes, or --dry-run to only look\n"
    )
    assert all(each.exists() for each in folders.values())
    said = json.loads(command("resources", "clean", "--yes", "--json").stdout)
    assert [(each["kind"], each["name"]) for each in said["chosen"]] == [("run", done)]
    assert said["removed"]
    assert {run for run, each in folders.items() if each.exists()} == {fresh, waiting}
    # What happened in runs is still there, to the last byte.
    assert {each: each.read_bytes() for each in journal} == journal
    command("log", "--verify")
    assert "nothing to clean" in command("resources", "clean", "--yes").stdout


def test_resources_are_told_against_their_limits(command: Command) -> None:
    command.env["TWINSMITH_RESOURCES_APPS"] = "3"
    found = json.loads(command("resources", "--json").stdout)
    uses = {each["who"]: each for each in found["uses"]}
    assert uses["apps"]["slots"] == 0
    assert uses["apps"]["slots_limit"] == 3
    assert uses["a program in the sandbox"]["memory_limit"] == 512 << 20
    assert found["machine"]["memory_mb"] > 0
    assert found["lacks"] == ""
    assert "free:" in command("resources").stdout


def test_where_there_is_no_room_nothing_further_is_begun(command: Command, tmp_path: Path) -> None:
    command.use_script(script(code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_RESOURCES_FREE_MEMORY_MB"] = "100000000"
    lacks = "100000000 MB to spare (resources.free_memory_mb) are needed"
    assert lacks in command("resources").stdout
    refused = command("deploy", str(result(tmp_path / "v1")), "--name", "shop", code=3).stderr
    (line,) = [each for each in refused.splitlines() if each.startswith("twinsmith:")]
    assert line.startswith("twinsmith: app shop is not deployed: ")
    assert lacks in line
    run = command("build", DOUBLE, "--detach").stdout.strip()
    worker = command.start("worker")
    try:
        until(lambda: "run.waiting" in [each["kind"] for each in command.events(run)])
    finally:
        worker.terminate()
        said, _ = worker.communicate()
    assert lacks in said
    assert not (command.home / "scripted-bill.jsonl").exists()
    # With room again, the next worker sees it to its end.
    del command.env["TWINSMITH_RESOURCES_FREE_MEMORY_MB"]
    worker = command.start("worker")
    try:
        until(lambda: command.events(run)[-1]["kind"] == "run.ended")
    finally:
        worker.terminate()
        worker.communicate()
