"""Glossary variants of a query (seed, GlossaryQueryRewriter; semantics 7).

The names of metrics and entities that a query holds are exchanged for their synonyms, all of them at once: the n-th
variant has each name's n-th synonym, and a name that has none left stays as it is. Languages take turns, that of the
query first, so that a question in one language reaches text in another. They serve the words of the lexical leg; the
vectors of the dense leg know synonyms by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from groundwire_server.evidence import QueryVariant
from groundwire_server.glossary import EntityTerm, MetricTerm, TermKind
from groundwire_server.narrative.state import Search
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language, is_cjk, normalize

if TYPE_CHECKING:
    from groundwire_server.glossary import Glossary, TermMention

__all__ = ["MAX_VARIANTS", "glossary_variants", "rewrite"]

MAX_VARIANTS = 5


def rewrite(search: Search, gate: SecurityGate) -> Search:
    """Put the glossary's variants behind the query. One that names something outside is left out."""
    texts = glossary_variants(search.query, search.snapshot.glossary)
    made = tuple(QueryVariant(text, "glossary") for text in texts if gate.passes(text))
    return replace(search, variants=(*search.variants, *made))


def glossary_variants(query: str, glossary: Glossary, limit: int = MAX_VARIANTS - 1) -> list[str]:
    """At most `limit` other wordings of a query, none equal to it or to another one in normal form.

    A name that may mean several terms stays as it is.
    """
    mentions = [mention for mention in glossary.find_terms(query) if len(mention.terms) == 1]
    choices = [_synonyms(mention, glossary, detect_language(query)) for mention in mentions]
    seen = {normalize(query)}
    variants: list[str] = []
    for wordings in zip_longest(*choices):
        variant = _exchange(query, mentions, wordings)
        if normalize(variant) not in seen:
            seen.add(normalize(variant))
            variants.append(variant)
        if len(variants) == limit:
            break
    return variants


def _synonyms(mention: TermMention, glossary: Glossary, language: str) -> list[str]:
    """The other names of a term, a name of each language in turn, the query's language first."""
    (ref,) = mention.terms
    term: MetricTerm | EntityTerm
    if ref.kind == TermKind.METRIC.value:
        term = glossary.metrics[ref.code]
    elif ref.kind == TermKind.ENTITY.value:
        term = glossary.entities[ref.code]
    else:
        return []
    named = [(term.label, "en"), *((synonym.text, synonym.language) for synonym in term.synonyms)]
    if isinstance(term, EntityTerm):
        named += [(identifier.value, "en") for identifier in term.identifiers]
    seen = {normalize(""), normalize(mention.text)}
    by_language: dict[str, list[str]] = {language: []}
    for name, spoken in named:
        if normalize(name) not in seen:
            seen.add(normalize(name))
            by_language.setdefault(spoken or detect_language(name), []).append(name)
    turns = [by_language.pop(language), *(by_language[other] for other in sorted(by_language))]
    return [name for name in chain.from_iterable(zip_longest(*turns)) if name]


def _exchange(query: str, mentions: Sequence[TermMention], wordings: Sequence[str | None]) -> str:
    parts: list[str] = []
    end = 0
    for mention, wording in zip(mentions, wordings, strict=True):
        parts += [query[end : mention.span.start], mention.text if wording is None else wording]
        end = mention.span.end
    text = ""
    for part in [*parts, query[end:]]:
        text += " " + part if text and part and _would_merge(text[-1], part[0]) else part
    return text


def _would_merge(left: str, right: str) -> bool:
    """Whether two characters that meet would make one word that neither side has."""
    return left.isalnum() and right.isalnum() and not is_cjk(left) and not is_cjk(right)
