"""The gate at the door of a question: before any data is touched (semantics 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from groundwire_server.evidence import Call, PlanStep, Refusal
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["GATE_STEP", "gate_for", "refuse_outside_names"]

GATE_STEP = PlanStep("gate", "outside_names")


def refuse_outside_names(
    question: str, call: Call, snapshots: Sequence[Snapshot], gate: SecurityGate
) -> Refusal | None:
    """OUT_OF_SCOPE when the question names an outside name, in the language of the call or the question."""
    if not gate:
        return None
    known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(question)]
    return gate.refusal(question, call.options.language or detect_language(question), known)


def gate_for(snapshots: Sequence[Snapshot], gate: SecurityGate) -> Callable[[str], bool]:
    """Whether a text that was made names nothing outside, as the question itself is judged."""

    def passes(text: str) -> bool:
        if not gate:
            return True
        known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(text)]
        return gate.find(text, known) is None

    return passes
