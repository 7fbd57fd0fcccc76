"""Asserts in a reply, in one form."""

from twinsmith.core.checks.proposed import MOST_CHECKS, counted, proposed

REPLY = """Here are some checks:
```python
def helper():
    return 1

assert f(1) == 2
assert f(1) == 2, "again, with words"
assert f(2) is True
assert f(3)
assert not f(4)
assert 5 == f(5)
assert g(1) == 1
assert f(6) == f(7)
assert sorted(f(8)) == [1]
assert f(9) ==
```
"""


def test_every_way_to_say_it_is_one_call() -> None:
    found = {probe.source: probe.call for probe in proposed(REPLY, "f")}
    calls = {c.args[0]: c.expected for c in found.values() if c is not None}
    assert calls == {"1": "2", "2": "True", "3": "True", "4": "False", "5": "5"}
    assert found["assert f(6) == f(7)"] is None
    assert found["assert sorted(f(8)) == [1]"] is None
    assert "assert g(1) == 1" not in found


def test_what_stands_twice_counts_twice() -> None:
    times = {probe.source: times for probe, times in counted(REPLY, "f").items()}
    assert times["assert f(1) == 2"] == 2


def test_a_reply_without_end_is_bounded() -> None:
    many = "\n".join(f"assert f({n}) == {n}" for n in range(500))
    assert len(counted(many, "f")) == MOST_CHECKS
    assert counted("assert f(" * 10_000, "f") == {}
    assert counted("", "f") == {}
