"""`twinsmith experiment`: two ways of working side by side, until it is clear which is better."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json, at_least
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.client.shapes import NewExperiment
    from twinsmith.core.trying.experiment import Experiment
    from twinsmith.core.trying.experiment_seen import Planned, Seen

START_EXAMPLE = (
    "Example: twinsmith experiment start fewer-votes --b build.votes=2 --metric tokens "
    "--guard 'solved>=-0.05'"
)
SHOW_EXAMPLE = "Example: twinsmith experiment show fewer-votes"
PROMOTE_EXAMPLE = "Example: twinsmith experiment promote fewer-votes, then undo fewer-votes"

experiment = typer.Typer(
    help="Two ways of working side by side, until it is clear which is better."
)
Name = Annotated[str, typer.Argument(help="The name of the experiment.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept.")]


@experiment.command("start", epilog=START_EXAMPLE)
def start(
    name: Name,
    a: Annotated[
        list[str] | None,
        typer.Option("--a", metavar="WORDS", help="How arm a works; else as it is now."),
    ] = None,
    b: Annotated[
        list[str] | None,
        typer.Option("--b", metavar="WORDS", help="How arm b works: build.votes=2 coder=…"),
    ] = None,
    share: Annotated[float, typer.Option(help="The part of the tasks that b gets.")] = 0.2,
    metric: Annotated[
        str, typer.Option(help="solved, right (by tests of people), tokens, seconds or usd.")
    ] = "solved",
    guard: Annotated[
        list[str] | None,
        typer.Option(metavar="GUARD", help="tokens<=1.3 or solved>=-0.05: b ends."),
    ] = None,
    least: Annotated[
        float | None,
        typer.Option(help="The least effect worth having: 0.1 of rates, 0.2 of costs."),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Build tasks of past runs in both arms instead.")
    ] = False,
    tasks: Annotated[
        Path | None, typer.Option(help="Replay the tasks of this file, one a line.")
    ] = None,
    most: Annotated[
        int, typer.Option(parser=at_least(1), metavar="N", help="So many past tasks at most.")
    ] = 100,
    seed: Annotated[
        int, typer.Option(parser=at_least(0), metavar="N", help="The seed of the first task.")
    ] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many runs it would take.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say how many runs an experiment takes, and begin it."""
    from twinsmith.cli.files import text_of
    from twinsmith.client.shapes import NewExperiment
    from twinsmith.core.errors import ConfigError

    told = text_of(tasks, option="--tasks ") if tasks is not None else ""
    if tasks is not None and not told.strip():
        raise ConfigError(f"--tasks {tasks} holds no task; write one a line")
    wanted = NewExperiment.of(
        name=name,
        a=_words(a),
        b=_words(b),
        share=share,
        metric=metric,
        guards=guard or [],
        least=least,
        replay=replay or tasks is not None,
        tasks=told,
        most=most,
        seed=seed,
    )
    planned = _planned(wanted)
    if not as_json:
        _tell_power(planned)
    if dry_run:
        _tell_json(planned, as_json=as_json)
        return
    begun = _begun(wanted, planned)
    if begun.mode == "replay" and server() is None:
        _replayed(begun.name, as_json=as_json)
        return
    _tell_json(planned, as_json=as_json)
    if not as_json:
        typer.echo(f"experiment {begun.name} runs; see: {command()} experiment show {begun.name}")


@experiment.command("replay", epilog="Example: twinsmith experiment replay fewer-votes")
def go_on(name: Name, as_json: Json = False) -> None:
    """Go on with a replay where it was interrupted; what is built is not built again."""
    from twinsmith.cli.book import opened_book
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs.experiments import found

    if server() is not None:
        raise ConfigError(
            "'twinsmith experiment replay' works on this machine only; workers of a server go on "
            "by themselves"
        )
    if found(opened_book(), name).mode != "replay":
        raise ConfigError(f"experiment {name} is no replay: its runs come as people give them")
    _replayed(name, as_json=as_json)


@experiment.command("list", epilog="Example: twinsmith experiment list --json")
def list_experiments(as_json: Json = False) -> None:
    """All experiments, newest first."""
    from dataclasses import asdict

    from twinsmith.cli.screen import fitted, flat
    from twinsmith.core.trying.experiment import MEANING

    found = _listed()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        return
    if not found:
        typer.echo(f"no experiment yet: {START_EXAMPLE.partition(': ')[2]}")
    for each in found:
        told = f"{each.name:<24}  {MEANING[each.state]:<16}  {each.metric:<8}  {each.begun[:16]}"
        typer.echo(fitted(f"{told}  {flat(each.why or ' '.join(each.b.words))}"))


@experiment.command("show", epilog=SHOW_EXAMPLE)
def show(name: Name, as_json: Json = False) -> None:
    """What an experiment has shown so far, and how sure that is."""
    from dataclasses import asdict

    seen = _seen(name)
    if as_json:
        typer.echo(json.dumps(asdict(seen), ensure_ascii=False))
    else:
        _tell_seen(seen)


@experiment.command("stop", epilog="Example: twinsmith experiment stop fewer-votes --reason '…'")
def stop(name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """End an experiment: new runs are worked on as if it had never been."""
    _done("stop", name, reason, as_json=as_json)


@experiment.command("promote", epilog=PROMOTE_EXAMPLE)
def promote(name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """Put what has won in force for all new runs; without a winner that takes a reason."""
    _done("promote", name, reason, as_json=as_json)


@experiment.command("undo", epilog=PROMOTE_EXAMPLE)
def undo(name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """Take a promotion back: what it took the place of holds again."""
    _done("undo", name, reason, as_json=as_json)


def _words(told: list[str] | None) -> list[str]:
    return [word for each in told or [] for word in each.split()]


def _planned(wanted: "NewExperiment") -> "Planned":
    """The experiment with the runs that it needs, before anything begins."""
    client = server()
    if client is not None:
        return client.experiments.plan(wanted)
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.trying import planned

    return planned(opened_book(), wanted, files=True)


def _begun(wanted: "NewExperiment", planned: "Planned") -> "Experiment":
    client = server()
    if client is not None:
        return client.experiments.start(wanted).experiment
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.experiments import begin

    return asyncio.run(begin(opened_book(), planned))


def _listed() -> "tuple[Experiment, ...]":
    client = server()
    if client is not None:
        return client.experiments.all()
    from twinsmith.cli.book import opened_book
    from twinsmith.runs.experiments import listed

    return listed(opened_book())


def _seen(name: str) -> "Seen":
    client = server()
    if client is not None:
        return client.experiments.one(name)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.experiments import seen
    from twinsmith.runs.promotion import settled

    book = opened_book()
    asyncio.run(settled(book, name))
    return seen(book, name)


def _done(deed: str, name: str, reason: str, *, as_json: bool) -> None:
    """Stop, promote or take back, and say what became of it."""
    from dataclasses import asdict

    from twinsmith.core.trying.experiment import MEANING

    client = server()
    if client is not None:
        after = client.experiments.do(name, deed, reason)
    else:
        import asyncio

        from twinsmith.cli.book import opened_book
        from twinsmith.runs.trying import done

        after = asyncio.run(done(opened_book(), deed, name, reason))
    if as_json:
        typer.echo(json.dumps(asdict(after), ensure_ascii=False))
    else:
        typer.echo(f"experiment {name} is {MEANING[after.state]}")


def _replayed(name: str, *, as_json: bool) -> None:
    """See a replay to its end here, a line for each run."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import provide_model
    from twinsmith.cli.screen import fitted
    from twinsmith.runs.replay_here import replayed

    book = opened_book()
    provide_model(book.settings, as_json=as_json)

    def said(line: str) -> None:
        if not as_json:
            typer.echo(fitted(line))

    try:
        asyncio.run(replayed(book, name, said))
    except (KeyboardInterrupt, asyncio.CancelledError):
        told = f"the replay is interrupted; go on with: twinsmith experiment replay {name}"
        exits.fail(told, exits.INTERRUPTED, as_json=as_json)
    show(name, as_json=as_json)


def _tell_power(planned: "Planned") -> None:
    from twinsmith.core.trying.experiment_power import in_words

    for line in in_words(planned.power, planned.experiment):
        typer.echo(line)


def _tell_json(planned: "Planned", *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(planned), ensure_ascii=False))


def _tell_seen(seen: "Seen") -> None:
    from twinsmith.cli.screen import flat
    from twinsmith.core.trying.experiment import MEANING
    from twinsmith.core.trying.experiment_power import in_words
    from twinsmith.core.trying.experiment_seen import comparison, described, reading

    it, found = seen.experiment, seen.judgement.estimate
    by = it.by.removeprefix("user:")
    typer.echo(f"{it.name}: {MEANING[it.state]}, begun {it.begun[:16]} by {by}")
    how = f"replay of {len(it.tasks)} tasks" if it.mode == "replay" else f"b gets {it.share:g}"
    typer.echo(f"  metric {it.metric}, least effect {it.least:g}, {how}, by a hash of the task")
    for arm, runs, left, value in (
        ("a", seen.runs_a, seen.open_a, found.a),
        ("b", seen.runs_b, seen.open_b, found.b),
    ):
        told = described(it, "a" if arm == "a" else "b")
        typer.echo(f"  {arm}: {runs:>5} runs, {left} not over, {reading(found, value)}  {told}")
    unit = "ratio b to a" if found.is_ratio else "points"
    effect, low, high = (comparison(found, each) for each in (found.effect, found.low, found.high))
    typer.echo(f"  {unit}: {effect}, from {low} to {high} (95 %, at every moment)")
    for each in seen.judgement.guards:
        typer.echo(f"  guard {each.guard}: {each.state}")
    for line in in_words(seen.power, it):
        typer.echo(f"  {line}")
    typer.echo(f"  {flat(it.why or seen.judgement.why)}")
    if it.state == "over" and it.verdict == "b":
        typer.echo(f"  to put b in force: {command()} experiment promote {it.name}")
