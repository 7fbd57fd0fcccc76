"""`twinsmith models`: the embedded models, and a question to whichever answers."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json
from twinsmith.cli.remote import refuse_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from twinsmith.adapters.models.catalogue import CatalogueModel
    from twinsmith.adapters.models.install import ModelStore

LIST_EXAMPLE = "Example: twinsmith models list --json"
INSTALL_EXAMPLE = "Example: twinsmith models install qwen2.5-coder-1.5b"
REMOVE_EXAMPLE = "Example: twinsmith models remove qwen2.5-coder-1.5b"
ASK_EXAMPLE = 'Example: twinsmith models ask slow "How are passwords stored safely?"'
PATH_EXAMPLE = "Example: twinsmith models path qwen2.5-coder-1.5b"

Name = Annotated[str, typer.Argument(help="The model, as `twinsmith models list` names it.")]

models = typer.Typer(
    help="Models: embedded ones, questions to any, versions, what is in force, challengers.",
    no_args_is_help=True,
)
HERE = ("list", "install", "ask", "remove", "path")


@models.callback()
def _options(context: typer.Context) -> None:
    refuse_server(context, HERE)


@models.command("list", epilog=LIST_EXAMPLE)
def list_models(as_json: Json = False) -> None:
    """The models that can be installed, and which are."""
    from twinsmith.adapters.models.catalogue import MODELS

    store = _store()
    if as_json:
        rows = [_as_json(model, store.path(model)) for model in MODELS]
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    typer.echo(f"{'name':<22}  {'size':>7}  {'licence':<10}  {'installed':<9}  what it is")
    for model in MODELS:
        here = "yes" if store.path(model) else "no"
        size = f"{_megabytes(model)} MB"
        typer.echo(f"{model.name:<22}  {size:>7}  {model.licence:<10}  {here:<9}  {model.title}")


@models.command("install", epilog=INSTALL_EXAMPLE)
def install(name: Name, as_json: Json = False) -> None:
    """Fetch a model and verify it; an interrupted install goes on where it stopped."""
    from twinsmith.adapters.models.catalogue import find

    model = find(name)
    path = install_shown(_store(), model, quiet=as_json)
    if as_json:
        typer.echo(json.dumps(_as_json(model, path), ensure_ascii=False))


def install_shown(store: "ModelStore", model: "CatalogueModel", *, quiet: bool) -> "Path":
    """Install a model after one line that says what, how large and under which licence."""
    typer.echo(
        f"installing {model.title}: {_megabytes(model)} MB, licence {model.licence}", err=quiet
    )
    if quiet:
        return _fetch(store, model, lambda _done, _total: None, as_json=True)
    with _shown() as progress:
        path = _fetch(store, model, progress, as_json=False)
    typer.echo(f"installed: {path}")
    return path


@models.command("ask", epilog=ASK_EXAMPLE)
def ask(
    role: Annotated[str, typer.Argument(help="slow, coder or critic.")],
    text: Annotated[str, typer.Argument(help="The question.")],
    ensemble: Annotated[str, typer.Option(help="1 or 2.")] = "1",
    purpose: Annotated[
        str, typer.Option(help="answer; clarification or practice prefer a frontier model.")
    ] = "answer",
    as_json: Json = False,
) -> None:
    """Ask the models of a role, as a build would."""
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import provide_model
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.model import PURPOSES, ROLES
    from twinsmith.runs.outside import ask as asked
    from twinsmith.settings import load

    chosen = next((known for known in ROLES if known == role), None)
    if chosen is None:
        raise ConfigError(f"role {role!r} is unknown; one of {', '.join(ROLES)}")
    meant = next((known for known in PURPOSES if known == purpose), None)
    if meant is None:
        raise ConfigError(f"purpose {purpose!r} is unknown; one of {', '.join(PURPOSES)}")
    if ensemble not in ("1", "2"):
        raise ConfigError(f"ensemble {ensemble!r} is unknown; 1 or 2")
    if not text.strip():
        raise ConfigError("the question is empty; say what you want to know")
    settings = load()
    provide_model(settings, as_json=as_json)
    reply = asyncio.run(asked(opened_book(settings), chosen, int(ensemble), text, meant))
    if as_json:
        typer.echo(json.dumps(asdict(reply), ensure_ascii=False))
        return
    typer.echo(reply.text)
    price = "unknown price" if reply.usd is None else f"{reply.usd:.4f} USD"
    typer.echo(
        f"[{reply.model}, {reply.tokens_in} tokens in, {reply.tokens_out} out, "
        f"{reply.seconds:.1f} s, {price}{', from the cache' if reply.cached else ''}]",
        err=True,
    )


@models.command("remove", epilog=REMOVE_EXAMPLE)
def remove(name: Name, as_json: Json = False) -> None:
    """Delete a model from this machine."""
    from twinsmith.adapters.models.catalogue import find

    model = find(name)
    store = _store()
    was_here = store.path(model) is not None
    store.remove(model)
    if as_json:
        typer.echo(json.dumps({"name": model.name, "removed": was_here}))
    else:
        typer.echo(f"{'removed' if was_here else 'was not installed'}: {model.name}")


@models.command("path", epilog=PATH_EXAMPLE)
def path(name: Name, as_json: Json = False) -> None:
    """Where a model's file is."""
    from twinsmith.adapters.models.catalogue import find

    model = find(name)
    file = _store().path(model)
    if file is None:
        exits.fail(
            f"model {model.name} is not installed; run: twinsmith models install {model.name}",
            exits.NO,
            as_json=as_json,
        )
    typer.echo(json.dumps(_as_json(model, file), ensure_ascii=False) if as_json else str(file))


def _store() -> "ModelStore":
    from twinsmith.settings import load
    from twinsmith.wiring.models import store_of

    return store_of(load())


def _fetch(
    store: "ModelStore",
    model: "CatalogueModel",
    progress: "Callable[[int, int], None]",
    *,
    as_json: bool,
) -> "Path":
    import asyncio
    import signal

    async def main() -> "Path":
        me = asyncio.current_task()
        assert me is not None
        # Terminated in order, so that no download outlives the command.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
        return await store.install(model, progress)

    try:
        return asyncio.run(main())
    except (KeyboardInterrupt, asyncio.CancelledError) as stopped:
        interrupted = isinstance(stopped, KeyboardInterrupt)
        exits.fail(
            f"stopped; what is here is kept, go on with: twinsmith models install {model.name}",
            exits.INTERRUPTED if interrupted else exits.TERMINATED,
            as_json=as_json,
        )


def _shown() -> "AbstractContextManager[Callable[[int, int], None]]":
    """Progress on a screen as a bar, elsewhere as a line for every tenth."""
    import sys
    from contextlib import contextmanager

    @contextmanager
    def bar() -> "Iterator[Callable[[int, int], None]]":
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        with Progress(BarColumn(), DownloadColumn(), TimeRemainingColumn()) as shown:
            task = shown.add_task("", total=None)
            yield lambda done, total: shown.update(task, completed=done, total=total)

    @contextmanager
    def lines() -> "Iterator[Callable[[int, int], None]]":
        told = 0

        def tell(done: int, total: int) -> None:
            nonlocal told
            tenth = done * 10 // total
            if tenth > told:
                told = tenth
                typer.echo(f"{tenth * 10} % ({done / 10**6:.1f} of {total / 10**6:.1f} MB)")

        yield tell

    return bar() if sys.stdout.isatty() else lines()


def _megabytes(model: "CatalogueModel") -> int:
    return max(1, model.bytes // 10**6)


def _as_json(model: "CatalogueModel", file: "Path | None") -> dict[str, object]:
    return {
        "name": model.name,
        "kind": model.kind,
        "title": model.title,
        "bytes": model.bytes,
        "sha256": model.sha256,
        "licence": model.licence,
        "memory_mb": model.memory_mb,
        "installed": file is not None,
        "path": str(file) if file else "",
    }
