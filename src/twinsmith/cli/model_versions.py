"""`twinsmith models versions|pin|promote|retire|restore|challenge|challengers`."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.models import models
from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.core.trying.challenger import Figures, Score

# Its commands stand beside those for embedded models.
__all__ = ["models"]
VERSIONS_EXAMPLE = "Example: twinsmith models versions --kind model"
PIN_EXAMPLE = (
    "Example: twinsmith models pin coder openai:gpt-4o@gpt-4o-2024-08-06 (and only that), "
    "twinsmith models pin build.votes 2, twinsmith models pin prompt.code ./code.md"
)
PROMOTE_EXAMPLE = "Example: twinsmith models promote coder anthropic:claude-haiku-4-5"
RETIRE_EXAMPLE = "Example: twinsmith models retire openai:gpt-4o@gpt-4o-2024-05-13"
RESTORE_EXAMPLE = "Example: twinsmith models restore coder (or a model that was retired)"
CHALLENGE_EXAMPLE = (
    "Example: twinsmith models challenge coder google:gemini-2.5-flash --share 0.1 "
    "--guard 'unusable<=0.1', twinsmith models challenge --stop coder"
)
CHALLENGERS_EXAMPLE = "Example: twinsmith models challengers --json"

Key = Annotated[str, typer.Argument(help="A role, 1.ROLE, a setting, or prompt.NAME.")]
Value = Annotated[
    str, typer.Argument(help="provider:model or provider:model@version; a value; a file.")
]
KINDS = "model, prompt, settings, twinsmith or pipeline; else all but old templates."


@models.command("versions", epilog=VERSIONS_EXAMPLE)
def versions(kind: Annotated[str, typer.Option(help=KINDS)] = "", as_json: Json = False) -> None:
    """What took part in results, in which versions, and what is in force of it."""
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.runs.versions import overview

    client = server()
    found = client.versions.listed(kind) if client else overview(opened_book(), kind)
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
        return
    for entry in found.in_force:
        told = f"{entry.verb} by {entry.by} on {entry.at[:10]}"
        typer.echo(fitted(f"in force: {entry.key} = {flat(entry.value)} ({told})"))
    if not found.versions:
        typer.echo(f'nothing has taken part in a result yet; {command()} build "…"')
        return
    wide = max(len(flat(each.name)) for each in found.versions)
    typer.echo(
        fitted(f"{'kind':<9}  {'name':<{wide}}  {'state':<8}  {'first':<10}  {'last':<10}  version")
    )
    for each in found.versions:
        by = f"  by {each.by}" if each.by else ""
        typer.echo(
            fitted(
                f"{each.kind:<9}  {flat(each.name):<{wide}}  {each.state:<8}  {each.first[:10]:<10}"
                f"  {each.last[:10]:<10}  {flat(each.version)}{by}"
            )
        )


@models.command("pin", epilog=PIN_EXAMPLE)
def pin(key: Key, value: Value, as_json: Json = False) -> None:
    """Let a role ask one model and nothing else, from the next run on; or fix another value."""
    _given(key, value, "pinned", as_json=as_json)


@models.command("promote", epilog=PROMOTE_EXAMPLE)
def promote(key: Key, value: Value, as_json: Json = False) -> None:
    """Let a role ask a model first, from the next run on; the others stay behind it."""
    _given(key, value, "promoted", as_json=as_json)


def _given(key: str, value: str, verb: str, *, as_json: bool) -> None:
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.versions import give

    client = server()
    if client is not None:
        made = client.versions.give(key, value, "pinned" if verb == "pinned" else "promoted")
    else:
        book = opened_book()
        made = asyncio.run(give(book, key, value, "pinned" if verb == "pinned" else "promoted"))
    if as_json:
        typer.echo(json.dumps(asdict(made), ensure_ascii=False))
        return
    typer.echo(f"{made.verb}: {made.key} = {made.value}, for every run from now on")
    typer.echo(f"take it back with: {command()} models restore {made.key}", err=True)


@models.command("retire", epilog=RETIRE_EXAMPLE)
def retire(
    model: Annotated[str, typer.Argument(help="provider:model, or provider:model@version.")],
    as_json: Json = False,
) -> None:
    """Let nobody ask a model, or a version of it, until it is restored."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.versions import retire as retired

    client = server()
    fresh = client.versions.retire(model) if client else asyncio.run(retired(opened_book(), model))
    if as_json:
        typer.echo(json.dumps({"model": model, "retired": fresh}))
    else:
        typer.echo(f"{'retired' if fresh else 'was retired already'}: {model}")


@models.command("restore", epilog=RESTORE_EXAMPLE)
def restore(
    what: Annotated[str, typer.Argument(help="A key that is in force, or a retired model.")],
    as_json: Json = False,
) -> None:
    """Take back what was pinned, promoted or retired."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.versions import restore as restored

    client = server()
    told = client.versions.restore(what) if client else asyncio.run(restored(opened_book(), what))
    if as_json:
        typer.echo(json.dumps({"what": what, "restored": list(told)}, ensure_ascii=False))
    for line in () if as_json else told:
        typer.echo(line)


@models.command("challenge", epilog=CHALLENGE_EXAMPLE)
def challenge(
    role: Annotated[str, typer.Argument(help="slow, coder or critic.")] = "",
    model: Annotated[str, typer.Argument(help="provider:model.")] = "",
    share: Annotated[float, typer.Option(help="The share of the role's calls; at most 0.5.")] = 0.1,
    guard: Annotated[
        list[str] | None,
        typer.Option(help="unusable<=0.1, failed<=, right>=, seconds<=, usd<=, tokens<="),
    ] = None,
    stop: Annotated[str, typer.Option(metavar="ROLE", help="End the challenge of a role.")] = "",
    as_json: Json = False,
) -> None:
    """Give a model a share of a role's calls, and see how it does beside the champion."""
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs import challengers

    if bool(stop) == bool(role and model) or (stop and (role or guard)):
        raise ConfigError("name a role and a model, or --stop ROLE; models challenge --help")
    client, guards = server(), tuple(guard or ())
    if stop:
        ended = (
            client.versions.stop(stop)
            if client
            else asyncio.run(challengers.stop(opened_book(), stop))
        )
        told = f"stopped: {ended.model} gets no more calls of {ended.role}"
    else:
        ended = (
            client.versions.challenge(role, model, share, guards)
            if client
            else asyncio.run(challengers.challenge(opened_book(), role, model, share, guards))
        )
        told = f"{ended.model} gets {ended.share:.0%} of the calls of {ended.role} from now on"
    typer.echo(json.dumps(asdict(ended), ensure_ascii=False) if as_json else told)


@models.command("challengers", epilog=CHALLENGERS_EXAMPLE)
def challengers(as_json: Json = False) -> None:
    """How challengers do beside champions; those whose guards are broken fall back."""
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.challengers import ChallengerBook

    client = server()
    if client is not None:
        scores = client.versions.challengers()
    else:
        kept = ChallengerBook(opened_book())
        asyncio.run(kept.look())
        scores = kept.scores()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in scores], ensure_ascii=False))
        return
    if not scores:
        typer.echo(f"nobody challenges a role; {command()} models challenge ROLE MODEL")
    for each in scores:
        _score(each)


def _score(score: "Score") -> None:
    from twinsmith.cli.screen import fitted

    it = score.challenge
    ended = f" {it.ended[:10]} ({it.why})" if it.ended else ""
    typer.echo(fitted(f"{it.role}: {it.model}, {it.share:.0%} of calls, {it.course}{ended}"))
    typer.echo(f"  {'':<10}  {'calls':>6}  {'unusable':>8}  {'right':>12}  {'seconds':>8}  USD")
    for name, side in (("champion", score.tally.champion), ("challenger", score.tally.challenger)):
        typer.echo(f"  {name:<10}  {_figures(side)}")
    if score.tally.challenger.failed.total:
        failed = score.tally.challenger.failed
        typer.echo(f"  it could not answer {failed.total:.0f} of its {failed.n} calls")
    low, high = score.gain
    says = {
        "better": "it is better",
        "worse": "it is worse",
        "open": "nothing can be said yet",
    }[score.says]
    typer.echo(f"  right more often by {low:+.2f} to {high:+.2f} (95 % at every moment): {says}")
    for guard in it.guards:
        typer.echo(f"  guard {guard.words}: {'broken' if score.broken else 'holds'}")


def _figures(side: "Figures") -> str:
    right = f"{side.right.mean:.2f} ({side.right.n})" if side.right.n else "-"
    unusable = f"{side.unusable.mean:.3f}" if side.unusable.n else "-"
    seconds = f"{side.seconds.mean:.2f}" if side.seconds.n else "-"
    usd = f"{side.usd.total:.4f}" if side.usd.n else "-"
    return f"{side.calls:>6}  {unusable:>8}  {right:>12}  {seconds:>8}  {usd}"
