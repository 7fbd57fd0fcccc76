"""What the scripted model does besides the contract: scripts, bills, and refusing strangers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from twinsmith.adapters.models.scripted import Script, ScriptedModel, ScriptedReply, read_script
from twinsmith.core.budget import tokens_in
from twinsmith.core.errors import ConfigError, ModelUnavailable
from twinsmith.core.model import Prompt

SCRIPT = Script(
    name="s",
    replies=(
        ScriptedReply(role="coder", text="one " * 50),
        ScriptedReply(role="slow", text="plan"),
        ScriptedReply(role="coder", text="two"),
        ScriptedReply(role="coder", error="rate limit"),
    ),
)


def prompt(nth: int = 0, *, key: str = "k", max_tokens: int = 1000, task: str = "t") -> Prompt:
    return Prompt(
        key=key, role="coder", nth=nth, text="12345", task=task, seed=1, max_tokens=max_tokens
    )


async def test_a_reply_names_its_model_and_counts_both_ways() -> None:
    reply = await ScriptedModel(SCRIPT).ask(prompt(1))
    assert (reply.text, reply.model) == ("two", "scripted:s")
    assert (reply.tokens_in, reply.tokens_out, reply.tokens) == (2, 1, 3)


async def test_a_reply_never_exceeds_max_tokens() -> None:
    reply = await ScriptedModel(SCRIPT).ask(prompt(0, max_tokens=5))
    assert reply.tokens_out == tokens_in(reply.text) == 5
    assert reply.cut
    assert not (await ScriptedModel(SCRIPT).ask(prompt(1))).cut


async def test_nobody_to_answer_is_said_with_what_to_do() -> None:
    model = ScriptedModel(SCRIPT)
    with pytest.raises(ModelUnavailable, match="rate limit"):
        await model.ask(prompt(2))
    with pytest.raises(ModelUnavailable, match="has 3 replies for role 'coder', number 4"):
        await model.ask(prompt(3))


async def test_the_same_key_is_billed_once_across_processes(tmp_path: Path) -> None:
    bill = tmp_path / "bill.jsonl"
    first = await ScriptedModel(SCRIPT, bill).ask(prompt(0, key="a"))
    again = await ScriptedModel(SCRIPT, bill).ask(prompt(0, key="a"))
    await ScriptedModel(SCRIPT, bill).ask(prompt(1, key="b"))
    assert first == again
    assert [json.loads(line)["key"] for line in bill.read_text().splitlines()] == ["a", "b"]


async def test_an_error_is_not_billed(tmp_path: Path) -> None:
    bill = tmp_path / "bill.jsonl"
    with pytest.raises(ModelUnavailable):
        await ScriptedModel(SCRIPT, bill).ask(prompt(2))
    assert not bill.exists()


async def test_a_script_for_one_task_refuses_others() -> None:
    model = ScriptedModel(replace(SCRIPT, task="the one"))
    with pytest.raises(ModelUnavailable, match="knows one task only: 'the one'"):
        await model.ask(prompt(0))


async def test_a_reply_that_knows_when_answers_every_such_question_of_its_role() -> None:
    fitting = ScriptedReply(role="coder", text="by words", when="234")
    others = (
        ScriptedReply(role="slow", text="not mine", when="1"),
        ScriptedReply(role="coder", text="never", when="no such words"),
    )
    model = ScriptedModel(replace(SCRIPT, replies=(*SCRIPT.replies, *others, fitting)))
    for nth in (0, 1, 7):
        assert (await model.ask(prompt(nth))).text == "by words"
    # The others are counted as if it were not there.
    other = replace(prompt(1), text="another question")
    assert (await model.ask(other)).text == "two"
    with pytest.raises(ModelUnavailable, match="has 3 replies for role 'coder', number 4"):
        await model.ask(replace(other, nth=3))


def test_a_script_says_when(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    reply = {"role": "critic", "when": "is done", "text": "a test"}
    path.write_text(json.dumps({"name": "x", "replies": [reply, {"role": "slow", "text": "y"}]}))
    first, second = read_script(path).replies
    assert first == ScriptedReply(role="critic", when="is done", text="a test")
    assert second.when == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read"),
        ("{", "is not a script"),
        ("[]", "is not a script"),
        ('{"name": "x"}', "KeyError 'replies'"),
        ('{"name": "x", "replies": [{"text": "y"}]}', "KeyError 'role'"),
        ('{"name": "x", "replies": [{"role": "slow", "delay": "soon"}]}', "is not a script"),
    ],
)
def test_a_script_that_cannot_be_used_is_refused(
    tmp_path: Path, text: str | None, says: str
) -> None:
    path = tmp_path / "s.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=says):
        read_script(path)
