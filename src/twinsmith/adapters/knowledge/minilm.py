"""The embedder of this machine: all-MiniLM-L6-v2 on onnxruntime, without a key or a network."""

import asyncio
import hashlib
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twinsmith.adapters.knowledge.embedder import Vectors, storable, unit
from twinsmith.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DIMENSIONS = 384
TOKENS = 256
"""What the model was trained to read; of a longer text it reads the beginning."""
CHARACTERS = 16_384
"""More than 256 tokens of prose or code take: no book is cut up for its first page."""
BATCH_TEXTS = 32
BATCH_TOKENS = 1024
"""Measured: 8,192 is no faster and takes 1 GB instead of 360 MB."""

Ids = NDArray[np.int64]


class MiniLm:
    """Two verified files as an embedder; they are read when the first text comes.

    Of a text longer than 256 tokens the first 256 count.
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
        return f"minilm-l6-v2-int8@{digest[:12]}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, in the order of the texts; batch by batch, so that it can be cancelled."""
        tokens = await asyncio.to_thread(self._tokens, texts)
        made = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for rows in batches([len(ids) for ids in tokens]):
            made[rows] = await asyncio.to_thread(self._vectors, [tokens[row] for row in rows])
        return made

    async def close(self) -> None:
        """Let the model go."""
        self._loaded = None

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        tokenizer, _ = self._load()
        # One by one: a whole list starts a pool of threads that warns at every later fork.
        return [tokenizer.encode(storable(text[:CHARACTERS])).ids for text in texts]

    def _vectors(self, tokens: list[list[int]]) -> Vectors:
        _, session = self._load()
        ids, mask = padded(tokens)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["last_hidden_state"], inputs)
        return unit(pooled(hidden, mask))

    def _load(self) -> "tuple[Tokenizer, InferenceSession]":
        with self._loading:
            if self._loaded is None:
                self._loaded = _tokenizer(self._tokenizer_file), self._session()
            return self._loaded

    def _session(self) -> "InferenceSession":
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        # Waiting threads would otherwise burn a core each while others have work.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            return InferenceSession(
                str(self._model_file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # Its errors have no other class in common.
            raise _unusable(self._model_file, error) from error


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that go together: the shortest first, so that little is filled up."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        full = len(batch) == BATCH_TEXTS or (len(batch) + 1) * lengths[place] > BATCH_TOKENS
        if batch and full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(tokens: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Texts of several lengths as one rectangle, and a mask of what in it is text."""
    ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return ids, mask


def pooled(hidden: Vectors, mask: Ids) -> Vectors:
    """The mean over the tokens of each text, without what it was filled up with."""
    weights = mask.astype(np.float32)
    mean: Vectors = np.einsum("ntd,nt->nd", hidden, weights) / weights.sum(axis=1, keepdims=True)
    return mean


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
