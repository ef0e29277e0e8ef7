"""A library at one generation: what a call reads from its first frame to its last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency import Adjacency, AdjacencyView
from groundwire_server.dense import VectorIndex
from groundwire_server.evidence import AttributeType, Call, Family, Filter, Label, Pin, Principal, Value
from groundwire_server.glossary import Glossary
from groundwire_server.lexical import LexicalIndex
from groundwire_server.library.attributes import BUILT_IN_ATTRIBUTES, AttributeColumns
from groundwire_server.library.columns import ChunkColumns
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.fact_names import FactCodes, FactNames
from groundwire_server.library.filter_masks import FilterMasks
from groundwire_server.library.identity import embedding_state, make_snapshot_id
from groundwire_server.library.named_reader import named_reader
from groundwire_server.library.titles import TitleBook
from groundwire_server.library.vector_models import foreign_model
from groundwire_server.store import Store, StoredChunk, StoreReader
from groundwire_server.text import TOKENIZER_ID

__all__ = ["AttributeValues", "Snapshot"]


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """An attribute as some documents have it.

    Attributes:
        values: distinct, sorted by what they look like; empty: they are too many.
        share: of the documents, how many have it, above 0 and up to 1.
    """

    family: Family
    values: tuple[Value, ...]
    share: float


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Immutable: writers that go on change nothing of it, however long it is held. Any thread may use it.

    Rows count chunks from 0 in the order in which they were stored; dead and hidden ones are among them, and only
    `candidates` tells which may be looked at.

    Attributes:
        library_id: of the library.
        generation: of the store.
        reader: the store at that generation; figures go by the codes of the glossary, whenever they were stored.
        stored: the same, with figures under the codes that they were stored under.
        config, glossary: as they were then.
        columns: of all rows.
        lexical: BM25 index over all rows.
        vectors: of all rows, or None without an embedder.
    """

    library_id: str
    generation: int
    reader: StoreReader
    stored: StoreReader
    config: LibraryConfig
    glossary: Glossary
    columns: ChunkColumns
    lexical: LexicalIndex
    vectors: VectorIndex | None
    _adjacency: Adjacency = field(repr=False)
    _store: Store = field(repr=False)
    _attributes: AttributeColumns = field(repr=False)
    _fact_codes: FactCodes = field(repr=False)
    _secret: bytes = field(repr=False)
    _masks: FilterMasks = field(default_factory=FilterMasks, repr=False)
    _readable: dict[Label, NDArray[np.bool_]] = field(default_factory=dict, repr=False)
    _ids: dict[Label, str] = field(default_factory=dict, repr=False)
    _content_ids: dict[Label, str] = field(default_factory=dict, repr=False)
    _foreign: dict[Label, str | None] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Chunks, dead and hidden ones included."""
        return self.columns.rows

    @cached_property
    def fact_names(self) -> FactNames:
        """What the codes of stored figures mean by the glossary, where it reads them otherwise than they stand."""
        return self._fact_codes.names(self.glossary, self.stored)

    def candidates(self, call: Call, extra_filter: Filter | None = None) -> NDArray[np.bool_]:
        """bool[rows], read-only: what the caller may read at known_at and valid_at, and the filters keep.

        The call's hard filter counts; its hint only when it is given as `extra_filter`. Filters are taken as checked
        (`evidence.check_filter` against `attribute_schema`).
        """
        options = call.options
        filters = [tree for tree in (options.filter, extra_filter) if tree is not None]
        if not filters and options.known_at is None and options.valid_at is None:
            return self._readable_rows(call.principal.clearance)
        clearance = min(call.principal.clearance, Label.CONFIDENTIAL)
        generation = self.generation_at(options.known_at)

        def made() -> NDArray[np.bool_]:
            kept = self.columns.visible(clearance, generation, options.valid_at)
            for tree in filters:
                kept &= self._attributes.evaluate(tree, self.reader, self.columns.revisions)
            return self.columns.spread(kept)

        # Filters by what they look like: as values, 1 and True are equal, and they keep different rows.
        return self._masks.get(clearance, (generation, options.valid_at, repr(filters)), made)

    def generation_at(self, known_at: datetime | None) -> int:
        """The generation that was the last at a moment; that of the snapshot for None and for later moments."""
        if known_at is None:
            return self.generation
        return min(self.generation, self._store.generation_at(known_at))

    def reader_at(self, known_at: datetime | None) -> StoreReader:
        """The store as it was known at a moment."""
        generation = self.generation_at(known_at)
        if generation == self.generation:
            return self.reader
        return named_reader(self._store.reader(generation), self.glossary, self._fact_codes)

    def relations(self) -> AdjacencyView:
        """The relations of this state and of all before it; what a caller may see of them is a `sight`."""
        return self._adjacency.view(self.stored)

    def chunk_row(self, row: int) -> int:
        """The store's chunk row of a row."""
        return int(self.columns.chunk_rows(np.array([row], np.int64))[0])

    def chunks(self, rows: Sequence[int], principal: Principal | None = None) -> list[StoredChunk]:
        """Chunks with all that their snippets need, in the order of the rows.

        principal: who counts their revisions, over those that it may read; None: over all.
        """
        clearance = None if principal is None else principal.clearance
        return self.reader.chunks(self.columns.chunk_rows(np.asarray(rows, np.int64)).tolist(), clearance=clearance)

    def tie_key(self, row: int) -> tuple[str, int, int]:
        """(doc_id, revision, seq): the order of rows with equal scores."""
        return self.columns.tie_key(row)

    def attribute_schema(self, principal: Principal) -> dict[str, Family]:
        """Attributes that the caller's filters may name, built-in ones included, sorted by name."""
        return {name: kind.family for name, kind in self.attribute_types(principal).items()}

    def attribute_types(self, principal: Principal) -> dict[str, AttributeType]:
        """The same with their types: as declared, else the widest one of the family of their first use."""
        used = {**self.reader.attribute_schema(principal.clearance), **BUILT_IN_ATTRIBUTES}
        types = {name: AttributeType.of(family) for name, family in used.items()}
        return dict(sorted({**types, **dict(self.config.attributes)}.items()))

    def attribute_values(self, call: Call, most: int) -> dict[str, AttributeValues]:
        """What stands in the attributes of the documents that the caller may read and its hard filter keeps.

        Built-in attributes aside. Sorted by name; an attribute that has more than `most` values tells none of them.
        """
        options = call.options
        clearance = min(call.principal.clearance, Label.CONFIDENTIAL)
        kept = self.columns.visible(clearance, self.generation_at(options.known_at), options.valid_at)
        if options.filter is not None:
            kept &= self._attributes.evaluate(options.filter, self.reader, self.columns.revisions)
        documents = int(np.count_nonzero(kept))
        schema = self.attribute_schema(call.principal)
        return {
            name: AttributeValues(schema[name], values, having / documents)
            for name, (values, having) in self._attributes.values(self.reader, kept, most).items()
            if name in schema and name not in BUILT_IN_ATTRIBUTES
        }

    def titles(self) -> TitleBook:
        """The titles of all revisions as names; read when they are first asked for."""
        return self._attributes.titles.follow(self.reader, self.columns.revisions)

    def coverage(self, candidates: NDArray[np.bool_]) -> float:
        """Share of the candidates that have a vector; 1 when there are none, 0 without an embedder."""
        wanted = int(np.count_nonzero(candidates))
        if self.vectors is None:
            return 0.0
        return 1.0 if wanted == 0 else int(np.count_nonzero(candidates & self.vectors.present)) / wanted

    def foreign_model(self, clearance: Label) -> str | None:
        """Version of another model than that of `vectors`, which made vectors of what a clearance may read; None: none.

        Who has that clearance cannot search by meaning here: the distances to some of what he may read are not known.
        """
        if self.vectors is None:
            return None
        clearance = min(clearance, Label.CONFIDENTIAL)
        if clearance not in self._foreign:
            self._foreign[clearance] = foreign_model(self.reader, clearance, self.vectors.version)
        return self._foreign[clearance]

    def snapshot_id(self, principal: Principal) -> str:
        """Opaque id of what the caller may see.

        Equal for equal content under equal settings, whatever the order, the batches or the restarts it came by; a
        write that the caller may not see leaves it as it was.
        """
        clearance = min(principal.clearance, Label.CONFIDENTIAL)
        if clearance not in self._ids:
            readable = self._readable_rows(clearance)
            embedded = "none"
            if self.vectors is not None:
                state = embedding_state(self.columns, readable, self.vectors.present)
                embedded = f"{self.vectors.version} {state}"
            self._ids[clearance] = self._make_id(clearance, embedded)
        return self._ids[clearance]

    def content_id(self, principal: Principal) -> str:
        """Opaque id of what the caller may see, as `snapshot_id`, whatever of it has a vector by now."""
        clearance = min(principal.clearance, Label.CONFIDENTIAL)
        if clearance not in self._content_ids:
            self._content_ids[clearance] = self._make_id(clearance, "any")
        return self._content_ids[clearance]

    def pin(self, principal: Principal) -> Pin:
        """What leads back to this state."""
        return Pin(self.library_id, self.generation, self.snapshot_id(principal), self.content_id(principal))

    def without_vectors(self, pin: Pin, principal: Principal) -> Snapshot:
        """The same content with no vectors, under the id that it went by when other rows had one: for who reads none.

        Raises:
            ValueError: the content is another.
        """
        if self.content_id(principal) != pin.content_id:
            raise ValueError(f"{pin.library_id} was pinned at another content")
        clearance = min(principal.clearance, Label.CONFIDENTIAL)
        return replace(self, vectors=None, _ids={clearance: pin.snapshot_id}, _foreign={})

    def at(self, reader: StoreReader, config: LibraryConfig, glossary: Glossary) -> Snapshot:
        """The library at the earlier state of a store's reader, with the settings and the glossary of then.

        Columns and indexes hold every row that ever was, so they are those of now.
        """
        return replace(
            self,
            generation=reader.generation,
            reader=named_reader(reader, glossary, self._fact_codes),
            stored=reader,
            config=config,
            glossary=glossary,
            _masks=FilterMasks(),
            _readable={},
            _ids={},
            _content_ids={},
            _foreign={},
        )

    def _make_id(self, clearance: Label, embedded: str) -> str:
        return make_snapshot_id(
            self._secret,
            self.library_id,
            clearance,
            self.reader.content_digest(clearance),
            f"{TOKENIZER_ID}\n{self.config.to_toml()}",
            self.glossary.content_hash,
            embedded,
        )

    def _readable_rows(self, clearance: Label) -> NDArray[np.bool_]:
        clearance = min(clearance, Label.CONFIDENTIAL)
        if clearance not in self._readable:
            visible = self.columns.visible(clearance, self.generation)
            self._readable[clearance] = _read_only(self.columns.spread(visible))
        return self._readable[clearance]


def _read_only(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    mask.flags.writeable = False
    return mask
