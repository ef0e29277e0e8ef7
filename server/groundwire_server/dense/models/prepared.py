"""A model on disk, ready to load: a folder with model.onnx, tokenizer.json and a manifest with their checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.dense.models.folder import models_folders
from groundwire_server.dense.models.registry import ModelSpec, known_model
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["PreparedModel", "find_model", "hash_file", "prepare_hint", "read_prepared"]

MANIFEST = "manifest.json"
MANIFEST_FORMAT = 1
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that is ready to load. `version` is the SHA-256 of model.onnx in hex: the model's identity everywhere.

    Attributes:
        source: where the weights came from, for people.
        files: name, SHA-256 in hex and size of each file.
    """

    spec: ModelSpec
    variant: str
    folder: Path
    source: str
    files: tuple[tuple[str, str, int], ...]

    @property
    def version(self) -> str:
        return next(sha256 for name, sha256, _ in self.files if name == MODEL_FILE)

    @property
    def model_file(self) -> Path:
        return self.folder / MODEL_FILE

    @property
    def tokenizer_file(self) -> Path:
        return self.folder / TOKENIZER_FILE

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(size for _, _, size in self.files)

    def verify(self) -> None:
        """Read every file and compare it with the manifest (about 0.05 s for 90 MB).

        Raises:
            FailedPrecondition: NO_MODEL; a file is gone or its bytes changed.
        """
        for name, sha256, size in self.files:
            path = self.folder / name
            try:
                sound = path.stat().st_size == size and hash_file(path) == sha256
            except OSError:
                sound = False
            if not sound:
                raise FailedPrecondition(
                    ErrorReason.NO_MODEL,
                    f"The prepared model {self.spec.name} ({self.variant}) is damaged: {name} is not as its manifest "
                    "says.",
                    hint=prepare_hint(self.spec.name),
                    details={"model": self.spec.name, "variant": self.variant, "file": name},
                )


def prepare_hint(name: str) -> str:
    """What to do when a model is not there."""
    return f"Run `groundwire models prepare {name}`, or go on without embeddings (--lexical, mode lexical)."


def hash_file(path: Path, seen: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file in hex. `seen` is told how many bytes have been read. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in _blocks(file.read):
            digest.update(block)
            if seen is not None:
                seen(file.tell())
    return digest.hexdigest()


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(1 << 20):
        yield block


def folder_name(spec: ModelSpec, variant: str) -> str:
    """Name of a prepared model's folder within the models folder."""
    return f"{spec.name}-{variant}"


def write_manifest(folder: Path, spec: ModelSpec, variant: str, source: str) -> None:
    """Write the manifest beside model.onnx and tokenizer.json. Raises OSError."""
    files = {
        name: {"sha256": hash_file(folder / name), "bytes": (folder / name).stat().st_size}
        for name in (MODEL_FILE, TOKENIZER_FILE)
    }
    manifest = {
        "format": MANIFEST_FORMAT,
        "name": spec.name,
        "variant": variant,
        "dim": spec.dim,
        "max_tokens": spec.max_tokens,
        "query_prefix": spec.query_prefix,
        "passage_prefix": spec.passage_prefix,
        "license": spec.license,
        "source": source,
        "files": files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_prepared(models: Path, spec: ModelSpec, variant: str) -> PreparedModel | None:
    """The prepared model in that models folder, or None when there is none with a manifest that can be read.

    Sizes and checksums are those of the manifest; `PreparedModel.verify` compares them with the files.
    """
    folder = models / folder_name(spec, variant)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != MANIFEST_FORMAT or (manifest["name"], manifest["variant"]) != (spec.name, variant):
            return None
        files = tuple(
            (name, str(manifest["files"][name]["sha256"]), int(manifest["files"][name]["bytes"]))
            for name in (MODEL_FILE, TOKENIZER_FILE)
        )
        return PreparedModel(spec, variant, folder, str(manifest["source"]), files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_model(name: str, variant: str | None = None, folder: Path | None = None) -> PreparedModel | None:
    """The prepared model of that name, or None. Without a variant: the first of the model's variants that is there.

    Looks into `folder`, else `GROUNDWIRE_MODELS`, then into the user's cache; never at the network.

    Raises:
        InvalidRequest: the name or the variant is unknown.
    """
    spec = known_model(name)
    variants = spec.variants if variant is None else (spec.check_variant(variant),)
    for wanted in variants:
        for models in models_folders(folder):
            prepared = read_prepared(models, spec, wanted)
            if prepared is not None:
                return prepared
    return None
