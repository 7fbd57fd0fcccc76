"""Model files for tests: installed once for all test runs of this machine, from the registry."""

import asyncio
import os
from pathlib import Path

import pytest

from twinsmith.adapters.models import catalogue
from twinsmith.adapters.models.install import ModelStore
from twinsmith.core.errors import ModelUnavailable

FOLDER = Path(
    os.environ.get("TWINSMITH_TEST_MODELS", Path.home() / ".cache" / "twinsmith-tests" / "models")
)


def installed(name: str) -> Path:
    """The model's file; skips the test, with the reason, where it cannot be had."""
    try:
        return asyncio.run(
            ModelStore(FOLDER).install(catalogue.find(name), lambda _done, _total: None)
        )
    except ModelUnavailable as error:
        pytest.skip(f"{name} cannot be installed here: {error}")
