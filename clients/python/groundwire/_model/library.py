"""Libraries as the caller may see them."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.job import Job
from groundwire._model.named import NamedEnum
from groundwire._model.options import RetrievalTuning
from groundwire._model.reason import Cause
from groundwire._model.server import Setting

__all__ = ["AttributeSpec", "AttributeType", "IndexSettings", "Library", "LibraryDeletion", "LibraryUpdate"]


class AttributeType(NamedEnum):
    """What an attribute holds."""

    UNSPECIFIED = 0
    STRING = 1
    INTEGER = 2
    DECIMAL = 3
    BOOL = 4
    DATE = 5
    PERIOD = 6
    STRING_LIST = 7
    TIME = 8


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """An attribute that filters may name."""

    name: str
    value_type: AttributeType


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How text becomes an index."""

    tokenizer: str = ""
    chunker: str = ""
    chunk_chars: int | None = None
    overlap_chars: int | None = None
    embedder: str = ""
    contextual_header: bool | None = None
    representations: tuple[str, ...] = ()
    tree_builder: str = ""
    relation_extractor: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """A library; counts are of what the caller may read. `embedding_coverage` None: it has no embedder.

    `fault` says why it cannot be opened; then all but its id is empty.
    """

    library_id: str
    description: str = ""
    snapshot_id: str = ""
    documents: int = 0
    active_chunks: int = 0
    facts: int = 0
    relations: int = 0
    embedding_coverage: float | None = None
    attributes: tuple[AttributeSpec, ...] = ()
    index: IndexSettings | None = None
    tuning: RetrievalTuning | None = None
    settings: tuple[Setting, ...] = ()
    fault: Cause | None = None


@dataclass(frozen=True, slots=True)
class LibraryUpdate:
    """A library as it is now, all defaults filled in. `job` brings its index up to them; None: nothing to do."""

    library: Library
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class LibraryDeletion:
    """A library as it stood. `confirmation` is what the call that deletes needs; `job` frees the disk space."""

    library: Library
    confirmation: str = ""
    job: Job | None = None
