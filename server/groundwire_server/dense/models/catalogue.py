"""What `groundwire models list` shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from groundwire_server.dense.models.folder import models_folders
from groundwire_server.dense.models.prepared import PreparedModel, read_prepared
from groundwire_server.dense.models.registry import KNOWN_MODELS, ModelSpec

__all__ = ["CatalogueEntry", "list_models"]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One variant of a known model; `prepared` is None when it is not on this machine."""

    spec: ModelSpec
    variant: str
    is_default: bool
    prepared: PreparedModel | None


def list_models(folder: Path | None = None) -> list[CatalogueEntry]:
    """Every known model in every variant, the default first. Reads manifests only: no file is verified, no network."""
    return [
        CatalogueEntry(
            spec, variant, variant == spec.variants[0] and spec is KNOWN_MODELS[0], _find(spec, variant, folder)
        )
        for spec in KNOWN_MODELS
        for variant in spec.variants
    ]


def _find(spec: ModelSpec, variant: str, folder: Path | None) -> PreparedModel | None:
    found = (read_prepared(models, spec, variant) for models in models_folders(folder))
    return next((prepared for prepared in found if prepared is not None), None)
