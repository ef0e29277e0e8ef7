"""Erasing old revisions: the work of jobs of kind PURGE."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from groundwire_server.engine.libraries import Libraries
from groundwire_server.evidence import Label
from groundwire_server.jobs import JobControl, Task
from groundwire_server.store import PurgePolicy

__all__ = ["PURGE", "Purging", "pack_purge"]

PURGE = "purge"

_BATCH = 64
_UNIT = "revisions"


class Purging:
    """The task. What it is ordered with says for whom: it erases nothing that its caller may not read."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries

    def tasks(self) -> dict[str, Task]:
        """By the names under which they are ordered."""
        return {PURGE: self._run}

    def _run(self, control: JobControl) -> None:
        library = self._libraries.for_reading(control.library_id)
        policy, clearance = _unpack(control.argument)
        left = library.store.reader().purgeable(policy, clearance=clearance)
        done = Counter[Label]()
        while left:
            control.report("purge", _UNIT, _counts(done, left))
            control.check()
            with library.writing() as writer:
                done.update(writer.purge(policy, _BATCH, clearance=clearance))
            left = library.store.reader().purgeable(policy, clearance=clearance)
        control.report("sweep", _UNIT, _counts(done, left))
        # Even where nothing was left: an earlier run may have erased what it could not sweep any more.
        library.sweep(lambda _: control.check())


def pack_purge(policy: PurgePolicy, clearance: Label) -> str:
    """What the task is ordered with."""
    before = None if policy.retired_before is None else policy.retired_before.isoformat()
    return json.dumps([policy.until, policy.doc_id, policy.keep_last, before, int(clearance)])


def _unpack(argument: str) -> tuple[PurgePolicy, Label]:
    until, doc_id, keep_last, before, clearance = json.loads(argument)
    retired_before = None if before is None else datetime.fromisoformat(before)
    return PurgePolicy(until, doc_id, keep_last, retired_before), Label(clearance)


def _counts(done: Mapping[Label, int], left: Mapping[Label, int]) -> dict[Label, tuple[int, int]]:
    labels = done.keys() | left.keys()
    return {label: (done.get(label, 0), done.get(label, 0) + left.get(label, 0)) for label in labels}
