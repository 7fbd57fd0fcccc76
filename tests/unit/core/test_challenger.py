from dataclasses import replace

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Entry, Event, Json
from twinsmith.core.model import Prompt
from twinsmith.core.trying.challenger import (
    LEAST_COUNTED,
    Challenge,
    Tally,
    added,
    challenged,
    drawn,
    read_guard,
    scored,
    tallied,
)

NEW = "server:new"
CHALLENGE = Challenge(
    id="a1",
    role="coder",
    model=NEW,
    share=0.3,
    guards=(read_guard("unusable<=0.2"),),
    by="user:ann",
    began="2026-11-19T10:00:00+00:00",
)
PROMPT = Prompt(key="k", role="coder", nth=0, text="write", task="t", seed=1, max_tokens=100)
KEYS = [f"run/ask coder {number}" for number in range(4000)]
MINE = [key for key in KEYS if drawn(CHALLENGE, key)]
OTHERS = [key for key in KEYS if not drawn(CHALLENGE, key)]


def entries(*events: tuple[str, dict[str, Json]]) -> list[Entry]:
    return [
        Entry(
            seq=n + 1,
            at="2026-11-19T11:00:00+00:00",
            event=Event(run="r", kind=kind, who="x", data=data),
            prev="",
            hash="",
        )
        for n, (kind, data) in enumerate(events)
    ]


def replied(key: str, model: str = "openai:old", **more: Json) -> tuple[str, dict[str, Json]]:
    data: dict[str, Json] = {
        "role": "coder",
        "model": model,
        "idempotency_key": key,
        "nth": 0,
        "ensemble": 1,
        "tokens": 10,
        "seconds": 2.0,
        "usd": 0.5,
        "cached": False,
        "unusable": "",
        "failed_attempts": [],
    }
    return "model.replied", {**data, **more}


def started(*words: str) -> tuple[str, dict[str, Json]]:
    return "run.started", {"versions": {"arrangement": list(words)}}


def test_the_share_of_calls_is_kept_and_sticks() -> None:
    assert 0.27 < len(MINE) / len(KEYS) < 0.33
    assert [key for key in KEYS if drawn(CHALLENGE, key)] == MINE
    other = [key for key in KEYS if drawn(replace(CHALLENGE, id="b2"), key)]
    assert other != MINE


def test_a_call_that_is_drawn_goes_to_the_challenger_first() -> None:
    mine, other = replace(PROMPT, key=MINE[0]), replace(PROMPT, key=OTHERS[0])
    assert challenged(mine, [CHALLENGE]).asks == (NEW, "*")
    assert challenged(other, [CHALLENGE]) == other
    assert challenged(replace(mine, role="slow"), [CHALLENGE]).asks == ()
    assert challenged(mine, ()) == mine


def test_a_run_that_asks_for_other_models_is_left_alone() -> None:
    told = replace(PROMPT, key=MINE[0], asks=("openai:told",))
    assert challenged(told, [CHALLENGE]) == told
    champion = replace(CHALLENGE, champion=("openai:told",))
    assert challenged(told, [champion]).asks == (NEW, "openai:told")


@pytest.mark.parametrize("text", ["unusable<=0.1", "right>=0.5", "usd <= 1", "seconds<=30"])
def test_guards_are_read(text: str) -> None:
    assert read_guard(text).words == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("unusabel<=0.1", "did you mean 'unusable'"),
        ("unusable<=much", "'much' is no limit"),
        ("unusable<=-1", "'-1' is no limit"),
        ("unusable<=nan", "'nan' is no limit"),
        ("unusable", "is no guard; for example"),
    ],
)
def test_a_wrong_guard_is_told(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_guard(text)


def test_calls_are_counted_for_whoever_answered() -> None:
    tally = tallied(
        CHALLENGE,
        "r",
        entries(
            started(),
            replied(MINE[0], NEW),
            replied(MINE[1], NEW, unusable="no code"),
            replied(MINE[2], failed_attempts=[f"{NEW}: refused: no key"]),
            replied(OTHERS[0]),
            replied(OTHERS[1], unusable="no code", cached=True),
            ("model.replied", {"role": "slow", "model": NEW, "idempotency_key": MINE[3]}),
        ),
    )
    new, old = tally.challenger, tally.champion
    assert (new.calls, new.unusable.n, new.unusable.total) == (2, 2, 1.0)
    assert (new.failed.n, new.failed.total) == (3, 1.0)
    assert (old.calls, old.unusable.n, old.unusable.total) == (3, 3, 1.0)
    # What the cache answered took nothing.
    assert (old.seconds.n, old.tokens.total, old.usd.total) == (2, 20.0, 1.0)


def test_calls_from_before_and_runs_that_ask_otherwise_count_for_nobody() -> None:
    assert tallied(CHALLENGE, "r", entries(started(), replied(MINE[0]))) == Tally()
    told = entries(started("coder=openai:told"), replied(OTHERS[0], "openai:told"))
    assert tallied(CHALLENGE, "r", told) == Tally()
    both = entries(started("1.coder=openai:told"), replied(OTHERS[0], "openai:told"))
    assert tallied(CHALLENGE, "r", both) == Tally()
    champion = replace(CHALLENGE, champion=("openai:told", "*"))
    same = entries(started("coder=openai:told,*"), replied(OTHERS[0], "openai:told"))
    assert tallied(champion, "r", same).champion.calls == 1


def candidate(number: int, nth: int) -> tuple[str, dict[str, Json]]:
    share: Json = {"ensemble": 1, "nth": nth}
    return "candidate.written", {"candidate": number, "ensemble": 1, "shares": [share]}


def test_candidates_are_right_where_they_do_what_the_accepted_one_does() -> None:
    told = entries(
        started(),
        replied(MINE[0], NEW, nth=0),
        candidate(1, 0),
        replied(OTHERS[0], nth=1),
        candidate(2, 1),
        replied(OTHERS[1], nth=2),
        candidate(3, 2),
        ("candidates.judged", {"best": 1, "clusters": [[1, 2], [3]], "checks": []}),
        ("candidates.compared", {"best": "1", "winner": 1, "clusters": [[1, 2], [3]]}),
        ("run.ended", {"state": "solved", "winner": 1}),
    )
    tally = tallied(CHALLENGE, "r", told)
    assert (tally.challenger.right.n, tally.challenger.right.mean) == (1, 1.0)
    assert (tally.champion.right.n, tally.champion.right.mean) == (1, 0.5)


def test_of_a_slow_thinker_the_runs_are_counted() -> None:
    slow = replace(CHALLENGE, role="slow")
    for state, right in (("solved", 1.0), ("not solved", 0.0)):
        ended: tuple[str, dict[str, Json]] = ("run.ended", {"state": state})
        told = entries(started(), replied(MINE[0], NEW, role="slow"), ended)
        tally = tallied(slow, "r", told)
        assert (tally.challenger.right.mean, tally.challenger.right.n) == (right, 1)
        assert tally.champion.right.n == 0
    open_run = entries(started(), replied(MINE[0], NEW, role="slow"))
    assert tallied(slow, "r", open_run).challenger.right.n == 0


def test_a_guard_breaks_after_enough_calls_and_not_before() -> None:
    bad = tallied(CHALLENGE, "r", entries(started(), replied(MINE[0], NEW, unusable="x")))
    tally = Tally()
    for _ in range(LEAST_COUNTED - 1):
        tally = added(tally, bad)
    assert scored(CHALLENGE, tally).broken == ""
    broken = scored(CHALLENGE, added(tally, bad)).broken
    assert broken == f"unusable<=0.2: it is 1 over {LEAST_COUNTED}"
    good = tallied(CHALLENGE, "r", entries(started(), replied(MINE[0], NEW)))
    for _ in range(5 * LEAST_COUNTED):
        tally = added(tally, good)
    assert scored(CHALLENGE, tally).broken == ""


def test_what_the_figures_say() -> None:
    def run(state: str, key: str, model: str) -> Tally:
        told = entries(started(), replied(key, model, role="slow"), ("run.ended", {"state": state}))
        return tallied(slow, "r", told)

    slow = replace(CHALLENGE, role="slow")
    tally = Tally()
    assert scored(slow, tally).says == "open"
    for _ in range(60):
        tally = added(tally, run("solved", MINE[0], NEW))
        tally = added(tally, run("not solved", OTHERS[0], "openai:old"))
    assert scored(slow, tally).says == "better"
    assert scored(slow, Tally(champion=tally.challenger, challenger=tally.champion)).says == "worse"
