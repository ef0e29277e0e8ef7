"""A library in plain Python, to compare the real one with: everything is kept, nothing is fast."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from groundwire_server.evidence import Attribute, Label, ReviewStatus
from groundwire_server.store import EdgeRecord, FactRecord, NewDocument, make_fact_id
from groundwire_server.text import tokenize

__all__ = ["Model", "State", "bm25"]

Key = tuple[str, int, int]


@dataclass
class State:
    """What was there after one commit."""

    committed_at: datetime
    documents: dict[str, tuple[int, NewDocument]]
    facts: list[FactRecord]
    edges: list[EdgeRecord]

    def chunks(self, clearance: Label, valid_at: datetime | None = None) -> dict[Key, str]:
        """Texts of the chunks that a reader may read, by (doc_id, revision, seq)."""
        return {
            (doc_id, revision, seq): document.text[chunk.span.start : chunk.span.end]
            for doc_id, (revision, document) in self.documents.items()
            if _readable(document.label, clearance)
            and (valid_at is None or document.valid_as_of is None or document.valid_as_of <= valid_at)
            for seq, chunk in enumerate(document.chunks)
        }

    def attributes(self, doc_id: str) -> dict[str, object]:
        """Declared attributes of the active revision."""
        return {attribute.name: attribute.value for attribute in self.documents[doc_id][1].attributes}

    def readable_facts(self, clearance: Label) -> list[FactRecord]:
        """Figures, PENDING too, without order."""
        return [fact for fact in self.facts if _readable(fact.label, clearance)]

    def readable_edges(self, clearance: Label) -> list[EdgeRecord]:
        """Sources of relations, without order."""
        return [edge for edge in self.edges if _readable(edge.label, clearance)]

    def counts(self, clearance: Label) -> tuple[int, int, int, int]:
        """Documents, chunks, facts, edges, as the store counts them."""
        documents = [d for _, d in self.documents.values() if _readable(d.label, clearance)]
        facts = {make_fact_id(f) for f in self.readable_facts(clearance) if f.review_status is not ReviewStatus.PENDING}
        edges = {_edge_key(edge) for edge in self.readable_edges(clearance)}
        return len(documents), sum(len(d.chunks) for d in documents), len(facts), len(edges)


def _readable(label: Label, clearance: Label) -> bool:
    return label is not Label.RESTRICTED and label <= clearance


def _edge_key(edge: EdgeRecord) -> tuple[str, ...]:
    ends = (edge.source_kind, edge.source, edge.relation, edge.target_kind, edge.target)
    return (*ends, edge.valid_from, edge.valid_to)


@dataclass
class Model:
    """The history of a library: its present state, and the state after each commit."""

    now: State
    revisions: Counter[str] = field(default_factory=Counter)
    history: list[State] = field(default_factory=list)
    known_sources: set[str] = field(default_factory=set)
    _read_at: dict[int, datetime] = field(default_factory=dict)  # by id of a record; all of them live in the history

    def put_document(self, document: NewDocument) -> bool:
        """Whether it made a revision."""
        active = self.now.documents.get(document.doc_id)
        if active is not None and _content(active[1]) == _content(document):
            return False
        self.revisions[document.doc_id] += 1
        self.now.documents[document.doc_id] = (self.revisions[document.doc_id], document)
        return True

    def withdraw(self, doc_id: str) -> bool | None:
        """Whether it changed anything; None when there never was such a document or source."""
        if not self.revisions[doc_id] and doc_id not in self.known_sources:
            return None
        before = (len(self.now.documents), len(self.now.facts), len(self.now.edges))
        self.now.documents.pop(doc_id, None)
        self.now.facts = [fact for fact in self.now.facts if fact.source_doc != doc_id]
        self.now.edges = [edge for edge in self.now.edges if edge.source_doc != doc_id]
        return before != (len(self.now.documents), len(self.now.facts), len(self.now.edges))

    def put_fact(self, record: FactRecord) -> bool:
        """Whether anything changed. `facts` is in the order of writing."""
        self.known_sources.add(record.source_doc)
        place = make_fact_id(record), record.source_doc, record.locator
        beside = [fact for fact in self.now.facts if (make_fact_id(fact), fact.source_doc, fact.locator) == place]
        readable = [fact for fact in beside if fact.label <= record.label]
        undated = [fact for fact in readable if fact.filed_at is None]
        if record.filed_at is None:
            # Who waits for review does not stand between a value and its repeat.
            last = [fact for fact in undated if fact.review_status is not ReviewStatus.PENDING][-1:]
            said = [
                fact
                for fact in undated
                if fact.review_status is ReviewStatus.PENDING or any(fact is other for other in last)
            ] or readable
        else:
            # What was read without a date may be told one that lies before its reading.
            told = [fact for fact in undated if record.filed_at <= self._read_at[id(fact)]]
            said = told + [fact for fact in readable if fact.filed_at == record.filed_at]
        same = [fact for fact in said if fact.value == record.value][-1:]
        record = replace(record, filed_at=record.filed_at or (same[0].filed_at if same else None))
        if same == [record] or (same and ReviewStatus.PENDING is record.review_status is not same[0].review_status):
            return False
        relabelled = [
            fact
            for fact in beside
            if (fact.label > record.label or (same and fact.label < record.label))
            and (fact.value, fact.filed_at) == (record.value, record.filed_at)
        ]
        gone = [*same, *relabelled]
        self.now.facts = [fact for fact in self.now.facts if not any(fact is other for other in gone)]
        self.now.facts.append(record)
        self._read_at[id(record)] = self.history[-1].committed_at  # no later than it was
        return True

    def put_edge(self, record: EdgeRecord) -> bool:
        """Whether anything changed."""
        self.known_sources.add(record.source_doc)
        place = (*_edge_key(record), record.source_doc, record.locator)
        held = [e for e in self.now.edges if (*_edge_key(e), e.source_doc, e.locator) == place]
        if held == [record]:
            return False
        self.now.edges = [edge for edge in self.now.edges if edge not in held]
        self.now.edges.append(record)
        return True

    def commit(self, moment: datetime) -> None:
        """Keep the present state as the one after a commit."""
        kept = State(moment, dict(self.now.documents), list(self.now.facts), list(self.now.edges))
        self.history.append(kept)

    def undo(self) -> None:
        """Go back to the last commit; revisions count on from what was committed."""
        last = self.history[-1]
        self.now = State(last.committed_at, dict(last.documents), list(last.facts), list(last.edges))

    def at(self, moment: datetime) -> State:
        """The state that was known at a moment."""
        return next(state for state in reversed(self.history) if state.committed_at <= moment)


def _content(document: NewDocument) -> NewDocument:
    ordered: tuple[Attribute, ...] = tuple(sorted(document.attributes, key=lambda a: a.name))
    return replace(document, attributes=ordered, raw_sha256=b"", raw_bytes=0)


def bm25(query: Sequence[str], texts: dict[Key, str], k1: float = 1.5, b: float = 0.75) -> dict[Key, float]:
    """Okapi BM25 as semantics 2 writes it, over these texts and no others."""
    tokens = {key: Counter(tokenize(text)) for key, text in texts.items()}
    lengths = {key: sum(counts.values()) for key, counts in tokens.items()}
    if not texts:
        return {}
    average = sum(lengths.values()) / len(texts)
    scores: dict[Key, float] = {}
    for key, counts in tokens.items():
        score = 0.0
        for term, times in Counter(query).items():
            matching = sum(1 for other in tokens.values() if term in other)
            idf = math.log(1 + (len(texts) - matching + 0.5) / (matching + 0.5))
            if counts[term]:
                damping = k1 * ((1 - b) + b * lengths[key] / average)
                score += ((times * idf) * counts[term] * (k1 + 1)) / (counts[term] + damping)
        if score > 0:
            scores[key] = score
    return scores
