"""`twinsmith doctor`: the components of this machine, the settings in force, what to mend."""

import json

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json

EXAMPLE = "Example: twinsmith doctor --json"
_COLOUR = {"ok": "green", "warning": "yellow", "missing": "red"}


def doctor(as_json: Json = False) -> None:
    """Each component, its state, the value in force and where it came from."""
    import asyncio
    from dataclasses import asdict

    from twinsmith.doctor import examine, ready
    from twinsmith.settings import load

    components = asyncio.run(examine(load()))
    usable = ready(components)
    if as_json:
        rows = [asdict(component) for component in components]
        typer.echo(json.dumps({"ready": usable, "components": rows}, ensure_ascii=False))
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(soft_wrap=True, highlight=False)
        for part in components:
            colour = _COLOUR[part.health]
            console.print(
                f"[{colour}]{part.health:<8}[/{colour}] {part.name:<22} {escape(part.value)} "
                f"[dim](from {escape(part.source)})[/dim]"
            )
            if part.advice:
                console.print(f"         {'':<22} → {escape(part.advice)}")
        console.print(
            "ready: the main job can run" if usable else "not ready: mend what is missing"
        )
    raise typer.Exit(exits.DONE if usable else exits.NO)
