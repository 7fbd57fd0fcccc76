"""`twinsmith package`: a finished program as a folder that anybody can deploy."""

import json
from typing import Annotated

import typer

from twinsmith.cli.options import Json, Out

EXAMPLE = "Example: twinsmith package a3f9 --out ./shop"


def package(
    what: Annotated[str, typer.Argument(help="A run, how its name ends, or a result's folder.")],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Write a Containerfile, a compose file, locked packages, an SBOM and a README."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.package import package as packaged

    source, folder = asyncio.run(packaged(opened_book(), what, out))
    if as_json:
        told = {"out": str(folder), "source": source.digest, "kind": source.program.kind}
        typer.echo(json.dumps(told, ensure_ascii=False))
        return
    typer.echo(f"package: {folder}")
    typer.echo(f"source:  sha256:{source.digest}")
    typer.echo(f"next:    cd {folder} && docker compose up --build")
