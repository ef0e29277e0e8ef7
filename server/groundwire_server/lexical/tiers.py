"""Which segments to merge, so that many small appends stay cheap and few segments are searched."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.lexical.segment import MAX_ROWS

__all__ = ["FAN_IN", "is_full", "merge_start"]

FAN_IN = 4
_LAST_TIER = (MAX_ROWS.bit_length() - 1) // 2 - 1


def is_full(rows: int) -> bool:
    """Whether a segment is large enough to be left alone from now on."""
    return 2 * rows >= MAX_ROWS


def merge_start(sizes: Sequence[int]) -> int:
    """Where the segments begin that should become one now; all of them up to the last. `len(sizes)` when none should.

    Four trailing segments of a tier (sizes within a factor of four), with all smaller ones among and behind them,
    become one of the next tier, so a row is written again about once a tier: eight times until its segment is full.

    Args:
        sizes: rows of each segment, in row order.
    """
    start = len(sizes)
    for level in range(_LAST_TIER + 1):
        # What lower tiers already merge counts as one segment here.
        current = [*sizes[:start], *([sum(sizes[start:])] if start < len(sizes) else [])]
        first = len(current)
        while first and _tier(current[first - 1]) <= level and not is_full(current[first - 1]):
            first -= 1
        if sum(_tier(size) == level for size in current[first:]) < FAN_IN:
            continue
        while sum(current[first:]) > MAX_ROWS:  # what is left of two that do not fit into one is full
            first += 1
        if len(current) - first > 1:
            start = first
    return start


def _tier(rows: int) -> int:
    return (rows.bit_length() - 1) // 2
