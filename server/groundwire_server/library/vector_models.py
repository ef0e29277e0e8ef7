"""Which model made the stored vectors of a library, for the texts of each label by itself.

What lies above a caller's clearance must not tell him that another model was here: so whether the vectors fit the
embedder in use is asked for a clearance, and answered from the labels up to it alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from groundwire_server.evidence import Label

__all__ = ["foreign_model", "model_of", "note_model", "replace_models"]

# A store of earlier versions knew one model for all labels, under this name alone.
_ALL = "embedder"
_LABELS = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)


class _Notes(Protocol):
    def meta(self, name: str) -> str | None: ...


class _Writer(Protocol):
    def set_meta(self, name: str, value: str) -> None: ...


def model_of(notes: _Notes, label: Label) -> str | None:
    """Version of the model that made the vectors of a label's texts; None: there are none."""
    return notes.meta(_name(label)) or notes.meta(_ALL)


def foreign_model(notes: _Notes, clearance: Label, version: str) -> str | None:
    """Version of another model than this one, by which vectors of what a clearance may read were made; None: none is.

    With several, that of the lowest label.
    """
    models = (model_of(notes, label) for label in _LABELS if label <= clearance)
    return next((model for model in models if model not in (None, version)), None)


def note_model(notes: _Notes, writer: _Writer, labels: Iterable[Label], version: str) -> None:
    """Vectors of texts of these labels are of this model."""
    for label in sorted(set(labels)):
        if model_of(notes, label) != version:
            writer.set_meta(_name(label), version)


def replace_models(notes: _Notes, writer: _Writer, version: str) -> None:
    """Where vectors of another model are stored, this one takes its place."""
    note_model(notes, writer, (label for label in _LABELS if model_of(notes, label) is not None), version)


def _name(label: Label) -> str:
    return f"{_ALL}:{label.name}"
