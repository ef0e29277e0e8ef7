"""Earlier turns resolve references of a question. They are never evidence (semantics 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from groundwire_server.evidence import Call
from groundwire_server.router.cues import Cue
from groundwire_server.router.frames import Slot, Turn, TurnRole
from groundwire_server.router.reading import Reading, read_question
from groundwire_server.router.words import PRONOUNS
from groundwire_server.text import find_term

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["borrowed_slots", "resolve"]


def resolve(reading: Reading, history: Sequence[Turn], call: Call, snapshots: Sequence[Snapshot]) -> Reading:
    """The question with the names behind it that it leaves open, from the latest turns of the person that say them.

    Only a question that leans on something gets any: one with a pronoun, or one that is nothing but parts of a figure
    ("And in 2021?") or a bare "Why?". One that names all of its parts stays as it is.
    """
    if not history or not _leans(reading):
        return reading
    earlier = [
        read_question(turn.text, call, snapshots)
        for turn in reversed(history)
        if turn.role is TurnRole.USER and turn.text.strip()
    ]
    said: list[str] = []
    for kind in ("metric", "entity", "channel"):
        if not reading.of_kind(kind):
            said += next(([name.raw for name in found] for each in earlier if (found := each.of_kind(kind))), [])
    if not reading.periods:
        said += next(([period.text for period in each.periods] for each in earlier if each.periods), [])
    if not said:
        return reading
    extended = read_question(f"{reading.question} ({', '.join(said)})", call, snapshots)
    return replace(extended, language=reading.language)


def borrowed_slots(reading: Reading, question: str) -> tuple[Slot, ...]:
    """The slots of a resolved reading; those that stand behind the question itself have no place in it."""
    slots = reading.slots()
    return tuple(
        replace(slot, span=None) if slot.span is not None and slot.span.start >= len(question) else slot
        for slot in slots
    )


def _leans(reading: Reading) -> bool:
    if reading.of_kind("metric") and reading.of_kind("entity") and reading.periods:
        return False
    pronoun = any(next(find_term(reading.question, word), None) is not None for word in PRONOUNS)
    parts_only = not reading.phrases and bool(reading.names or reading.periods or reading.has(Cue.EXPLAIN))
    return pronoun or parts_only
