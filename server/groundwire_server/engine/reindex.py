"""Building anew what is derived from the store: the work of jobs of kind REINDEX."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_server.engine.embedding import ServerEmbedder, fault_of_wish
from groundwire_server.engine.libraries import Libraries
from groundwire_server.engine.relating import RELATE, Relating
from groundwire_server.errors import ErrorReason, FailedPrecondition, GroundwireError
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.ingest import missing_vectors, recut
from groundwire_server.jobs import AUDIENCES, IndexPart, JobControl, Task, audience_of
from groundwire_server.library import Library, LibraryConfig, Snapshot

__all__ = ["DAMAGED", "REBUILD", "RECUT", "LibraryTask", "Reindexing"]

LibraryTask = Callable[[Library, JobControl], None]
"""Work on one library; see `jobs.Task`."""

REBUILD = "rebuild"
DAMAGED = "damaged"
"""What a rebuild is ordered with when what stands as it should is to stay."""

RECUT = "recut"
"""The documents alone, after a change of the settings that cut them."""

_LOOK_SECONDS = 0.25


class Reindexing:
    """The tasks, and what there is to do for them."""

    def __init__(self, libraries: Libraries, embedder: ServerEmbedder, relating: Relating) -> None:
        self._libraries = libraries
        self._embedder = embedder
        self._relating = relating

    def tasks(self) -> dict[str, Task]:
        """By the names under which they are ordered."""
        return {
            REBUILD: partial(self._on_library, self._rebuild),
            RECUT: partial(self._on_library, self._recut),
            RELATE: partial(self._on_library, self._relating.relate),
        }

    def parts(self, config: LibraryConfig, asked: Iterable[IndexPart]) -> tuple[IndexPart, ...]:
        """What is to be built, in order; where nothing is asked for, all that the library has.

        Raises:
            FailedPrecondition: NO_EMBEDDER, vectors are asked for, and nothing makes them; NO_MODEL, so with the graph.
        """
        wanted = tuple(sorted(set(asked)))
        absence, no_model = self._no_embedder(config), self._relating.fault(config)
        if IndexPart.VECTORS in wanted and absence is not None:
            raise absence
        if IndexPart.GRAPH in wanted and no_model is not None:
            raise no_model
        there = [IndexPart.LEXICAL]
        if absence is None:
            there.append(IndexPart.VECTORS)
        if no_model is None and config.relation_extractor != "none":
            there.append(IndexPart.GRAPH)
        return wanted or tuple(there)

    def work_for(self, snapshot: Snapshot, principal: Principal, parts: Iterable[IndexPart]) -> tuple[str, int]:
        """The first stage and how many of the caller's chunks go through it."""
        wanted = set(parts)
        stage = "lexical" if IndexPart.LEXICAL in wanted else "embed" if IndexPart.VECTORS in wanted else "relate"
        readable = snapshot.candidates(Call(Principal("reindex", audience_of(principal))))
        return stage, int(np.count_nonzero(readable))

    def _on_library(self, task: LibraryTask, control: JobControl) -> None:
        library = self._libraries.for_reading(control.library_id)
        task(library, control)
        self._libraries.wake_embedding(control.library_id)

    def _recut(self, library: Library, control: JobControl, *, alone: bool = True) -> None:
        """The chunks that this makes are embedded as those of an ingest are, by the job that always does that."""
        recut(
            library,
            control,
            alone=alone,
            stored=partial(self._libraries.wake_embedding, library.library_id),
            model=self._embedder.cutting_model,
            extractor=self._relating.immediate,
        )

    def _rebuild(self, library: Library, control: JobControl) -> None:
        keep_sound = control.argument == DAMAGED
        if keep_sound:
            self._recut(library, control, alone=False)
        if IndexPart.LEXICAL in control.parts:
            self._rebuild_words(library, control, keep_sound=keep_sound)
        with_vectors = IndexPart.VECTORS in control.parts
        if IndexPart.GRAPH in control.parts:
            self._relating.relate(library, control, anew=not keep_sound, final=not with_vectors)
        if with_vectors:
            self._embed(library, control, keep_sound=keep_sound)

    def _rebuild_words(self, library: Library, control: JobControl, *, keep_sound: bool) -> None:
        snapshot = library.snapshot()
        totals, rows = _active_chunks(snapshot), max(snapshot.rows, 1)
        told = -_LOOK_SECONDS

        def watch(row: int) -> None:
            nonlocal told
            control.check()
            if row < rows and time.monotonic() - told < _LOOK_SECONDS:
                return
            told = time.monotonic()
            # The same share of each label: in which order the labels lie is nothing that progress may tell.
            share = {label: (total * min(row, rows) // rows, total) for label, total in totals.items()}
            control.report("lexical", "chunks", share)

        watch(0)
        library.rebuild_words(watch, keep_sound=keep_sound)
        watch(rows)

    def _embed(self, library: Library, control: JobControl, *, keep_sound: bool) -> None:
        """Have every chunk embedded. The worker of the library does it; here is told how far it is."""
        while self._embedder.loading:
            control.wait(_LOOK_SECONDS)
        absence = self._no_embedder(library.config)
        if absence is not None:
            raise absence
        control.check()
        self._libraries.embed_anew(library, keep_sound=keep_sound)
        while not self._all_embedded(library, control):
            control.check()

    def _all_embedded(self, library: Library, control: JobControl) -> bool:
        """Look at the worker for a moment and say how far it is. Raises what it ended with."""
        worker = self._libraries.worker(library.library_id)
        if worker is None:
            raise self._no_embedder(library.config) or _not_whole()
        idle = worker.wait_idle(_LOOK_SECONDS)
        snapshot = library.snapshot()
        missing = missing_vectors(snapshot, Label.CONFIDENTIAL)
        left_over = _active_chunks(snapshot, missing)
        counts = {label: (total - left_over[label], total) for label, total in _active_chunks(snapshot).items()}
        control.report("embed", "chunks", counts, final=True, rate=worker.rate())
        if not idle:
            return False
        if worker.error is not None:
            raise GroundwireError(worker.error.reason, worker.error.message)
        left = snapshot.columns.chunk_rows(np.flatnonzero(missing).astype(np.int64)).tolist()
        if left and worker.broken.issuperset(left):
            raise _not_whole()
        if left:  # it came in this moment, or another worker has taken over
            worker.wake()
            control.wait(_LOOK_SECONDS)
        return not left

    def _no_embedder(self, config: LibraryConfig) -> FailedPrecondition | None:
        if config.embedder == "none":
            return FailedPrecondition(
                ErrorReason.NO_EMBEDDER, "The library keeps no vectors.", hint="Set the library's embedder."
            )
        if self._embedder.embedder is None and not self._embedder.loading:
            absence = self._embedder.absence
            return FailedPrecondition(ErrorReason.NO_EMBEDDER, absence.message, hint=absence.hint)
        fault = None if self._embedder.embedder is None else fault_of_wish(config.embedder, self._embedder.embedder)
        return None if fault is None else FailedPrecondition(fault.reason, fault.message)


def _not_whole() -> GroundwireError:
    return GroundwireError(ErrorReason.INTERNAL, "Some chunks could not be embedded; the others have their vectors.")


def _active_chunks(snapshot: Snapshot, among: NDArray[np.bool_] | None = None) -> dict[Label, int]:
    """How many active chunks of each label there are, of all or among some rows."""
    columns = snapshot.columns
    visible = columns.visible(Label.CONFIDENTIAL, snapshot.generation)
    found = {label: columns.spread(visible & (columns.label == label)) for label in AUDIENCES}
    return {label: int(np.count_nonzero(rows if among is None else rows & among)) for label, rows in found.items()}
