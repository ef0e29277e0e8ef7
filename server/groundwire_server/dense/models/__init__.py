"""Models on this machine: which there are, where they lie, and how they get there."""

from groundwire_server.dense.models.catalogue import CatalogueEntry, list_models
from groundwire_server.dense.models.folder import models_folder, models_folders
from groundwire_server.dense.models.prepare import SOURCES, prepare
from groundwire_server.dense.models.prepared import PreparedModel, find_model
from groundwire_server.dense.models.progress import Progress, ProgressListener
from groundwire_server.dense.models.registry import DEFAULT_MODEL, KNOWN_MODELS, ModelSpec, known_model

__all__ = [
    "DEFAULT_MODEL",
    "KNOWN_MODELS",
    "SOURCES",
    "CatalogueEntry",
    "ModelSpec",
    "PreparedModel",
    "Progress",
    "ProgressListener",
    "find_model",
    "known_model",
    "list_models",
    "models_folder",
    "models_folders",
    "prepare",
]
