"""A contract and a requirement in, dialogues out: written by critics, blind to the programs."""

from twinsmith.core.model import Ask, Question, holding
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.dialogue import described, first_test, read_tests
from twinsmith.core.planning.requirement import Requirement
from twinsmith.core.planning.serving import serving
from twinsmith.core.probe import Probe
from twinsmith.flow.build.asking import said
from twinsmith.prompts import render

HEATS = {1: 0.2, 2: 0.7}


async def dialogues(
    task: str,
    contract: Contract,
    requirement: Requirement,
    *,
    nth: int,
    ensemble: int,
    ask: Ask,
) -> tuple[Probe, ...]:
    """The dialogues by which a critic would see that a requirement is met; none on a bad reply."""
    about = tuple(each for each in serving(requirement, contract.pieces) if not each.part)
    names = frozenset(each.function for each in contract.pieces)

    def read(text: str) -> tuple[Probe, ...]:
        return tuple(read_tests(text, about=requirement.number, names=names))

    question = Question(
        role="critic",
        nth=nth,
        text=render(
            "dialogues",
            task=task,
            functions=described(contract),
            first=first_test(contract, about),
            requirement=requirement.quote,
        ),
        ensemble=ensemble,
        temperature=HEATS[ensemble],
        tokens=600,
        template="dialogues",
        read=holding("test", read),
    )
    return read(await said(question, ask))
