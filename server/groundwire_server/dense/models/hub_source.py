"""Weights from the Hugging Face hub, through fastembed, in a process of its own: used only when asked for.

The hub's libraries retry for minutes where there is no network; a child process can be watched and ended.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from groundwire_server.dense.models.prepared import MODEL_FILE, TOKENIZER_FILE
from groundwire_server.dense.models.progress import Progress, ProgressListener
from groundwire_server.dense.models.registry import HubSource, ModelSpec
from groundwire_server.dense.models.watched_process import Stalled, run_watched
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["fetch_from_hub"]

STALL_SECONDS = 60.0
LOG = "hub.log"
CHILD = "groundwire_server.dense.models.hub_child"


def fetch_from_hub(spec: ModelSpec, models: Path, into: Path, progress: ProgressListener) -> None:
    """Put the hub's model.onnx and tokenizer.json into the folder `into`.

    The hub publishes no checksum that could be pinned here: the manifest records what came.

    Raises:
        FailedPrecondition: NO_MODEL; the hub is out of reach or has no such files.
        OSError: the folder cannot be written.
    """
    log = models / LOG
    with tempfile.TemporaryDirectory(prefix=".hub-", dir=models) as cache:
        progress(Progress("download", note=f"{spec.hub.repository} from the hub"))
        try:
            code = run_watched(
                [
                    *(sys.executable, "-m", CHILD),
                    *(spec.name, spec.hub.repository, spec.hub.model_file, str(spec.dim), cache),
                ],
                environment={**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"},
                watched=Path(cache),
                log=log,
                seen=lambda size: progress(Progress("download", size)),
                stall_seconds=STALL_SECONDS,
            )
        except Stalled:
            code = -1
        found = _snapshot(Path(cache), spec.hub) if code == 0 else None
        if found is None:
            raise FailedPrecondition(
                ErrorReason.NO_MODEL,
                f"The model {spec.name} could not be downloaded from the hub ({spec.hub.repository}).",
                hint=f"Check the network and HF_ENDPOINT; what the hub's client said is in {log}. "
                f"Without the hub: `groundwire models prepare {spec.name}`.",
                details={"model": spec.name, "repository": spec.hub.repository},
            )
        shutil.copyfile(found / spec.hub.model_file, into / MODEL_FILE)
        shutil.copyfile(found / spec.hub.tokenizer_file, into / TOKENIZER_FILE)


def _snapshot(cache: Path, hub: HubSource) -> Path | None:
    """The folder of the downloaded revision that holds both files."""
    for found in sorted(cache.glob(f"models--*/snapshots/*/{hub.model_file}")):
        folder = found.parents[hub.model_file.count("/")]
        if (folder / hub.tokenizer_file).is_file():
            return folder
    return None
