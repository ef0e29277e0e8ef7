"""A retrieval as its tests look at it: header, snippets, summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundwire_server.evidence import (
    Call,
    CallOptions,
    ExplainLevel,
    Header,
    Label,
    Snippet,
    Snippets,
    Summary,
)
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalParts, RetrieveRequest, Unreachable, retrieve
from groundwire_server.security import local_principal
from tests.support.libraries import START

Retrieved = tuple[Header, list[Snippet], Summary]


def planned_call(clearance: Label = Label.INTERNAL, **options: Any) -> Call:
    """A call that shows its plan."""
    return Call(local_principal(clearance), CallOptions(explain=ExplainLevel.PLAN, **options), now=lambda: START)


def retrieved(
    request: RetrieveRequest,
    call: Call,
    snapshots: Snapshot | Sequence[Snapshot],
    parts: RetrievalParts | None = None,
    unreachable: Sequence[Unreachable] = (),
) -> Retrieved:
    """What `retrieve` gives: the header first, snippets alone between it and the summary."""
    libraries = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
    header, *between, summary = retrieve(request, call, libraries, parts, unreachable)
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    found: list[Snippet] = []
    for frame in between:
        assert isinstance(frame, Snippets)
        found += frame.snippets
    return header, found, summary


def docs(found: list[Snippet]) -> list[str]:
    """Ids of the documents that snippets are of, in order."""
    return [one.lineage.doc_id for one in found]
