"""What a caller must see, worked out from what was sent and nothing else: the model that the server is held to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

__all__ = [
    "Change",
    "FigureKey",
    "LearnNames",
    "PutDocument",
    "PutFigure",
    "PutRelation",
    "Relation",
    "State",
    "WithdrawDocument",
]

FigureKey = tuple[str, str, str]
"""Metric, entity, period, as a caller asks for them."""
Relation = tuple[str, str, str]
"""Node id of the subject, relation, node id of the object."""


@dataclass(frozen=True, slots=True)
class PutDocument:
    """A document: its next revision, unless it has that text already."""

    doc_id: str
    text: str


@dataclass(frozen=True, slots=True)
class WithdrawDocument:
    """A document is out of every answer; its revisions count on."""

    doc_id: str


@dataclass(frozen=True, slots=True)
class PutFigure:
    """A figure, or a later filed value of it."""

    key: FigureKey
    value: str


@dataclass(frozen=True, slots=True)
class PutRelation:
    """A relation."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class LearnNames:
    """Names of metrics in the glossary: (name, code)."""

    names: tuple[tuple[str, str], ...]


Change = PutDocument | WithdrawDocument | PutFigure | PutRelation | LearnNames


def _frozen(**values: Any) -> Any:
    return MappingProxyType(values)


@dataclass(frozen=True)
class State:
    """One state of a library.

    documents: id to (revision, text) of those that answer. last_revision: of all that ever were.
    figures: key to value. names: name of a metric to its code.
    """

    documents: MappingProxyType[str, tuple[int, str]] = field(default_factory=_frozen)
    last_revision: MappingProxyType[str, int] = field(default_factory=_frozen)
    figures: MappingProxyType[FigureKey, str] = field(default_factory=_frozen)
    relations: frozenset[Relation] = frozenset()
    names: MappingProxyType[str, str] = field(default_factory=_frozen)

    def after(self, changes: Iterable[Change]) -> State:
        """This state after some changes."""
        state = self
        for change in changes:
            state = state._changed(change)
        return state

    def _changed(self, change: Change) -> State:
        match change:
            case PutDocument(doc_id, text) if self.documents.get(doc_id, (0, ""))[1] == text:
                return self
            case PutDocument(doc_id, text):
                revision = self.last_revision.get(doc_id, 0) + 1
                return replace(
                    self,
                    documents=MappingProxyType({**self.documents, doc_id: (revision, text)}),
                    last_revision=MappingProxyType({**self.last_revision, doc_id: revision}),
                )
            case WithdrawDocument(doc_id):
                left = {name: held for name, held in self.documents.items() if name != doc_id}
                return replace(self, documents=MappingProxyType(left))
            case PutFigure(key, value):
                return replace(self, figures=MappingProxyType({**self.figures, key: value}))
            case PutRelation(relation):
                return replace(self, relations=self.relations | {relation})
            case LearnNames(names):
                return replace(self, names=MappingProxyType({**self.names, **dict(names)}))

    def figure(self, key: FigureKey) -> str | None:
        """The value that a query gets; None where there is nothing to find, or no such name."""
        metric, entity, period = key
        return self.figures.get((self.names.get(metric, metric), entity, period))
