"""The arithmetic around a model: batches, masks, means and unit lengths; no model is run."""

from pathlib import Path

import numpy as np
import pytest

from twinsmith.adapters.knowledge import minilm
from twinsmith.adapters.knowledge.embedder import HashedEmbedder, storable, unit
from twinsmith.adapters.knowledge.minilm import MiniLm, batches, padded, pooled
from twinsmith.core.errors import ConfigError, ModelUnavailable


def test_batches_hold_every_text_once_and_neighbours_in_length() -> None:
    lengths = [200, 2, 250, 3, 256, 2, 100]
    made = list(batches(lengths))
    assert sorted(place for batch in made for place in batch) == list(range(len(lengths)))
    assert made[0] == [1, 5, 3, 6, 0]
    assert list(batches([])) == []


@pytest.mark.parametrize("lengths", [[256] * 40, [1] * 100, [2, 256] * 30, [minilm.TOKENS]])
def test_a_batch_is_bounded_in_texts_and_in_filled_up_tokens(lengths: list[int]) -> None:
    for batch in batches(lengths):
        assert 1 <= len(batch) <= minilm.BATCH_TEXTS
        assert len(batch) * max(lengths[place] for place in batch) <= minilm.BATCH_TOKENS


def test_texts_are_filled_up_to_the_longest() -> None:
    ids, mask = padded([[101, 7, 102], [101, 102]])
    assert ids.tolist() == [[101, 7, 102], [101, 102, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert ids.dtype == mask.dtype == np.int64


def test_the_mean_leaves_out_what_was_filled_up() -> None:
    hidden = np.array([[[1, 2], [3, 4], [900, 900]], [[5, 6], [7, 8], [9, 10]]], dtype=np.float32)
    mean = pooled(hidden, np.array([[1, 1, 0], [1, 1, 1]]))
    assert mean.tolist() == [[2.0, 3.0], [7.0, 8.0]]
    assert mean.dtype == np.float32


def test_rows_get_length_one_and_zeros_the_first_direction() -> None:
    rows = unit(np.array([[3, 4], [0, 0], [0, 1e-3]], dtype=np.float32))
    assert np.allclose(rows, [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]])
    assert rows.dtype == np.float32
    assert unit(np.zeros((0, 5), dtype=np.float32)).shape == (0, 5)


def test_halves_of_characters_are_replaced_and_whole_ones_kept() -> None:
    assert storable("a\ud800b") == "a?b"
    assert storable("é 漢 🙂\x00") == "é 漢 🙂\x00"


async def test_the_fake_puts_texts_with_common_words_near() -> None:
    question, near, far = await HashedEmbedder().embed(
        ["hash a password", "def hash_password(password): ...", "sort numbers quickly"]
    )
    assert question @ near > 0.7 > 0.2 > question @ far
    with pytest.raises(ConfigError, match="0 dimensions"):
        HashedEmbedder(0)


async def test_missing_files_are_one_line_with_what_to_do(tmp_path: Path) -> None:
    made = MiniLm(tmp_path / "model.onnx", tmp_path / "tokenizer.json", threads=1)
    assert (await made.embed([])).shape == (0, 384)
    with pytest.raises(ModelUnavailable, match="twinsmith models install minilm-l6-v2") as told:
        await made.embed(["x"])
    assert "\n" not in str(told.value)
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        assert made.id
