"""How a run ended, on the screen and as an exit code."""

import json
from typing import TYPE_CHECKING, NoReturn

import typer

from twinsmith.cli import exits

if TYPE_CHECKING:
    from twinsmith.core.operating.action import ActionOutcome
    from twinsmith.core.outcome import RunOutcome
    from twinsmith.runs.ended import Outcome


def finish(outcome: "Outcome", *, as_json: bool) -> NoReturn:
    """Show how a run ended, and leave with the exit code that says so."""
    from dataclasses import asdict

    from twinsmith.core.outcome import RunOutcome

    if as_json:
        typer.echo(json.dumps(asdict(outcome), ensure_ascii=False))
    elif isinstance(outcome, RunOutcome):
        tell(outcome)
    else:
        tell_action(outcome)
    good = outcome.solved if isinstance(outcome, RunOutcome) else outcome.done
    raise typer.Exit(exits.DONE if good else exits.NO)


def tell_action(outcome: "ActionOutcome") -> None:
    """Print how an action with an app ended, for a person."""
    typer.echo(f"{'done' if outcome.done else 'refused'}: {outcome.reason}")
    if not outcome.done and outcome.release:
        typer.echo(f"release {outcome.release} of {outcome.app} serves as before")
    if outcome.url and outcome.kind in ("deploy", "rollback", "start"):
        typer.echo(f"address: {outcome.url}")
        typer.echo(f"next:    curl {outcome.url}/health · twinsmith logs {outcome.app}")


def tell(outcome: "RunOutcome") -> None:
    """Print how a run ended, for a person."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(soft_wrap=True, highlight=False)
    word = "[green]solved[/green]" if outcome.solved else "[yellow]not solved[/yellow]"
    console.print(f"{word}: {escape(outcome.reason)}")
    console.print(f"result: {escape(outcome.out)}")
    money = f", {outcome.spent.usd:.4f} USD" if outcome.spent.usd else ""
    if outcome.spent.unpriced:
        money += f", {outcome.spent.unpriced} answers of unknown price"
    console.print(
        f"spent:  {outcome.spent.tokens} tokens, "
        f"{outcome.spent.seconds:.1f} s of models and sandbox{money}"
    )
    console.print(f"models: {escape(', '.join(outcome.models)) or 'none'}")
    scripted = [model for model in outcome.models if model.startswith("scripted:")]
    if scripted:
        console.print(
            f"[yellow]note:[/yellow]   the answers came from a script ({', '.join(scripted)}), "
            "not from a language model"
        )
