"""Which period and which entity of a sentence a figure goes with."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TypeVar

from groundwire_server.evidence import Span

__all__ = ["associate"]

Key = TypeVar("Key", bound=Hashable)
_BREAK = re.compile(
    r"[,，、;；:：()（）]|(?<![a-z])(?:and|while|whereas|but|versus|vs|compared|from|to|than|against|up|down)(?![a-z])"
    r"|而|但|相比|から|一方|より|较|較|比",
    re.IGNORECASE,
)
_LINK = re.compile(r"\s*(?:[-–—~〜/]|to|and|から|至|到|と|和|、|,)\s*(?:the\s+)?", re.IGNORECASE)
_IN_TURN = re.compile(r"respectively|それぞれ|各々|分别|分別|各为|各為", re.IGNORECASE)


def associate(text: str, figures: Sequence[Span], mentions: Sequence[tuple[Span, Key]]) -> list[frozenset[Key]]:
    """For each figure the keys of the mentions that it goes with; both in the order of the text.

    With one thing mentioned every figure goes with it. "Respectively" pairs them by place. Else those in the same part
    of the sentence count, then the nearest before, then the nearest behind.
    """
    keys = {key for _, key in mentions}
    if len(keys) < 2:
        return [frozenset(keys)] * len(figures)
    if _IN_TURN.search(text):
        if len(mentions) == len(figures):
            return [frozenset((key,)) for _, key in mentions]
        return [frozenset(keys)] * len(figures)
    groups = _grouped(text, mentions)
    places = [*figures, *(span for span, _ in groups)]
    breaks = [
        found.start() for found in _BREAK.finditer(text) if not any(at.start <= found.start() < at.end for at in places)
    ]
    part_of = [sum(at <= span.start for at in breaks) for span in figures]
    own = [sum(at <= span.start for at in breaks) for span, _ in groups]
    result: list[frozenset[Key]] = []
    for figure, part in zip(figures, part_of, strict=True):
        near = [group for group, place in zip(groups, own, strict=True) if place == part]
        if len(near) > 1 and part_of.count(part) > 1:
            near = [_by_order(figure, near, [each for each, at in zip(figures, part_of, strict=True) if at == part])]
        if not near:
            before = [group for group in groups if group[0].start < figure.start]
            near = [before[-1]] if before else [groups[0]]
        result.append(frozenset(key for _, held in near for key in held))
    return result


def _by_order(
    figure: Span, mentions: Sequence[tuple[Span, frozenset[Key]]], figures: Sequence[Span]
) -> tuple[Span, frozenset[Key]]:
    """In "2023 5, 2024 7" the one before; in "5 in 2023, 7 in 2024" the one behind."""
    if mentions[0][0].start < figures[0].start:
        before = [mention for mention in mentions if mention[0].start < figure.start]
        return before[-1] if before else mentions[0]
    behind = [mention for mention in mentions if mention[0].start > figure.start]
    return behind[0] if behind else mentions[-1]


def _grouped(text: str, mentions: Sequence[tuple[Span, Key]]) -> list[tuple[Span, frozenset[Key]]]:
    """Mentions with nothing but a link between them are one: from 2019 to 2023."""
    groups: list[tuple[Span, frozenset[Key]]] = []
    for span, key in mentions:
        if groups and _LINK.fullmatch(text, groups[-1][0].end, span.start):
            last, held = groups[-1]
            groups[-1] = (Span(last.start, span.end), held | {key})
        else:
            groups.append((span, frozenset((key,))))
    return groups
