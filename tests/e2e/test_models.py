"""Models as a person meets them: keys, servers, the embedded one, and what is left on disk."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, PROFILE, RIGHT, ROOT, SHORT, WRONG, Command, alive, until
from tests.models import FOLDER
from tests.wire import Turn, WireServer

KEY = "sk-planted-abcdefghijklmnop"


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as made:
        yield made


@pytest.fixture
def frontier(command: Command, server: WireServer) -> Command:
    """The command with a key for OpenAI, whose address is a server on the loopback."""
    command.env |= {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "TWINSMITH_MODELS_EMBEDDED": "",
        "TWINSMITH_MODELS_OLLAMA": "",
        **SHORT,
    }
    return command


# Coders and critics are asked at once and answered in the order of arrival: the task brings its own
# check, so that it does not matter what the critic gets.
EXAMPLE = f"{DOUBLE}\n>>> double(4)\n8"


def answers(*code: str) -> list[Turn]:
    return [Turn(text=json.dumps(PROFILE)), *(Turn(text=text) for text in code)]


def test_a_build_through_a_frontier_api_is_priced_and_journalled(
    frontier: Command, server: WireServer
) -> None:
    server.script(*answers(WRONG, RIGHT, RIGHT))
    done = json.loads(frontier("build", EXAMPLE, "--json").stdout)
    assert done["solved"]
    assert sorted(done["models"]) == ["openai:gpt-4o", "openai:gpt-4o-mini"]
    assert done["spent"]["usd"] > 0
    models = [request.model for request in server.requests]
    assert models[0] == "gpt-4o"
    assert models.count("gpt-4o-mini") >= 2
    replied = [e for e in frontier.events(done["run"]) if e["kind"] == "model.replied"]
    data = [event["data"] for event in replied]
    for call in data:
        assert isinstance(call, dict)
        assert call["ensemble"] in (1, 2)
        assert call["usd"] > 0
        assert call["first_token_seconds"] > 0
        assert (call["cached"], call["outcome"]) == (False, "replied")
        assert len(call["prompt_sha256"]) == 64


def test_the_key_is_nowhere_on_disk_or_screen(frontier: Command, server: WireServer) -> None:
    server.script(
        Turn(text=json.dumps({**PROFILE, "question": f"Use {KEY}?", "assumed": KEY})),
        Turn(text=f"I will not, {KEY}"),
        Turn(status=401, text=KEY),
    )
    server.default = Turn(status=401, text=KEY)
    shown = frontier("build", f"{DOUBLE} with {KEY}", code=None)
    log = frontier("log").stdout + frontier("doctor").stdout
    seen = shown.stdout + shown.stderr + log
    on_disk = [p for p in frontier.home.rglob("*") if p.is_file()]
    assert any("transcripts" in str(path) for path in on_disk)
    for path in on_disk:
        # What a model wrote is kept as it is, for replay and as cached answer.
        if "state.db" not in path.name and "cache" not in str(path):
            seen += path.read_bytes().decode(errors="replace")
    assert KEY not in seen


def test_a_provider_that_is_down_parks_the_run_and_nothing_is_asked_twice(
    frontier: Command, server: WireServer
) -> None:
    frontier.env["TWINSMITH_GATEWAY_RETRIES"] = "0"
    server.script(*answers())
    server.default = Turn(status=503)
    failed = frontier("build", EXAMPLE, code=3)
    assert "no model answers as c" in failed.stderr
    assert "503" in failed.stderr
    (run,) = frontier.runs()
    server.default = Turn(text=RIGHT)
    done = json.loads(frontier("resume", run, "--json").stdout)
    assert done["solved"]
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert sum(key.startswith(f"{run}/ask slow 0/") for key in keys) == 1


def test_an_answer_that_does_not_fit_its_schema_is_asked_for_again_and_billed(
    frontier: Command, server: WireServer
) -> None:
    server.script(Turn(text='{"wrong": 1}'), *answers(RIGHT, RIGHT))
    done = json.loads(frontier("build", EXAMPLE, "--json").stdout)
    assert done["solved"]
    assert len(server.requests) == 4
    assert done["spent"]["tokens"] == 4 * (7 + 5)
    assert "the profile's entry '' is not a name" in json.dumps(server.requests[1].body)


def test_a_call_in_flight_when_the_plug_is_pulled_is_asked_again_with_its_key(
    frontier: Command, server: WireServer
) -> None:
    server.script(*answers(), *[Turn(text=RIGHT, delay=20.0)] * 2)
    build = frontier.start("build", EXAMPLE)
    until(lambda: len(server.requests) == 3)
    build.kill()
    build.communicate()
    server.default = Turn(text=RIGHT)
    (run,) = frontier.runs()
    assert json.loads(frontier("resume", run, "--json").stdout)["solved"]
    keys = [request.headers["idempotency-key"] for request in server.requests]
    # The profile was answered and recorded: it is never asked for again.
    calls = [key.rpartition("/")[0] for key in keys]
    assert calls.count(f"{run}/ask slow 0") == 1
    in_flight = [f"{run}/ask {which}" for which in ("coder 0", "coder 1")]
    assert sorted(calls[1:]) == sorted(in_flight * 2)


def test_the_second_model_answers_when_the_first_cannot(
    frontier: Command, server: WireServer
) -> None:
    frontier.env |= {
        "TWINSMITH_ENSEMBLE_1_SLOW": "anthropic:claude-haiku-4-5, openai:gpt-4o",
        "TWINSMITH_ENSEMBLE_1_CODER": "server:missing,openai:gpt-4o-mini",
    }
    server.script(*answers(RIGHT, RIGHT))
    done = json.loads(frontier("build", EXAMPLE, "--json").stdout)
    assert sorted(done["models"]) == ["openai:gpt-4o", "openai:gpt-4o-mini"]
    replied = {e["key"]: e["data"] for e in frontier.events(done["run"])}
    assert "there is no key for it" in str(replied["model.replied:ask slow 0"])
    assert "models.server has no address" in str(replied["model.replied:ask coder 0"])


def test_money_is_not_overspent(frontier: Command, server: WireServer) -> None:
    server.default = Turn(text=json.dumps(PROFILE), tokens_in=100, tokens_out=100)
    done = frontier("build", DOUBLE, "--budget-usd", "0.0001", code=3)
    assert "it could cost" in done.stderr
    assert server.requests == []
    assert "is not an amount" in frontier("build", DOUBLE, "--budget-usd", "free", code=2).stderr
    assert "is not an amount" in frontier("build", DOUBLE, "--budget-usd", "-1", code=2).stderr


def test_a_local_server_is_used_without_a_key(command: Command, server: WireServer) -> None:
    server.default = Turn(text="42")
    command.env |= {
        "TWINSMITH_MODELS_SERVER": f"{server.url}/v1",
        "TWINSMITH_MODELS_SERVER_MODEL": "mine",
    }
    reply = json.loads(command("models", "ask", "critic", "6 by 7?", "--json").stdout)
    assert (reply["text"], reply["model"], reply["usd"]) == ("42", "server:mine", 0.0)
    again = json.loads(command("models", "ask", "critic", "6 by 7?", "--json").stdout)
    assert again["cached"]
    assert len(server.requests) == 1
    server.default = Turn(status=400)
    assert "400" in command("models", "ask", "critic", "7 by 7?", code=3).stderr
    told = [json.loads(line) for line in command("log", "system", "--json").stdout.splitlines()]
    assert [(e["kind"], e["data"]["role"]) for e in told] == [
        *[("model.replied", "critic"), ("model.replied", "critic"), ("model.failed", "critic")]
    ]
    assert [e["data"].get("cached") for e in told] == [False, True, None]
    rows = json.loads(command("doctor", "--json").stdout)["components"]
    why = {row["name"]: row["source"] for row in rows}
    assert why["ensemble 1 slow"] == "no key; models.server is set"


def test_a_lookup_of_best_practice_prefers_a_frontier_model(
    frontier: Command, server: WireServer
) -> None:
    server.default = Turn(text="hashed")
    frontier.env |= {
        "TWINSMITH_MODELS_SERVER": f"{server.url}/v1",
        "TWINSMITH_ENSEMBLE_2_CODER": "server:mine,openai:gpt-4o-mini",
    }
    ask = ["models", "ask", "coder", "How are passwords kept?", "--ensemble", "2", "--json"]
    assert json.loads(frontier(*ask).stdout)["model"] == "server:mine"
    looked_up = json.loads(frontier(*ask, "--purpose", "practice").stdout)
    assert looked_up["model"] == "openai:gpt-4o-mini"


def test_a_running_ollama_is_found(command: Command, server: WireServer) -> None:
    command.env |= {"TWINSMITH_MODELS_OLLAMA": server.url}
    rows = json.loads(command("doctor", "--json").stdout)["components"]
    value = {row["name"]: row["value"] for row in rows}
    assert value["ensemble 2 coder"].startswith("ollama:wire-model then embedded:")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["ask", "poet", "hi"], "role 'poet' is unknown; one of slow, coder, critic"),
        (["ask", "slow", " "], "the question is empty"),
        (["ask", "slow", "hi", "--ensemble", "3"], "ensemble '3' is unknown"),
        (["ask", "slow", "hi", "--purpose", "fun"], "purpose 'fun' is unknown; one of answer"),
        (["install", "gpt-4"], "gpt-4"),
        (["path", "../etc"], r"\.\./etc"),
        (["remove", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_one_line(command: Command, args: list[str], says: str) -> None:
    import re

    done = command("models", *args, code=2)
    assert done.stderr.count("\n") == 1
    assert re.search(says, done.stderr)


def test_an_unknown_model_in_settings_is_refused(command: Command) -> None:
    command.env["TWINSMITH_ENSEMBLE_1_SLOW"] = "opnai:gpt-4o"
    assert "did you mean 'openai'" in command("build", DOUBLE, code=2).stderr
    command.env["TWINSMITH_ENSEMBLE_1_SLOW"] = "embedded:qwen9"
    assert "qwen9" in command("build", DOUBLE, code=2).stderr
    command.env["TWINSMITH_ENSEMBLE_1_SLOW"] = "embedded:minilm-l6-v2"
    assert "cannot answer questions" in command("build", DOUBLE, code=2).stderr


def test_models_for_the_knowledge_base_are_listed_and_never_asked(command: Command) -> None:
    rows = json.loads(command("models", "list", "--json").stdout)
    kinds = {row["name"]: row["kind"] for row in rows}
    assert kinds["minilm-l6-v2"] == kinds["minilm-l6-v2-tokenizer"] == "embedding"
    assert kinds["smollm2-135m"] == "language"
    assert "minilm-l6-v2-tokenizer     1 MB  Apache-2.0" in command("models", "list").stdout
    command.env["TWINSMITH_MODELS_EMBEDDED"] = "minilm-l6-v2"
    refused = command("models", "ask", "slow", "hi", code=2).stderr
    assert "'minilm-l6-v2' is for the knowledge base" in refused
    assert refused.count("\n") == 1


def test_install_path_remove(command: Command, smollm: Path) -> None:
    assert "not installed" in command("models", "path", "smollm2-135m", code=1).stderr
    shown = command("models", "install", "smollm2-135m").stdout
    assert "98 MB, licence Apache-2.0" in shown
    assert "100 %" in shown
    path = Path(command("models", "path", "smollm2-135m").stdout.strip())
    assert path == command.home / "models" / "smollm2-135m" / smollm.name
    assert path.read_bytes() == smollm.read_bytes()
    rows = json.loads(command("models", "list", "--json").stdout)
    assert {row["name"] for row in rows if row["installed"]} == {"smollm2-135m"}
    command("models", "remove", "smollm2-135m")
    assert not path.exists()


def test_without_key_or_model_a_build_installs_one_after_saying_so(command: Command) -> None:
    command.env |= {"TWINSMITH_MODELS_EMBEDDED": "smollm2-135m", "TWINSMITH_MODELS_OLLAMA": ""}
    command.env |= {**SHORT, "TWINSMITH_GATEWAY_REPLY_TOKENS": "64"}
    shown = command("build", DOUBLE, code=None)
    assert shown.returncode in (0, 1), shown.stderr
    first = shown.stdout.splitlines()[0]
    assert first.startswith("installing SmolLM2")
    assert "98 MB, licence Apache-2.0" in first
    assert "models: embedded:smollm2-135m" in shown.stdout


def test_the_embedded_server_dies_with_a_killed_build(command: Command, smollm: Path) -> None:
    target = command.home / "models" / "smollm2-135m" / smollm.name
    target.parent.mkdir(parents=True)
    shutil.copyfile(smollm, target)
    command.env |= {"TWINSMITH_MODELS_EMBEDDED": "smollm2-135m", "TWINSMITH_MODELS_OLLAMA": ""}
    command.env |= SHORT
    build = command.start("build", DOUBLE)

    def children() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                parent = (path.parent / "stat").read_text().rpartition(")")[2].split()[1]
                if b"embedded_child" in path.read_bytes() and parent == str(build.pid):
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    until(lambda: bool(children()))
    (child,) = children()
    build.kill()
    build.communicate()
    until(lambda: not alive(child))


@pytest.mark.xdist_group("large model")
def test_the_real_model_writes_a_program_that_passes(command: Command, qwen: Path) -> None:
    """The story of the product: one sentence, no key, the embedded 1.5B model, a tested program."""
    command.env |= {"TWINSMITH_MODELS_FOLDER": str(FOLDER), "TWINSMITH_MODELS_OLLAMA": ""}
    task = (
        "Write a Python function roman(n) that turns a whole number from 1 to 3999 "
        "into a Roman numeral"
    )
    checks = str(ROOT / "examples" / "roman_checks.py")
    done = json.loads(command("build", task, "--tests", checks, "--seed", "0", "--json").stdout)
    assert done["solved"]
    assert done["models"] == ["embedded:qwen2.5-coder-1.5b"]
    assert (done["spent"]["usd"], done["spent"]["unpriced"]) == (0.0, 0)
    assert qwen.stat().st_size == 1117320768
