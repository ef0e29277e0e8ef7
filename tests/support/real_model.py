"""The real embedding model for tests: prepared once, kept in the repository's .cache folder."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from groundwire_server.dense import DEFAULT_MODEL, PreparedModel, prepare

__all__ = ["real_model"]


@functools.cache
def real_model() -> PreparedModel:
    """The default model from GROUNDWIRE_MODELS, else from <repository>/.cache/models; downloaded when it is not there.

    A download that fails is an error of the test run, with the hint that people get.
    """
    configured = os.environ.get("GROUNDWIRE_MODELS")
    folder = Path(configured) if configured else Path(__file__).resolve().parents[2] / ".cache" / "models"
    return prepare(DEFAULT_MODEL, folder=folder)
