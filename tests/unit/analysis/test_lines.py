"""Lines of a journal: what is whole and unaltered is counted, and only what tells is kept."""

from twinsmith.analysis.facts import Facts
from twinsmith.analysis.figures import Only, total
from twinsmith.analysis.lines import picked
from twinsmith.core.blocks import Block, whole_lines
from twinsmith.core.events import GENESIS, Event, Json, seal, to_line

REPLY: dict[str, Json] = {
    "role": "coder",
    "model": "m:1",
    "tokens_in": 10,
    "tokens_out": 5,
    "usd": 0.5,
    "seconds": 2.0,
    "cached": False,
}


def chain(*told: tuple[str, dict[str, Json]]) -> list[bytes]:
    """The sealed lines of a run."""
    lines, prev = [], GENESIS
    for seq, (kind, data) in enumerate(told, 1):
        event = Event(run="r-1", kind=kind, who="user:ann", data=data)
        entry = seal(event, seq=seq, at=f"2026-11-01T08:00:0{seq % 10}+00:00", prev=prev)
        lines.append(to_line(entry).encode())
        prev = entry.hash
    return lines


def read(*lines: bytes) -> Facts:
    facts = Facts()
    text = b"".join(line + b"\n" for line in lines)
    facts.take([Block(chain="r-1", text=text, offset=len(text))])
    return facts


def test_what_tells_nothing_of_models_is_counted_and_left() -> None:
    lines = chain(("run.started", {}), ("stage.started", {"kind": "model.replied"}))
    kept, told = picked(b"\n".join(lines) + b"\n")
    assert kept == lines[:1]
    assert (told.lines, told.torn, told.altered) == (2, 0, 0)


def test_a_line_that_was_altered_or_torn_counts_as_such_and_as_nothing_else() -> None:
    lines = chain(*[("model.replied", REPLY)] * 4)
    altered = lines[1].replace(b'"tokens_in":10', b'"tokens_in":99')
    facts = read(lines[0], altered, lines[2][:-20], b"", b"no line at all", lines[3])
    assert (facts.read.lines, facts.read.altered, facts.read.torn) == (5, 1, 2)
    calls = total(facts, Only()).calls
    assert (calls.answered, calls.tokens_in) == (2, 20)
    facts.close()


def test_a_line_that_is_still_being_written_waits() -> None:
    assert whole_lines(b"one\ntwo\nthr") == b"one\ntwo\n"
    assert whole_lines(b"one") == b""


def test_members_of_another_type_count_as_absent() -> None:
    odd: dict[str, Json] = {
        **REPLY,
        "tokens_in": "many",
        "usd": {"amount": 1},
        "seconds": [2],
        "cached": [1],
        "repairs": 3,
        "failed_attempts": "none",
        "ensemble": "first",
    }
    facts = read(*chain(("model.replied", REPLY), ("model.replied", odd), ("model.replied", {})))
    calls = total(facts, Only()).calls
    assert (calls.answered, calls.tokens_in, calls.tokens_out) == (3, 10, 10)
    assert (calls.usd, calls.unpriced, calls.seconds) == (0.5, 2, 2.0)
    facts.close()


def test_numbers_that_no_call_can_have_do_not_spoil_sums() -> None:
    huge: dict[str, Json] = {**REPLY, "tokens_in": 10**30, "tokens_out": -(10**17), "usd": 1e308}
    text = chain(("model.replied", REPLY))
    facts = read(*text, *chain(("model.replied", huge)))
    calls = total(facts, Only()).calls
    assert calls.tokens_in in (10, 20)
    assert calls.answered == 2
    facts.close()
