"""Small libraries drawn by hypothesis: what a reader may see, and what is hidden beside it.

Open rows and hidden ones are near each other on purpose: the same sources, ids that begin alike, the same figures in
other places, attributes of one name. Only `dark_steps` take the place of what is open, which ends it for the reader.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from groundwire.v1 import ingest_pb2
from tests.promises.worlds import DocumentStep, EdgeStep, FactStep, GlossaryStep, Step, WithdrawStep

__all__ = ["READERS", "dark_steps", "hidden_steps", "open_steps"]

PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED = (
    ingest_pb2.LABEL_PUBLIC,
    ingest_pb2.LABEL_INTERNAL,
    ingest_pb2.LABEL_CONFIDENTIAL,
    ingest_pb2.LABEL_RESTRICTED,
)
READERS = {
    "public": ((PUBLIC,), (INTERNAL, CONFIDENTIAL, RESTRICTED)),
    "internal": ((PUBLIC, INTERNAL), (CONFIDENTIAL, RESTRICTED)),
    "confidential": ((PUBLIC, INTERNAL, CONFIDENTIAL), (RESTRICTED,)),
}
"""Who reads: labels that are open to them, labels that are hidden from them."""

WORDS = ("alpha", "beta", "gamma", "売上", "人口", "东京", "revenue", "Acme", "rivers", "é", "42")
COMMON = ("alpha", "alpha beta", "売上 人口\n\nalpha", "# alpha\n\nrevenue of Acme 2024")
DOCUMENTS = ("v/a.md", "v/b.md", "v/c.md", "v/d.txt")
HIDDEN_DOCUMENTS = ("h/x.md", "v/aa.md", "v/a", "v/b.md#1", "v/a.md.hidden")
SOURCES = ("v.csv", "v2.csv", "v/a.md")
EDGE_SOURCES = ("v.jsonl", "v/b.md")
RELATIONS = ("parent_of", "competes_with", "owned_by")
DARK = ("v/c.md", "v/d.txt")  # no figure and no relation names them: ended or withdrawn, nothing else goes with them

Attributes = tuple[tuple[str, Any], ...]
# What documents and figures say about themselves; of one family each, as the first use of a name fixes it.
ATTRIBUTES: tuple[Attributes, ...] = (
    (),
    (),
    (("n", 1),),
    (("n", 3), ("word", "b")),
    (("flag", True), ("entity", "ACME")),  # and a relation that is derived of it
)
MIXED: tuple[Attributes, ...] = (*ATTRIBUTES, (("n", "text"),))
HIDDEN_ATTRIBUTES: tuple[Attributes, ...] = (
    (),
    (("n", "another family"),),
    (("hidden_attr", 1),),
    (("n", 2), ("entity", "GLOBEX")),
)


def _texts(words: Sequence[str], least: int = 0) -> st.SearchStrategy[str]:
    """Few texts often, so that scores tie and vectors are shared; else any."""
    paragraph = st.lists(st.sampled_from(words), min_size=1, max_size=6).map(" ".join)
    return st.sampled_from(COMMON) | st.lists(paragraph, min_size=least, max_size=3).map("\n\n".join)


def _documents(
    ids: Sequence[str], words: Sequence[str], labels: Sequence[int], attributes: Sequence[Attributes], rehearse: bool
) -> st.SearchStrategy[Step]:
    return st.builds(
        DocumentStep,
        st.sampled_from(ids),
        _texts(words),
        st.sampled_from(labels),
        st.sampled_from(attributes),
        st.sampled_from((0, 0, 2020, 2030)),
        st.booleans() if rehearse else st.just(False),
    )


def _facts(
    metrics: Sequence[str],
    entities: Sequence[str],
    channels: Sequence[str],
    sources: Sequence[str],
    places: Sequence[str],
    parts: Sequence[str],
    labels: Sequence[int],
    attributes: Sequence[Attributes],
) -> st.SearchStrategy[Step]:
    def build(
        metric: str,
        entity: str,
        period: str,
        channel: str,
        value: int,
        source: str,
        place: str,
        review: int,
        *rest: Any,
    ) -> Step:
        fields = (
            ("metric", metric),
            ("entity", entity),
            ("period", period),
            ("channel", channel),
            ("value", str(value)),
            ("unit", "USD"),
            ("source_doc", source),
            ("locator", place),
            ("review_status", review),
        )
        return FactStep(fields, *rest)

    return st.builds(
        build,
        st.sampled_from(metrics),
        st.sampled_from(entities),
        st.sampled_from(("2024", "2023", "FY2024")),
        st.sampled_from(channels),
        st.sampled_from(("0", "1", "2", "3.50")),
        st.sampled_from(sources),
        st.sampled_from(places),
        st.sampled_from((0, 0, 0, 3)),
        st.sampled_from(labels),
        st.sampled_from((0, 0, 2024, 2025)),
        st.sampled_from(parts),
        st.sampled_from(attributes),
    )


def _edges(
    subjects: Sequence[str],
    relations: Sequence[str],
    objects: Sequence[str],
    sources: Sequence[str],
    place: str,
    labels: Sequence[int],
) -> st.SearchStrategy[Step]:
    def build(subject: str, relation: str, target: str, source: str, line: int, label: int) -> Step:
        fields = (
            ("subject", subject),
            ("relation", relation),
            ("object", target),
            ("object_kind", "entity"),
            ("source_doc", source),
            ("locator", f"{place}{line}"),
        )
        return EdgeStep(fields, label)

    return st.builds(
        build,
        st.sampled_from(subjects),
        st.sampled_from(relations),
        st.sampled_from(objects),
        st.sampled_from(sources),
        st.integers(0, 1),
        st.sampled_from(labels),
    )


@functools.cache  # a strategy that is made anew is checked anew, which takes longer than drawing from it
def open_steps(
    labels: tuple[int, ...], *, attributes: tuple[Attributes, ...] = MIXED, glossary: bool = True
) -> st.SearchStrategy[Step]:
    """One step of a library that its reader sees whole."""
    kinds: list[st.SearchStrategy[Step]] = 2 * [
        _documents(DOCUMENTS, WORDS, labels, attributes, False),
        _facts(
            ("REVENUE", "PROFIT"),
            ("ACME", "GLOBEX"),
            ("", "", "Online"),
            SOURCES,
            ("row=0", "row=1"),
            ("", "", "North"),
            labels,
            attributes[:3],
        ),
        _edges(
            ("ACME", "A", "B"),
            ("parent_of", "competes_with", "owned_by"),
            ("B", "C", "GLOBEX"),
            EDGE_SOURCES,
            "line=",
            labels,
        ),
        st.sampled_from(("v/a.md", "v/b.md", "v/c.md", "v.csv", "v.jsonl", "never.md")).map(WithdrawStep),
    ]
    if glossary:
        codes = st.lists(st.sampled_from(("C", "HIDDENCO", "ONLINE", "SECRETMETRIC")), max_size=2, unique=True)
        kinds.append(codes.map(lambda put: GlossaryStep(tuple(put))))
    return st.one_of(kinds)


@functools.cache
def hidden_steps(labels: tuple[int, ...]) -> st.SearchStrategy[Step]:
    """One step beside those of `open_steps`."""
    return st.one_of(
        _documents(HIDDEN_DOCUMENTS, (*WORDS, "kanarienvogel"), labels, HIDDEN_ATTRIBUTES, True),
        _facts(
            ("REVENUE", "PROFIT", "STORES", "SECRETMETRIC"),
            ("ACME", "GLOBEX", "HIDDENCO"),
            ("", "", "Online", "HiddenChannel"),
            (*SOURCES, "h.csv", "h/x.md"),
            ("row=2", "hid=0"),
            ("", "North", "HiddenPart"),
            labels,
            HIDDEN_ATTRIBUTES,
        ),
        _edges(
            ("ACME", "A", "B", "HIDDENCO"),
            ("parent_of", "hidden_rel"),
            ("C", "GLOBEX", "HIDDENCO"),
            (*EDGE_SOURCES, "h.jsonl"),
            "hid=",
            labels,
        ),
    )


@functools.cache
def dark_steps(labels: tuple[int, ...]) -> st.SearchStrategy[DocumentStep]:
    """What is open goes on under a label that the reader may not read; to the reader it is withdrawn.

    None is empty: an empty document is refused, and what was there stays.
    """
    return st.builds(DocumentStep, st.sampled_from(DARK), _texts(WORDS, 1), st.sampled_from(labels))
