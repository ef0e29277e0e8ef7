"""Embedders, and exact reproducible search over their vectors."""

from groundwire_server.dense.centre import model_centre
from groundwire_server.dense.code_folder import Codes, encode
from groundwire_server.dense.embedder import Embedder, pack_vector, unpack_vector
from groundwire_server.dense.factory import EMBEDDER_NAMES, make_embedder
from groundwire_server.dense.followed import FollowedVectors
from groundwire_server.dense.hash_embedder import HashEmbedder
from groundwire_server.dense.kernel import fixed_dots, unit_vector
from groundwire_server.dense.models import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    CatalogueEntry,
    ModelSpec,
    PreparedModel,
    Progress,
    ProgressListener,
    find_model,
    list_models,
    prepare,
)
from groundwire_server.dense.onnx_embedder import OnnxEmbedder
from groundwire_server.dense.query_cache import CacheUse, QueryCache
from groundwire_server.dense.vector_directory import VectorDirectory, VectorsOf
from groundwire_server.dense.vector_index import DenseHits, VectorIndex

__all__ = [
    "DEFAULT_MODEL",
    "EMBEDDER_NAMES",
    "KNOWN_MODELS",
    "CacheUse",
    "CatalogueEntry",
    "Codes",
    "DenseHits",
    "Embedder",
    "FollowedVectors",
    "HashEmbedder",
    "ModelSpec",
    "OnnxEmbedder",
    "PreparedModel",
    "Progress",
    "ProgressListener",
    "QueryCache",
    "VectorDirectory",
    "VectorIndex",
    "VectorsOf",
    "encode",
    "find_model",
    "fixed_dots",
    "list_models",
    "make_embedder",
    "model_centre",
    "pack_vector",
    "prepare",
    "unit_vector",
    "unpack_vector",
]
