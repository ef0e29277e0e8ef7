"""Names that are not answered about, before any graph is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundwire_server.evidence import Call, PlanStep, Refusal
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["GATE_STEP", "outside_names"]

GATE_STEP = PlanStep("gate", "outside_names")


def outside_names(raws: Sequence[str], call: Call, snapshots: Sequence[Snapshot], gate: SecurityGate) -> Refusal | None:
    """OUT_OF_SCOPE when a node is asked for by an outside name."""
    if not gate:
        return None
    for raw in raws:
        known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(raw)]
        refusal = gate.refusal(raw, call.options.language or detect_language(raw), known)
        if refusal is not None:
            return refusal
    return None
