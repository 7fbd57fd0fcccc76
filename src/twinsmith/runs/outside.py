"""Single deeds outside any run, each with an event in the system's chain: ask, execute, verify."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.model import Prompt, Purpose, Reply, Role, facts_of_failure, facts_of_reply
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Program
from twinsmith.runs.book import Book


async def ask(book: Book, role: Role, ensemble: int, text: str, purpose: Purpose) -> Reply:
    """One question to the model of a role; BudgetExceeded where nobody may pay for it."""
    from twinsmith.core.costs.allowance import Payer
    from twinsmith.flow.budgeted import BudgetedModel
    from twinsmith.flow.registered import RegisteredModel
    from twinsmith.runs.alerts import raise_alert
    from twinsmith.wiring.costs import dearest_of, purse_of, rules_of, till_of
    from twinsmith.wiring.models import opened_model
    from twinsmith.wiring.trying import in_force, registry_of

    clock, settings = SystemClock(), book.settings
    prompt = Prompt(
        key=f"ask/{clock.now()}",
        role=role,
        nth=0,
        text=text,
        task=text,
        seed=settings.values.build.seed,
        max_tokens=settings.values.gateway.reply_tokens,
        ensemble=ensemble,
        purpose=purpose,
        asks=in_force(settings).asks(role, ensemble),
    )
    till = till_of(
        settings,
        purse_of(settings),
        book.journal,
        parks=False,
        alert=lambda alert: raise_alert(book, alert),
        dearest=dearest_of(settings, in_force(settings)),
    )
    payer, rules = Payer(run=SYSTEM, person=book.actor.name), rules_of(settings)
    # The system's chain is no run.
    lasting = tuple(each for each in rules.allowances if each.period != "run")
    rules = replace(rules, allowances=lasting)
    began = clock.seconds()
    try:
        async with opened_model(settings) as opened:
            model = RegisteredModel(opened, registry_of(settings), clock)
            reply = await BudgetedModel(model, payer, rules, till).ask(prompt)
    except ModelUnavailable as error:
        await book.tell(SYSTEM, "model.failed", facts_of_failure(prompt, str(error)))
        raise
    reply = replace(reply, seconds=clock.seconds() - began)
    await book.tell(SYSTEM, "model.replied", facts_of_reply(prompt, reply))
    return reply


async def execute(
    book: Book, program: Program, command: Command, limits: Limits, tell: Callable[[str], None]
) -> tuple[Execution, str]:
    """One run of a person's program in the sandbox, and how that was walled in."""
    from twinsmith.wiring.sandbox import sandbox_of

    sandbox = sandbox_of(book.settings, tell)
    isolation = str(await sandbox.isolation())
    probe = Probe(name="exec", origin="person", command=command)
    execution = await sandbox.run(program, Probes(checks=(probe,)), limits)
    outcome = execution.results[0].outcome if execution.results else execution.problem[:200]
    data: dict[str, Json] = {
        "language": program.language,
        "sha256": hashlib.sha256(program.text.encode()).hexdigest(),
        "outcome": outcome,
        "isolation": isolation,
    }
    await book.tell(SYSTEM, "program.executed", data)
    return execution, isolation


async def verify(book: Book, program: Program, probes: Probes) -> Execution:
    """The checks of a finished service once more in the sandbox."""
    from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
    from twinsmith.wiring.sandbox import limits_of, sandbox_of

    limits = replace(limits_of(book.settings), cpu_seconds=CPU_SECONDS, probe_seconds=PROBE_SECONDS)
    execution = await sandbox_of(book.settings).run(program, probes, limits)
    failed = sum(result.outcome != "passed" for result in execution.results)
    data: dict[str, Json] = {
        "sha256": hashlib.sha256(program.text.encode()).hexdigest(),
        "checks": len(execution.results),
        "failed": failed,
        "problem": execution.problem[:200],
    }
    await book.tell(SYSTEM, "program.verified", data)
    return execution
