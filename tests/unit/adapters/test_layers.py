from pathlib import Path

import pytest

from twinsmith.adapters.sandbox import layers
from twinsmith.adapters.sandbox.layers import LOCK, Layers, imports, refused, wanted, warmed
from twinsmith.core.operating.containerfile import SERVER
from twinsmith.core.program import Program

SOURCE = """
import os.path, numpy.linalg as la
from flask import Flask
from . import near
import typing
if typing.TYPE_CHECKING:
    from orders import Order
import solution
try:
    import yaml
except ImportError:
    yaml = None
def late():
    from jwt import decode
"""


def test_imports_are_first_names_and_those_in_a_try_may_be_missing() -> None:
    assert imports(SOURCE) == {"os", "numpy", "flask", "solution", "jwt", "typing"}
    assert imports(SOURCE, optional=True) == imports(SOURCE) | {"yaml"}
    assert imports("def f(:") == set()


def test_what_comes_from_a_layer_and_what_is_warmed() -> None:
    program = Program(source=SOURCE + "import antigravity\n")
    assert wanted(program) == {"numpy", "flask", "jwt"}
    assert warmed(program) == ["flask", "jwt", "numpy", "os", "typing"]


@pytest.mark.parametrize(
    ("program", "asked"),
    [
        (Program(source=SOURCE), ""),
        (Program(source="import requests"), "requests"),
        (Program(source="x = 1", requires=("flask", "left-pad")), "left-pad"),
        (Program(source="package main", language="go", requires=("gin",)), "gin"),
        (Program(source="package main", language="go"), ""),
    ],
)
def test_what_is_not_allowed_is_named(program: Program, asked: str) -> None:
    said = refused(program)
    assert (f"not allowed: {asked}; allowed: " in said) == bool(asked)
    assert bool(said) == bool(asked)


def test_every_allowed_package_is_locked_with_hashes() -> None:
    locked = LOCK.read_text()
    for package in layers.ALLOWED.values():
        assert f"\n{package}==" in f"\n{locked}"
    assert locked.count("--hash=sha256:") > len(layers.ALLOWED)
    wanted = set(LOCK.with_suffix(".in").read_text().split())
    assert {*layers.ALLOWED.values(), SERVER} == wanted


async def test_a_layer_is_made_once_and_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Path] = []

    def install(folder: Path, _version: str) -> None:
        tries.append(folder)
        (folder / "module.py").write_text("")
        if len(tries) == 1:
            raise RuntimeError("pulled the plug")

    monkeypatch.setattr(layers, "_install", install)
    box, program = Layers(tmp_path / "layers"), Program(source="import numpy")
    with pytest.raises(RuntimeError):
        await box.layer(program)
    assert [p for p in (tmp_path / "layers").iterdir() if not p.name.endswith(".lock")] == []
    first = await box.layer(program)
    assert first == await box.layer(program)
    assert first is not None
    assert (first / "module.py").exists()
    assert len(tries) == 2
    assert await box.layer(Program(source="import math")) is None
    assert await box.layer(Program(source="x", language="c")) is None
