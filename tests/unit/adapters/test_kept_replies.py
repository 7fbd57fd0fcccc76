"""What is kept of questions and answers: the cache, transcripts, recordings."""

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.models.recorded import RecordedModel, RecordingModel
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.scripted import Script, ScriptedModel, ScriptedReply
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.errors import ConfigError, ModelUnavailable
from twinsmith.core.masking import Masking
from twinsmith.core.model import Prompt, Reply

PROMPT = Prompt(key="k", role="slow", nth=0, text="q", task="t", seed=1, max_tokens=100)


def reply(text: str) -> Reply:
    return Reply(text=text, model="m", tokens_in=1, tokens_out=2, failed_attempts=("x",))


def test_the_cache_keeps_the_most_recently_used_up_to_its_size(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c.db", 3000)
    for n in range(10):
        cache.put(f"k{n}", reply("x" * 500), "c")
        assert cache.get("k0"), n
    assert cache.get("k1") is None
    assert cache.get("k9") is not None
    assert cache.figures().bytes <= 3000
    cache.close()
    reopened = ReplyCache(tmp_path / "c.db", 3000)
    assert reopened.get("k0") is not None
    assert reopened.figures().hits > 10
    reopened.close()


def test_a_cached_reply_costs_nothing(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c.db", 3000)
    cache.put("k", reply("x"), "c")
    found = cache.get("k")
    assert found is not None
    assert (found.cached, found.tokens, found.usd, found.failed_attempts) == (True, 0, 0.0, ())
    cache.close()


def test_who_paid_gets_the_answer_as_it_was_and_others_get_it_for_nothing(tmp_path: Path) -> None:
    paid = replace(reply("x"), usd=0.25, first_token_seconds=0.5)
    cache = ReplyCache(tmp_path / "c.db", 3000)
    cache.put("k", paid, "one")
    cache.put("k", paid, "two")
    cache.close()
    reopened = ReplyCache(tmp_path / "c.db", 3000)
    assert reopened.paid("k", "one") == reopened.paid("k", "two") == paid
    assert reopened.paid("k", "three") is None
    assert reopened.paid("other", "one") is None
    found = reopened.get("k")
    assert found is not None
    assert found.cached
    reopened.close()


def test_who_paid_is_forgotten_with_the_answer(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c.db", 3000)
    for n in range(30):
        cache.put(f"k{n}", reply("x" * 500), f"call {n}")
    with closing(sqlite3.connect(tmp_path / "c.db")) as seen:
        counts = [
            seen.execute(f"SELECT count(*) FROM {t}").fetchone() for t in ("replies", "payers")
        ]
    assert counts[0] == counts[1]
    assert cache.paid("k0", "call 0") is None
    cache.close()


def test_a_cache_of_an_earlier_release_is_used_on(tmp_path: Path) -> None:
    kept = json.dumps(asdict(reply("old")))
    with closing(sqlite3.connect(tmp_path / "c.db")) as old:
        old.execute(
            "CREATE TABLE replies(key TEXT PRIMARY KEY, reply TEXT NOT NULL, "
            "size INTEGER NOT NULL, used INTEGER NOT NULL)"
        )
        old.execute("INSERT INTO replies VALUES ('k', ?, ?, 1)", (kept, len(kept)))
        old.commit()
    cache = ReplyCache(tmp_path / "c.db", 3000)
    found = cache.get("k")
    assert found is not None
    assert (found.text, found.cached) == ("old", True)
    assert cache.paid("k", "") is None
    cache.put("new", reply("x"), "c")
    assert cache.paid("new", "c") == reply("x")
    cache.close()


def test_what_stands_behind_a_name_is_remembered(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c.db", 3000)
    assert cache.version("openai:m") == ""
    cache.note_version("openai:m", "m-2026-01")
    cache.note_version("openai:m", "m-2026-02")
    cache.close()
    reopened = ReplyCache(tmp_path / "c.db", 3000)
    assert reopened.version("openai:m") == "m-2026-02"
    assert reopened.version("openai:n") == ""
    reopened.close()


def test_no_bytes_no_cache(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c.db", 0)
    cache.put("k", reply("x"), "c")
    assert cache.get("k") is None
    assert cache.figures().entries == 0
    cache.close()
    assert not (tmp_path / "c.db").exists()


def test_transcripts_go_after_their_days(tmp_path: Path) -> None:
    clock = ManualClock()
    said = Transcripts(tmp_path, 2, clock)
    for _ in range(5):
        said.keep(PROMPT, reply("a"))
        clock.advance(86400)
    said.prune()
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2026-01-04", "2026-01-05"]
    Transcripts(tmp_path / "none", 0, clock).keep(PROMPT, reply("a"))
    assert not (tmp_path / "none").exists()


async def test_a_recording_plays_back_without_its_model_and_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    script = Script(name="s", replies=(ScriptedReply(role="slow", text="the swordfish-42 plan"),))
    recording = RecordingModel(ScriptedModel(script), path, Masking(secrets=("swordfish-42",)))
    said = await recording.ask(PROMPT)
    assert "swordfish" not in path.read_text()
    model = RecordedModel(path)
    played = await model.ask(PROMPT)
    assert played.text == said.text.replace("swordfish-42", "[masked]")
    model.assert_played()
    with pytest.raises(ModelUnavailable, match="has no answer to 'k'; record it anew"):
        await model.ask(PROMPT)


async def test_a_recording_that_was_not_played_fails_the_test(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    script = Script(name="s", replies=(ScriptedReply(role="slow", text="a"),))
    await RecordingModel(ScriptedModel(script), path).ask(PROMPT)
    with pytest.raises(AssertionError, match=r"1 exchanges of .* were never played"):
        RecordedModel(path).assert_played()


@pytest.mark.parametrize("text", [None, "{", '{"key": "x"}', '{"key": "x", "reply": {}}'])
def test_a_recording_that_cannot_be_read_is_refused(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "r.jsonl"
    if text is not None:
        path.write_text(text + "\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        RecordedModel(path)
