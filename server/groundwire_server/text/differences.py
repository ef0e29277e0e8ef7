"""What is different between two texts: exact in code points, and never slow (our own; Myers 1986, patience diff).

Lines are compared first, then the sentences of those that differ, then the words of those, at last code points at both
ends. Pieces that stand once on either side are met in their order; what lies between two such meetings is compared by
itself, with a bounded search for the fewest edits. All of it has so many steps and no more: where they are used up, a
stretch counts as changed as a whole. Steps are counted and not timed, so equal texts always give equal answers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundwire_server.evidence import Span
from groundwire_server.text.scripts import is_cjk
from groundwire_server.text.sentences import sentence_spans

__all__ = ["Difference", "differences"]

_STEPS = 4_000_000
_MOST_EDITS = 300
_CHECK_EVERY = 50_000

Pieces = Sequence[int]
Match = tuple[int, int, int]
"""Place among the old pieces, place among the new ones, how many are equal from there on."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch of the old text and what stands for it in the new one; one of the two may be empty."""

    old: Span
    new: Span


def differences(old: str, new: str, check: Callable[[], None] = lambda: None) -> Iterator[Difference]:
    """The changes that make `new` of `old`, ascending; between two of them the texts are equal.

    Args:
        check: called now and then; what it raises ends the work.

    >>> [(d.old.start, d.old.end, d.new.start, d.new.end) for d in differences("a colour\\nb\\n", "a color\\nb\\nc\\n")]
    [(6, 7, 6, 6), (11, 11, 10, 12)]
    """
    yield from _Comparison(old, new, _Steps(check)).between(Span(0, len(old)), Span(0, len(new)), 0)


class _Steps:
    """How much work is left."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._left = _STEPS
        self._check = check
        self._next_check = _STEPS - _CHECK_EVERY

    def spend(self, steps: int, beyond: int = 0) -> bool:
        """Take so many. Whether they were left, and so many beyond them still are."""
        self._left -= steps
        if self._left < self._next_check:
            self._next_check = self._left - _CHECK_EVERY
            self._check()
        return self._left >= beyond


@dataclass(frozen=True, slots=True)
class _Comparison:
    old: str
    new: str
    steps: _Steps

    def between(self, old: Span, new: Span, level: int) -> Iterator[Difference]:
        """Differences of two stretches, by the pieces of a level and of those below it."""
        before, after = self.old[old.start : old.end], self.new[new.start : new.end]
        if before == after:
            return
        if not before or not after:
            yield Difference(old, new)
            return
        if level == len(_LEVELS) or (level and not self.steps.spend(0, len(before) + len(after))):
            yield _without_equal_ends(old, new, before, after)
            return
        old_cuts, new_cuts = _LEVELS[level](before), _LEVELS[level](after)
        if not self.steps.spend(len(old_cuts) + len(new_cuts)):
            yield _without_equal_ends(old, new, before, after)
            return
        names: dict[str, int] = {}
        old_pieces, new_pieces = (
            [names.setdefault(text[start:end], len(names)) for start, end in pairwise(cuts)]
            for text, cuts in ((before, old_cuts), (after, new_cuts))
        )
        at_old = at_new = 0
        ends = (len(old_pieces), len(new_pieces), 0)
        for i, j, count in (*_matches(old_pieces, new_pieces, self.steps), ends):
            if (i, j) != (at_old, at_new):
                yield from self.between(
                    Span(old.start + old_cuts[at_old], old.start + old_cuts[i]),
                    Span(new.start + new_cuts[at_new], new.start + new_cuts[j]),
                    level + 1,
                )
            at_old, at_new = i + count, j + count


def _without_equal_ends(old: Span, new: Span, before: str, after: str) -> Difference:
    head = _equal_from_start(before, after)
    left_before, left_after = before[head:], after[head:]
    tail = _equal_from_start(left_before[::-1], left_after[::-1])
    return Difference(Span(old.start + head, old.end - tail), Span(new.start + head, new.end - tail))


def _equal_from_start(one: str, other: str) -> int:
    """How many code points are equal from the start on; slices are compared, not code points one by one."""
    known, beyond = 0, min(len(one), len(other)) + 1
    while beyond - known > 1:
        middle = (known + beyond) // 2
        if one[known:middle] == other[known:middle]:
            known = middle
        else:
            beyond = middle
    return known


# ---- pieces


def _lines(text: str) -> list[int]:
    return _cuts(len(line) for line in text.splitlines(keepends=True))


def _sentences(text: str) -> list[int]:
    return [0, *(span.end for span in sentence_spans(text))]


_WORDS = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)


def _words(text: str) -> list[int]:
    """Words of scripts that write blanks between them, single characters of those that do not."""
    return _cuts(size for word in _WORDS.findall(text) for size in _sizes(word))


def _sizes(word: str) -> Iterator[int]:
    if word.isascii():
        yield len(word)
        return
    run = 0
    for char in word:
        if is_cjk(char):
            if run:
                yield run
            yield 1
            run = 0
        else:
            run += 1
    if run:
        yield run


def _cuts(sizes: Iterator[int]) -> list[int]:
    cuts = [0]
    for size in sizes:
        cuts.append(cuts[-1] + size)
    return cuts


_LEVELS: tuple[Callable[[str], list[int]], ...] = (_lines, _sentences, _words)


# ---- equal pieces


def _matches(old: Pieces, new: Pieces, steps: _Steps) -> list[Match]:
    """Equal stretches, ascending on both sides."""
    found: list[Match] = []
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        low, high, new_low, new_high = waiting.pop()
        head = tail = 0
        while low + head < high and new_low + head < new_high and old[low + head] == new[new_low + head]:
            head += 1
        if head:
            found.append((low, new_low, head))
            low, new_low = low + head, new_low + head
        while low < high - tail and new_low < new_high - tail and old[high - tail - 1] == new[new_high - tail - 1]:
            tail += 1
        if tail:
            found.append((high - tail, new_high - tail, tail))
            high, new_high = high - tail, new_high - tail
        if low == high or new_low == new_high or not steps.spend(high - low + new_high - new_low):
            continue
        anchors = _anchors(old[low:high], new[new_low:new_high])
        if not anchors:
            edited = _fewest_edits(old[low:high], new[new_low:new_high], steps)
            found += [(low + i, new_low + j, count) for i, j, count in edited]
            continue
        # Each stretch but the first begins with a piece that is met, and so gets shorter.
        corners = [(low, new_low), *((low + i, new_low + j) for i, j in anchors), (high, new_high)]
        waiting += [(i, next_i, j, next_j) for (i, j), (next_i, next_j) in pairwise(corners)]
    return sorted(found)


def _anchors(old: Pieces, new: Pieces) -> list[tuple[int, int]]:
    """Places of pieces that stand once on either side: the longest row of them that ascends on both."""
    counts, new_counts = Counter(old), Counter(new)
    place_of = {piece: j for j, piece in enumerate(new) if new_counts[piece] == 1}
    pairs = [(i, place_of[piece]) for i, piece in enumerate(old) if counts[piece] == 1 and piece in place_of]
    # Patience sorting: the lowest last place of a row of each length, and who stands before each pair in its row.
    ends: list[int] = []
    held: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        if length == len(ends):
            ends.append(j)
            held.append(at)
        else:
            ends[length], held[length] = j, at
        before.append(held[length - 1] if length else -1)
    row: list[tuple[int, int]] = []
    at = held[-1] if held else -1
    while at >= 0:
        row.append(pairs[at])
        at = before[at]
    return row[::-1]


def _fewest_edits(old: Pieces, new: Pieces, steps: _Steps) -> list[Match]:
    """Equal stretches of a shortest edit script; none where that takes too many edits or steps (Myers)."""
    size, new_size = len(old), len(new)
    reach = {1: 0}  # of each diagonal old - new: how far in old a script of so many edits comes
    history: list[dict[int, int]] = []
    for edits in range(min(size + new_size, _MOST_EDITS) + 1):
        history.append(dict(reach))
        used = edits
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
            i = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            begun, j = i, i - diagonal
            while i < size and j < new_size and old[i] == new[j]:
                i, j = i + 1, j + 1
            reach[diagonal] = i
            used += i - begun
            if i >= size and j >= new_size:
                return _walked_back(history, size, new_size)
        if not steps.spend(used):
            break
    return []


def _walked_back(history: list[dict[int, int]], size: int, new_size: int) -> list[Match]:
    found: list[Match] = []
    i, j = size, new_size
    for edits in range(len(history) - 1, -1, -1):
        reach, diagonal = history[edits], i - j
        down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
        came_from = diagonal + 1 if down else diagonal - 1
        from_i = reach[came_from] if edits else 0
        from_j = from_i - came_from if edits else 0
        start = (from_i if down else from_i + 1) if edits else 0
        if i > start:
            found.append((start, start - diagonal, i - start))
        i, j = from_i, from_j
    return found[::-1]
