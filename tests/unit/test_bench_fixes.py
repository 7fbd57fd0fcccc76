"""Bugs that are put into services are programs; what is done about a fault is judged rightly."""

from bench.faults import TOLD, is_right
from bench.fixes_seeded import KINDS, chosen, seeded, trouble_of
from tests.contract.test_packaged import CONTRACT
from tests.service_scripts import PIECES
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.hunt import hunts
from twinsmith.core.operating.source import Source
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.replies.python_names import uncompilable
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

PROGRAM = assembled(CONTRACT, PIECES, kit(FLASK_KIT))


def test_every_kind_of_bug_is_put_in_and_can_be_hunted() -> None:
    deliverable = Deliverable(source=Source(program=PROGRAM))
    bugs = list(seeded(deliverable, CONTRACT))
    assert {each.kind.name for each in bugs} == {each.name for each in KINDS}
    for bug in bugs:
        assert bug.program.source != PROGRAM.source
        assert uncompilable(bug.program.source) == ""
        (check,) = hunts(CONTRACT, trouble_of(bug)).checks
        assert check.functions == (bug.route.function,)
    assert chosen({}, 10) == []


def test_what_is_right_is_judged_by_what_was_done_first() -> None:
    told = f"{TOLD}; nothing is to be done by itself"
    assert is_right("rollback", [told, "rollback shop to 1", "hand over shop"])
    assert not is_right("rollback", ["restart shop", "rollback shop to 1"])
    assert not is_right("rollback", [told])
    assert is_right("", [told])
    assert not is_right("", ["restart shop"])
    assert is_right(TOLD, [told])
    assert not is_right(TOLD, [])
