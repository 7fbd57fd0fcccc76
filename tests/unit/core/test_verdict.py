from twinsmith.core.verdict import Verdict, best_of


def verdict(candidate: int, passed: int, *, accepted: bool) -> Verdict:
    return Verdict(candidate=candidate, accepted=accepted, passed=passed, total=9)


def test_accepted_beats_passed_beats_first() -> None:
    many = verdict(1, 8, accepted=False)
    good = verdict(2, 5, accepted=True)
    better = verdict(3, 6, accepted=True)
    same = verdict(4, 6, accepted=True)
    assert best_of((many, good)) == good
    assert best_of((many, good, better, same)) == better
    assert best_of((verdict(1, 2, accepted=False), many)) == many
    assert best_of(()) is None
