"""A model that is asked only where whoever pays has room for it in all allowances.

What a question takes at most is set aside before it is asked, so that many runs at once pass no
allowance. Where only calls under way fill it up, they are waited for. Where it would be passed, a
person is asked, and the run waits without a process: that is an exception inside the step of the
question, which no engine remembers, so that the step is done again with the answer. "stop" is
BudgetExceeded, which the step remembers as its value: a replay takes the same way on any day.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from twinsmith.core.budget import most_tokens
from twinsmith.core.costs.allowance import (
    Allowance,
    Amount,
    Bound,
    Payer,
    Standing,
    bounds_of,
    in_words,
    over,
    question_about,
    question_id,
)
from twinsmith.core.costs.claim import Claim
from twinsmith.core.errors import BudgetExceeded, Waiting
from twinsmith.core.events import Event
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.operating.alert import Alert
from twinsmith.core.people.question import PersonalQuestion
from twinsmith.ports import Clock, Desk, Journal, Model, Purse

GO_ON, STOP = "go on", "stop"
PAUSE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The allowances that hold, and who is in which team."""

    allowances: tuple[Allowance, ...] = ()
    teams: Mapping[str, tuple[str, ...]]
    seconds: float
    """After so long a call is not taken to be under way any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Till:
    """What paying takes: the purse, a desk to ask at, and who is told."""

    purse: Purse
    desk: Desk
    journal: Journal
    clock: Clock
    alert: Callable[[Alert], Awaitable[object]]
    dearest: Callable[[int, int], float]
    """The most dollars that so many tokens in and out can cost."""


class BudgetedModel:
    """The models as one payer may ask them."""

    def __init__(self, model: Model, payer: Payer, rules: Rules, till: Till) -> None:
        self._model = model
        self._payer = payer
        self._rules = rules
        self._till = till
        self._permitted: set[str] = set()
        """The bounds that a person lets this payer pass."""

    async def ask(self, prompt: Prompt) -> Reply:
        """One answer; Waiting until a person has decided, BudgetExceeded where that was no."""
        now = self._till.clock.now()
        bounds = bounds_of(self._rules.allowances, self._payer, now, self._rules.teams)
        claim = self._claim(prompt, now)
        await self._set_aside(claim, [each for each in bounds if not each.allowance.soft])
        if any(each.allowance.unit == "usd" for each in bounds if not each.allowance.soft):
            most = claim.amount.usd
            given = prompt.max_usd
            prompt = replace(prompt, max_usd=most if given is None else min(given, most))
        began = self._till.clock.seconds()
        try:
            reply = await self._model.ask(prompt)
        except BaseException:
            self._till.purse.give_back(claim.key)
            raise
        took = Amount(
            tokens=reply.tokens,
            usd=0.0 if reply.cached else reply.usd or 0.0,
            seconds=0.0 if reply.cached else self._till.clock.seconds() - began,
        )
        await asyncio.to_thread(self._till.purse.pay, replace(claim, amount=took))
        await self._warn([each for each in bounds if each.allowance.soft])
        return reply

    def _claim(self, prompt: Prompt, now: str) -> Claim:
        tokens = most_tokens(prompt.text)
        return Claim(
            key=prompt.key,
            payer=self._payer,
            day=now[:10],
            amount=Amount(
                tokens=tokens + prompt.max_tokens,
                usd=self._till.dearest(tokens, prompt.max_tokens),
            ),
            seconds=self._rules.seconds,
        )

    async def _set_aside(self, claim: Claim, hard: Sequence[Bound]) -> None:
        """Set aside what a call takes at most; waits for calls that are under way."""
        while True:
            bounds = [each for each in hard if each.id not in self._permitted]
            standings = await asyncio.to_thread(self._till.purse.set_aside, claim, bounds)
            if not standings:
                return
            full = over(standings, claim.amount)
            if full is None:
                await self._till.clock.sleep(PAUSE)
            else:
                await self._ask_person(full, claim.amount)
                self._permitted.add(full.bound.id)

    async def _ask_person(self, full: Standing, more: Amount) -> None:
        """Return where a person lets the run go on past an allowance."""
        run, allowance = self._payer.run, full.bound.allowance
        question = PersonalQuestion(
            id=question_id(run, full.bound),
            run=run,
            text=question_about(full, more),
            assumed=STOP,
            choices=(GO_ON, STOP),
        )
        said = await self._till.desk.ask(question)
        await self._tell(full)
        if said.answer == GO_ON:
            return
        if said.answer is None:
            raise Waiting(
                f"run {run} would pass the budget {allowance.line!r} and waits until "
                f'{said.until[:16]}: twinsmith answer {question.id} "{GO_ON}"',
                topic=question.id,
                until=said.until,
            )
        raise BudgetExceeded(
            f"the budget {allowance.line!r} is spent ({in_words(full.used, allowance.unit)} by "
            f"{full.bound.pot.whose}), and nobody let the run go on; raise it in budgets.limits"
        )

    async def _warn(self, soft: Sequence[Bound]) -> None:
        if soft:
            for each in await asyncio.to_thread(self._till.purse.standings, soft):
                if each.passed:
                    await self._tell(each)

    async def _tell(self, standing: Standing) -> None:
        """Tell the journal of this run, and people once in the period, what was passed."""
        bound, run, now = standing.bound, self._payer.run, self._till.clock.now()
        allowance, pot = bound.allowance, bound.pot
        spent = in_words(standing.used, allowance.unit)
        await self._till.journal.append(
            Event(
                run=run,
                kind="budget.passed",
                who="twinsmith",
                data={
                    "budget": allowance.line,
                    "whose": pot.whose,
                    "period": pot.days or run,
                    "spent": standing.used,
                    "most": allowance.most,
                    "unit": allowance.unit,
                    "soft": allowance.soft,
                },
                key=f"budget.passed:{bound.id}",
            )
        )
        what = "is passed" if allowance.soft else "is spent: runs wait for a person's word"
        await self._till.alert(
            Alert(
                id=f"budget-{bound.id}",
                app=pot.app,
                severity="warning",
                title=f"budget {allowance.line!r} {what}",
                text=f"{spent} are spent by {pot.whose} in {pot.days or f'run {run}'}.",
                key=f"budget {bound.id}",
                at=datetime.fromisoformat(now).timestamp(),
            )
        )
