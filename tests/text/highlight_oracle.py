"""Highlights found the slow way: character by character, every character with its cluster, and no shortcut."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from itertools import pairwise

from groundwire_server.text import is_cjk, normalize
from groundwire_server.text.tokens import has_broken_line, patterns_for, show_soft_hyphens


def joins(character: str) -> bool:
    """Whether a character can act on the one before it, or is dropped."""
    first = unicodedata.normalize("NFKD", character)[0]
    acts = unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff" or unicodedata.combining(first) != 0
    return acts or normalize(character) == ""


def aligned(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The normal form, and for each character of it the cluster that it comes from."""
    heads = [at for at, character in enumerate(text) if at == 0 or not joins(character)]
    normal = ""
    places: list[tuple[int, int]] = []
    for head, end in pairwise([*heads, len(text)]):
        part = normalize(text[head:end])
        normal += part
        places += [(head, end)] * len(part)
    return normal, places


def highlights(text: str, query_tokens: Collection[str]) -> list[tuple[int, int]]:
    wanted = frozenset(query_tokens)
    within_pairs = {character for token in wanted if len(token) == 2 and is_cjk(token[0]) for character in token}
    normal, places = aligned(show_soft_hyphens(text))
    spans: list[tuple[int, int]] = []
    for first, last in _matches(normal, wanted - within_pairs):
        start, end = places[first][0], places[last - 1][1]
        if spans and start < spans[-1][1]:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return spans


def _matches(normal: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    patterns = patterns_for(normal)
    broken_line = has_broken_line(normal)
    for run in (patterns.pieces if broken_line else patterns.runs).finditer(normal):
        found, start = run.group(), run.start()
        if is_cjk(found[0]):
            for at, character in enumerate(found):
                if found[at : at + 2] in wanted:
                    yield start + at, start + min(at + 2, len(found))
                elif character in wanted:
                    yield start + at, start + at + 1
        elif found in wanted:
            yield run.span()
        elif broken_line:
            parts = list(patterns.words.finditer(found))
            if "".join(part.group() for part in parts) in wanted:
                yield run.span()
            else:
                yield from ((start + p.start(), start + p.end()) for p in parts if p.group() in wanted)
