"""The arithmetic around a model: 8-bit products and unit lengths; no model is read."""

from pathlib import Path

import numpy as np
import pytest

from twinsmith.adapters.knowledge.embedder import HashedEmbedder, Vectors, storable, unit
from twinsmith.adapters.knowledge.int8_graph import with_int8_products
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.core.errors import ConfigError, ModelUnavailable

FLOAT, INT8 = 1, 3
WEIGHTS = np.random.default_rng(1).integers(-127, 128, (64, 16), dtype=np.int8)
SCALES = np.linspace(0.001, 0.01, 16, dtype=np.float32).reshape(1, 16)


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number: int, value: int | str | bytes) -> bytes:
    """As the ONNX format writes it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(operator: str, inputs: str, output: str, attribute: bytes = b"") -> bytes:
    names = b"".join(field(1, name) for name in inputs.split())
    return field(1, names + field(2, output) + field(4, operator) + attribute)


def tensor(
    name: str, kind: int, values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
) -> bytes:
    sizes = b"".join(field(1, size) for size in values.shape)
    return field(5, sizes + field(2, kind) + field(8, name) + field(9, values.tobytes()))


def value(number: int, name: str, width: int) -> bytes:
    sizes = field(1, field(2, "rows")) + field(1, field(1, width))
    return field(number, field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, sizes))))


def small_model(operator: str = "MatMul") -> bytes:
    """x @ (float(weights) * scales), or 0 where that is no number, as a file."""
    graph = (
        node("Cast", "weights", "wide", field(5, field(1, "to") + field(3, FLOAT) + field(20, 2)))
        + node("Mul", "wide scales", "widened")
        + node(operator, "x widened", "product")
        + node("IsNaN", "product", "odd")
        + node("Where", "odd zero product", "y")
        + field(2, "graph")
        + tensor("weights", INT8, WEIGHTS)
        + tensor("scales", FLOAT, SCALES)
        + tensor("zero", FLOAT, np.zeros(1, dtype=np.float32))
        + value(11, "x", 64)
        + value(12, "y", 16)
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def run(model: bytes, x: Vectors) -> Vectors:
    from onnxruntime import InferenceSession

    (made,) = InferenceSession(model, providers=["CPUExecutionProvider"]).run(["y"], {"x": x})
    return np.asarray(made, dtype=np.float32)


def test_products_of_8_bit_weights_are_fused_and_nearly_the_same() -> None:
    x = np.random.default_rng(2).normal(size=(5, 64)).astype(np.float32)
    exact = x @ (WEIGHTS.astype(np.float32) * SCALES)
    fused = with_int8_products(small_model())
    assert b"DynamicQuantizeMatMul" in fused
    assert b"MatMul" not in fused.replace(b"DynamicQuantizeMatMul", b"")
    assert b"Where" in small_model()
    assert b"Where" not in fused
    assert np.allclose(run(small_model(), x), exact, atol=1e-4)
    assert not np.array_equal(run(fused, x), exact), "the activations are rounded"
    assert np.abs(run(fused, x) - exact).max() < 0.02 * np.abs(exact).max()


def test_a_model_without_such_products_or_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="not 8-bit ones"):
        with_int8_products(small_model("Gemm"))
    with pytest.raises(ValueError, match="in the middle of a field"):
        with_int8_products(small_model()[:-3])
    with pytest.raises(ValueError, match="not an ONNX file: wire type 7"):
        with_int8_products(b"\xff\x01")
    with pytest.raises(ValueError, match="in the middle of a number"):
        with_int8_products(b"\xff")


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
