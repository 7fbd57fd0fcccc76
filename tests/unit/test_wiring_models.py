from pathlib import Path

import pytest

from twinsmith.adapters.models.embedded import shape_for
from twinsmith.core.errors import ConfigError
from twinsmith.settings import load
from twinsmith.wiring.models import embedded_name, offer


def test_the_embedded_model_fits_the_memory_there_is() -> None:
    assert embedded_name("auto", 20_000) == "qwen2.5-coder-1.5b"
    assert embedded_name("auto", 1_500) == "qwen2.5-coder-0.5b"
    assert embedded_name("smollm2-135m", 100) == "smollm2-135m"
    assert embedded_name("", 20_000) == ""
    with pytest.raises(ConfigError, match="qwen9"):
        embedded_name("qwen9", 20_000)


def test_every_role_of_both_ensembles_has_models(tmp_path: Path) -> None:
    env = {"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_MODELS_OLLAMA": ""}
    chosen = offer(load(env))
    assert set(chosen.routes) == {(n, role) for n in (1, 2) for role in ("slow", "coder", "critic")}
    assert chosen.embedded() == chosen.leading_embedded()
    keyed = offer(load({**env, "GEMINI_API_KEY": "k" * 20}))
    assert keyed.leading_embedded() == set()
    assert keyed.embedded() == chosen.embedded()
    assert keyed.routes[1, "slow"].endpoints[0].name == "google:gemini-2.5-pro"


def test_lists_in_the_environment_have_commas(tmp_path: Path) -> None:
    env = {
        "TWINSMITH_HOME": str(tmp_path),
        "TWINSMITH_MODELS_OLLAMA": "",
        "TWINSMITH_ENSEMBLE_1_SLOW": "openai:a, server:b",
    }
    names = [endpoint.name for endpoint in offer(load(env)).routes[1, "slow"].endpoints]
    assert names == ["openai:a", "server:b"]


@pytest.mark.parametrize(
    ("cores", "threads", "slots"), [(1, 1, 4), (2, 2, 4), (8, 8, 4), (32, 16, 8)]
)
def test_the_shape_fits_small_and_large_machines(cores: int, threads: int, slots: int) -> None:
    shape = shape_for(cores)
    assert (shape.threads, shape.slots, shape.context) == (threads, slots, slots * 4096)
    assert shape_for(cores, threads=3, slots=5, context=999).context == 999
