"""An ONNX graph that widens 8-bit weights, made to multiply them as they are.

A model with `MatMul(x, Mul(Cast(weights), scales))` is small on disk and no faster for it: the
weights are floats by the time they are used. onnxruntime has an operator that rounds `x` as well
and multiplies whole numbers, in half the time. `Where(IsNaN(x), 0, x)` guards rows that are all
masked, which a text on its own never has: it becomes `x`. What is not understood here is copied.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

DOMAIN = b"com.microsoft"
FUSED = b"DynamicQuantizeMatMul"

# Numbers of fields, as the ONNX format has them.
_GRAPH, _OPSETS = 7, 8
_NODES, _TENSORS, _TENSOR_NAME = 1, 5, 8
_INPUTS, _OUTPUTS, _OPERATOR, _DOMAIN = 1, 2, 4, 7
_OPSET_DOMAIN, _OPSET_VERSION_ONE = 1, b"\x10\x01"
# How protocol buffers mark a field: a number, eight bytes, a length and so many bytes, four bytes.
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class _Node:
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operator: str


def with_int8_products(model: bytes) -> bytes:
    """The model with every such product fused; ValueError where there is none."""
    made = bytearray()
    for number, value, raw in _fields(memoryview(model)):
        made += _field(_GRAPH, _fused(value)) if number == _GRAPH else raw
    return bytes(made) + _field(_OPSETS, _field(_OPSET_DOMAIN, DOMAIN) + _OPSET_VERSION_ONE)


def _fused(graph: memoryview) -> bytes:
    nodes = [_node(value) for number, value, _ in _fields(graph) if number == _NODES]
    tensors = {_name(value) for number, value, _ in _fields(graph) if number == _TENSORS}
    widened = _widened(nodes, tensors)
    guards = {node.outputs[0] for node in nodes if node.operator == "IsNaN"}
    if not any(node.operator == "MatMul" and node.inputs[1] in widened for node in nodes):
        raise ValueError("its weights are not 8-bit ones as this version knows them")
    made = bytearray()
    for number, value, raw in _fields(graph):
        made += _changed(_node(value), widened, guards) or raw if number == _NODES else raw
    return bytes(made)


def _changed(
    node: _Node, widened: Mapping[str, tuple[str, str]], guards: AbstractSet[str]
) -> bytes:
    """The node that takes its place; nothing where it stays."""
    if node.operator == "MatMul" and node.inputs[1] in widened:
        inputs = (node.inputs[0], *widened[node.inputs[1]])
        return _written_node(inputs, node.outputs, FUSED, DOMAIN)
    if node.operator == "Where" and node.inputs[0] in guards:
        return _written_node(node.inputs[2:], node.outputs, b"Identity", b"")
    return b""


def _widened(nodes: list[_Node], tensors: set[str]) -> dict[str, tuple[str, str]]:
    """The weights and scales behind each name that stands for their product."""
    cast = {node.outputs[0]: node.inputs[0] for node in nodes if node.operator == "Cast"}
    return {
        node.outputs[0]: (cast[node.inputs[0]], node.inputs[1])
        for node in nodes
        if node.operator == "Mul"
        and node.inputs[1] in tensors
        and cast.get(node.inputs[0]) in tensors
    }


def _written_node(
    inputs: tuple[str, ...], outputs: tuple[str, ...], operator: bytes, domain: bytes
) -> bytes:
    parts = [
        *(_field(_INPUTS, each.encode()) for each in inputs),
        *(_field(_OUTPUTS, each.encode()) for each in outputs),
        _field(_OPERATOR, operator),
        _field(_DOMAIN, domain),
    ]
    return _field(_NODES, b"".join(parts))


def _node(data: memoryview) -> _Node:
    fields = [(number, value) for number, value, _ in _fields(data)]
    return _Node(
        inputs=tuple(_text(value) for number, value in fields if number == _INPUTS),
        outputs=tuple(_text(value) for number, value in fields if number == _OUTPUTS),
        operator="".join(_text(value) for number, value in fields if number == _OPERATOR),
    )


def _name(tensor: memoryview) -> str:
    return "".join(_text(value) for number, value, _ in _fields(tensor) if number == _TENSOR_NAME)


def _text(value: memoryview) -> str:
    return bytes(value).decode()


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """The number, the value and the whole of each field of a message."""
    at = 0
    while at < len(data):
        begin = at
        key, at = _varint(data, at)
        match key & 7:
            case wire if wire == _VARINT:
                size = _varint(data, at)[1] - at
            case wire if wire == _BYTES:
                size, at = _varint(data, at)
            case wire if wire in (_EIGHT, _FOUR):
                size = 8 if wire == _EIGHT else 4
            case wire:
                raise ValueError(f"it is not an ONNX file: wire type {wire} at byte {begin}")
        if at + size > len(data):
            raise ValueError(f"it ends in the middle of a field of {size} bytes")
        yield key >> 3, data[at : at + size], data[begin : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("it ends in the middle of a number")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _field(number: int, value: bytes) -> bytes:
    return _written(number << 3 | _BYTES) + _written(len(value)) + value


def _written(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
