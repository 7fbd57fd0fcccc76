"""The embedder of this machine: all-MiniLM-L6-v2 on onnxruntime, without a key or a network."""

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from twinsmith.adapters.knowledge.embedder import Vectors, storable, unit
from twinsmith.adapters.knowledge.int8_graph import with_int8_products
from twinsmith.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DIMENSIONS = 384
TOKENS = 256
"""What the model was trained to read; of a longer text it reads the beginning."""
CHARACTERS = 16_384
"""More than 256 tokens of prose or code take: no book is cut up for its first page."""


class MiniLm:
    """Two verified files as an embedder; they are read when the first text comes.

    Of a text longer than 256 tokens the first 256 count. Each text is a run of its own: the scale
    of its 8-bit numbers is its own, nothing is filled up, and each thread has another text.
    """

    def __init__(self, model_file: Path, tokenizer_file: Path, *, threads: int) -> None:
        self.dimensions = DIMENSIONS
        self._model_file = model_file
        self._tokenizer_file = tokenizer_file
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None

    @cached_property
    def id(self) -> str:
        """The name and the hash of the weights that are really there."""
        try:
            with self._model_file.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unusable(self._model_file, error) from None
        return f"minilm-l6-v2-w8a8@{digest[:12]}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, in the order of the texts; text by text, so that it can be cancelled."""
        made = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        left = iter(range(len(texts)))

        async def work() -> None:
            for row in left:
                made[row] = await asyncio.to_thread(self._vector, texts[row])

        workers = [asyncio.create_task(work()) for _ in range(min(self._threads, len(texts)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return made

    async def close(self) -> None:
        """Let the model go."""
        self._loaded = None

    def _vector(self, text: str) -> Vectors:
        tokenizer, session = self._load()
        ids = np.array([tokenizer.encode(storable(text[:CHARACTERS])).ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (hidden,) = session.run(["last_hidden_state"], inputs)
        made: Vectors = unit(hidden.mean(axis=1))[0]
        return made

    def _load(self) -> "tuple[Tokenizer, InferenceSession]":
        with self._loading:
            if self._loaded is None:
                self._loaded = _tokenizer(self._tokenizer_file), self._session()
            return self._loaded

    def _session(self) -> "InferenceSession":
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # Older processors would otherwise cut off sums of products that do not fit 16 bits.
        options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            model = with_int8_products(self._model_file.read_bytes())
            return InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # Its errors have no other class in common.
            raise _unusable(self._model_file, error) from error


def _tokenizer(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # It raises no narrower class.
        raise _unusable(file, error) from error
    made.enable_truncation(TOKENS)
    made.no_padding()  # The file asks for 128 tokens, always.
    return made


def _unusable(file: Path, error: Exception) -> ModelUnavailable:
    reason = " ".join(str(error).split())[:200]
    return ModelUnavailable(
        f"the embedder cannot read {file}: {reason}; remove it and install it again: "
        "twinsmith models install minilm-l6-v2, then minilm-l6-v2-tokenizer"
    )
