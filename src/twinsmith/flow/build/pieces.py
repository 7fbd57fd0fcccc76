"""Orders for parts of a service in, written parts out, and wholes made of them.

With a frame the parts are functions, one a route; without one there is a single part, the program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from twinsmith.core.board_items import Share
from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.model import Question, taken_whole
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.patch import patched
from twinsmith.core.planning.piece import asked, hollow, read_piece, refusing
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.program import Candidate, Program, Way
from twinsmith.core.replies.reply_code import read_program
from twinsmith.core.replies.reply_files import as_blocks
from twinsmith.core.services.service_rules import plain_rules
from twinsmith.core.task import Task
from twinsmith.core.wording import spoken
from twinsmith.flow.recorder import Recorder
from twinsmith.kits import kit
from twinsmith.prompts import render

STYLES = {1: "piece", 2: "piece_careful"}
TOKENS = 600
FLASK_KIT = "flask_kit.txt"
WHOLE = "the program"
Parts = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One part that somebody is asked to write."""

    part: str
    ensemble: int
    nth: int
    temperature: float
    told: str = ""
    mends: str = ""
    """The source that is to be mended; empty: it is written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A part that was ordered: its source, or the problem where there is none."""

    part: str
    ensemble: int
    source: str = ""
    problem: str = ""


class Workshop(Protocol):
    """One way to write services: which parts there are, and how a whole is made of them."""

    @property
    def contract(self) -> Contract:
        """The contract of the service."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that a whole is made of."""
        ...

    def question(self, order: Order) -> Question:
        """The question to a coder for one part."""
        ...

    def read(self, text: str, part: str) -> str:
        """The part in a reply; BadReply says what is missing."""
        ...

    def program(self, parts: Parts) -> Program:
        """The whole program made of these parts."""
        ...

    def without(self, parts: Parts, function: str) -> Program | None:
        """The program with one function that does nothing; None where none can be taken out."""
        ...


@dataclass(slots=True)
class Framed:
    """Services in a frame: twinsmith writes what the contract says, coders one function a route."""

    task: Task
    contract: Contract

    @property
    def names(self) -> tuple[str, ...]:
        """The functions that have to be written."""
        return tuple(each.function for each in self.contract.pieces)

    def question(self, order: Order) -> Question:
        """The question to a coder for one function, with all that is known about it."""
        text = render(
            STYLES[order.ensemble],
            task=self.task.text,
            piece=asked(self.contract.called(order.part), self.contract),
            function=order.part,
            told=f"\n{order.told}\n" if order.told else "",
        )
        return _question(order, text, TOKENS, STYLES[order.ensemble])

    def read(self, text: str, part: str) -> str:
        """The function in a reply."""
        return read_piece(text, self.contract.called(part), self.contract)

    def program(self, parts: Parts) -> Program:
        """The service: the frame around these functions."""
        return assembled(self.contract, parts, kit(FLASK_KIT))

    def without(self, parts: Parts, function: str) -> Program | None:
        """The service with one function that does nothing."""
        empty = hollow(self.contract.called(function), self.contract)
        return self.program({**parts, function: empty})


@dataclass(slots=True)
class Patched:
    """A service that is there already: functions are exchanged in it, nothing else changes."""

    frame: Framed
    base: Program

    @property
    def contract(self) -> Contract:
        """The contract of the service."""
        return self.frame.contract

    @property
    def names(self) -> tuple[str, ...]:
        """The functions that can be exchanged."""
        return self.frame.names

    def question(self, order: Order) -> Question:
        """The question for one function, written anew or mended."""
        if not order.mends:
            return self.frame.question(order)
        text = render(
            "piece_mended",
            task=self.frame.task.text,
            piece=asked(self.contract.called(order.part), self.contract),
            function=order.part,
            source=order.mends,
            told=order.told,
        )
        return _question(order, text, TOKENS, "piece_mended")

    def read(self, text: str, part: str) -> str:
        """The function in a reply."""
        return self.frame.read(text, part)

    def program(self, parts: Parts) -> Program:
        """The service with these functions in it."""
        return replace(self.base, source=patched(self.base.source, parts))

    def without(self, parts: Parts, function: str) -> Program | None:
        """The service with one function that does nothing."""
        empty = hollow(self.contract.called(function), self.contract)
        return self.program({**parts, function: empty})


@dataclass(slots=True)
class Unframed:
    """Services without a frame: a coder writes the whole program, in any language."""

    task: Task
    contract: Contract

    @property
    def names(self) -> tuple[str, ...]:
        """The one part that there is, the program."""
        return (WHOLE,)

    def question(self, order: Order) -> Question:
        """The question to a coder for the whole program."""
        language = spoken(self.task.language)
        rules = plain_rules(self.contract, language)
        text = render(
            "service_plain",
            task=self.task.text,
            language=language,
            routes=self.contract.text(),
            rules="\n".join(filter(None, (rules, order.told))),
        )
        return _question(order, text, 0, "service_plain")

    def read(self, text: str, part: str) -> str:  # noqa: ARG002
        """All files of the program, as a reply would hold them."""
        return as_blocks(self._program(text))

    def program(self, parts: Parts) -> Program:
        """The program as it was written."""
        return self._program(parts[WHOLE])

    def without(self, parts: Parts, function: str) -> Program | None:  # noqa: ARG002
        """None, always: nobody knows which lines of the program a function is."""
        return None

    def _program(self, text: str) -> Program:
        return read_program(text, language=self.task.language, kind="service")


def empty_program(contract: Contract) -> Program:
    """A service that answers everything and does nothing: what it passes shows nothing."""
    parts = {each.function: hollow(each, contract) for each in contract.pieces}
    return assembled(contract, parts, kit(FLASK_KIT))


def refusing_program(contract: Contract) -> Program:
    """A service that refuses everything: what it passes shows that something is refused."""
    parts = {each.function: refusing(each, contract) for each in contract.pieces}
    return assembled(contract, parts, kit(FLASK_KIT))


@dataclass(slots=True)
class Bench:
    """The workbench of a service: parts are written and put together to wholes, and remembered."""

    shop: Workshop
    recorder: Recorder
    parts: dict[int, Parts] = field(default_factory=dict)
    """The parts of each candidate, by its number."""
    shares: dict[tuple[str, str, int], Share] = field(default_factory=dict)
    """The first answer of each ensemble that a part stood in, by its name and source."""

    async def write(self, order: Order) -> Written:
        """The part that a coder wrote; without a source where the answer cannot be used."""
        try:
            read = partial(self.shop.read, part=order.part)
            question = replace(self.shop.question(order), read=taken_whole(read))
            source = read((await self.recorder.ask(question)).text)
        except (BadReply, BudgetExceeded) as error:
            return Written(part=order.part, ensemble=order.ensemble, problem=str(error))
        share = Share(name=order.part, ensemble=order.ensemble, nth=order.nth)
        known = self.shares.setdefault((order.part, source, order.ensemble), share)
        if order.nth < (known.nth or 0):
            # Asked at once, the second may be answered first.
            self.shares[order.part, source, order.ensemble] = share
        return Written(part=order.part, ensemble=order.ensemble, source=source)

    def made_of(self, candidate: Candidate) -> tuple[Share, ...]:
        """The coders' answers that a candidate is made of: its own ensemble's, else another's."""
        own = candidate.ensemble
        voices = (own, *(each for each in ENSEMBLES if each != own))
        return tuple(
            next(
                (
                    self.shares[name, source, each]
                    for each in voices
                    if (name, source, each) in self.shares
                ),
                # Nobody was asked for it: it was there before.
                Share(name=name),
            )
            for name, source in self.parts.get(candidate.number, {}).items()
        )

    def wholes(
        self, base: Parts, written: Sequence[Written], ensembles: Sequence[int], made: int
    ) -> list[Candidate]:
        """One candidate of each ensemble's parts; where one is missing, the other's stands in."""
        spare = {each.part: each.source for each in written if each.source}
        way: Way = "refined" if base else "direct"
        wholes: list[Candidate] = []
        for nth, ensemble in enumerate(ensembles, made + 1):
            own = {e.part: e.source for e in written if e.ensemble == ensemble and e.source}
            problems = [e.problem for e in written if e.ensemble == ensemble and e.problem]
            parts = own if len(self.shop.names) == 1 else {**spare, **base, **own}
            wholes.append(self.whole(nth, parts, ensemble=ensemble, way=way, problems=problems))
        return wholes

    def whole(
        self,
        number: int,
        parts: Parts,
        *,
        ensemble: int,
        way: Way,
        problems: Sequence[str] = (),
    ) -> Candidate:
        """The candidate made of these parts; without a program where a part is missing."""
        missing = [name for name in self.shop.names if not parts.get(name)]
        made = Candidate(number=number, program=None, ensemble=ensemble, way=way)
        if missing:
            why = next(iter(problems), f"{missing[0]} could not be written")
            return replace(made, problem=why)
        self.parts[number] = dict(parts)
        return replace(made, program=self.shop.program(parts))


def _question(order: Order, text: str, tokens: int, template: str) -> Question:
    return Question(
        role="coder",
        nth=order.nth,
        text=text,
        ensemble=order.ensemble,
        temperature=order.temperature,
        tokens=tokens,
        template=template,
    )
