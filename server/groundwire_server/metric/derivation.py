"""How a figure came to be: what it is made of, level by level, down to the stored figures (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import (
    CancelToken,
    DerivedFigure,
    Filter,
    Label,
    Lineage,
    MetricKey,
    MetricQuery,
    Operation,
    Refusal,
    RefusalReason,
    Snippet,
    Trust,
    make_refusal,
    make_snippet_id,
    text_sha256,
)
from groundwire_server.glossary import derivation_codes, read_derivation
from groundwire_server.metric.calculation import MOST_MEMBERS, RATIO, Operand, operand_of
from groundwire_server.metric.conflict import conflicting_figures, disagree
from groundwire_server.metric.exit import fact_snippet, fact_snippet_id
from groundwire_server.metric.figures import Figure, days_of_spans
from groundwire_server.metric.fiscal import Days
from groundwire_server.metric.formula import MOST_DIGITS, Quantity, compute, written_with_numbers
from groundwire_server.metric.lookup import Found, LibraryView, Missing, look_up
from groundwire_server.metric.reading import Asking, Unread
from groundwire_server.metric.request import VersionPolicy
from groundwire_server.metric.statement import formula_statement
from groundwire_server.metric.units import unit_key

__all__ = ["CameToBe", "agree", "compute_figure", "derive_figure"]

_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class CameToBe:
    """A figure and what it is made of. `named`: ids of the figure itself, one a source where it is stored.

    snippets: the figure, what it is made of level by level, and at last the earlier versions of all that is stored.
    figures: the stored figures that are named; none where it is computed.
    operand: what it is to compute further with, where it is computed itself.
    hint_dropped: some figure that it stands on does not fit the call's hint.
    days: first and last day of the stored figures that it comes from, those of a day alone left out.
    """

    key: MetricKey
    named: tuple[str, ...]
    snippets: tuple[Snippet, ...]
    figures: tuple[Figure, ...] = ()
    operand: Operand | None = None
    hint_dropped: bool = False
    days: frozenset[Days] = frozenset()


@dataclass(frozen=True, slots=True)
class _Part:
    """A figure that others may be computed from, and what it is computed from itself."""

    snippet: Snippet
    quantity: Quantity
    lineages: tuple[Lineage, ...]
    label: Label
    parts: tuple[_Part, ...] = ()
    earlier: tuple[Snippet, ...] = ()
    days: frozenset[Days] = frozenset()


def derive_figure(
    query: MetricQuery, view: LibraryView, asking: Asking, cancel: CancelToken
) -> CameToBe | Missing | Unread | Refusal:
    """The figure of a query with all that led to it.

    A figure that is stored came from its source, in every version; one that is not is computed by the formula of its
    metric, from figures that are stored or computed likewise. One operand that is missing, of unlike unit, or whose
    sources disagree leaves nothing to compute.

    Raises:
        InvalidRequest: a computed figure has too many digits to be told whole.
    """
    whole = replace(view, figures=replace(view.figures, versions=VersionPolicy.ALL))
    deriver = _Deriver(query, whole, asking, cancel, None)
    result = deriver.look_up(query.metric)
    if isinstance(result, Unread):
        return result
    if isinstance(result, Found):
        figures, clashing = _latest(result.figures), conflicting_figures(result.figures)
        shown = tuple(deriver.snippet(figure, conflicting=_id(figure) in clashing) for figure in figures)
        earlier = deriver.earlier(result.figures, figures)
        return CameToBe(result.key, tuple(each.snippet_id for each in shown), (*shown, *earlier), tuple(figures))
    term = view.vocabulary.glossary.metrics.get(result.key.metric)
    if term is None or not term.derivation.strip():
        return result
    part = deriver.part(result.key.metric, ())
    if isinstance(part, RefusalReason):
        return make_refusal(part, asking.language)
    return CameToBe(result.key, (part.snippet.snippet_id,), tuple(_in_levels(part)))


def compute_figure(
    query: MetricQuery, key: MetricKey, view: LibraryView, asking: Asking, hint: Filter | None, cancel: CancelToken
) -> CameToBe | None:
    """The figure that the formula of the glossary gives for a query that nothing is stored for, with what it is made
    of; None where there is no formula, or it gives none.

    Args:
        key: what the query means.
        view: in the versions that the call asks for; the latest of them is computed with.
    """
    term = view.vocabulary.glossary.metrics.get(key.metric)
    if term is None or not term.derivation.strip():
        return None
    deriver = _Deriver(query, view, asking, cancel, hint)
    try:
        part = deriver.part(key.metric, ())
    except InvalidRequest:  # of more digits than can be told whole
        return None
    if isinstance(part, RefusalReason):
        return None
    operand = Operand(
        key,
        view.library_id,
        part.quantity.value,
        part.quantity.unit,
        part.snippet.snippet_id,
        part.lineages,
        part.label,
        view.vocabulary.glossary,
        part.quantity.rounded,
    )
    snippets = tuple(_in_levels(part, earlier=False))
    named = (part.snippet.snippet_id,)
    return CameToBe(key, named, snippets, operand=operand, hint_dropped=deriver.hint_dropped, days=part.days)


def agree(found: Sequence[CameToBe]) -> bool:
    """Whether what several libraries compute is the same, and what others have stored of it; stored among themselves
    is not looked at."""
    computed: list[tuple[str, str]] = []
    for each in found:
        payload = each.snippets[0].payload
        if isinstance(payload, DerivedFigure):
            computed.append((unit_key(payload.unit), payload.value))
    stored = [figure.record for each in found for figure in each.figures]
    return all(
        (unit != other_unit or Decimal(value) == Decimal(other))
        for (unit, value), (other_unit, other) in combinations(computed, 2)
    ) and not any(
        unit == unit_key(record.unit) and disagree(value, None, record.value, record.decimals)
        for unit, value in computed
        for record in stored
    )


class _Deriver:
    """Finds or computes the figures of one entity, period and channel. Each is made once."""

    def __init__(
        self, query: MetricQuery, view: LibraryView, asking: Asking, cancel: CancelToken, hint: Filter | None
    ) -> None:
        self._query = query
        self._hint = hint
        self.hint_dropped = False
        self._view = view
        self._asking = asking
        self._cancel = cancel
        self._made: dict[str, _Part | RefusalReason] = {}

    def look_up(self, metric: str) -> Found | Missing | Unread:
        """What is stored of a metric, in every version."""
        self._cancel.check("lookup")
        found = look_up(replace(self._query, metric=metric), self._view, self._asking, self._hint)
        self.hint_dropped = self.hint_dropped or (isinstance(found, Found) and found.hint_dropped)
        return found

    def part(self, metric: str, above: tuple[str, ...]) -> _Part | RefusalReason:
        """The figure of a metric, or why there is none. `above`: what is being computed from it."""
        if metric in above or len(above) > _DEEPEST:  # a formula that leads back to itself computes nothing
            return RefusalReason.OPERAND_MISSING
        if metric not in self._made:
            self._made[metric] = self._make(metric, above)
        return self._made[metric]

    def snippet(self, figure: Figure, *, conflicting: bool = False) -> Snippet:
        """The snippet of a stored figure."""
        return fact_snippet(figure, self._view.vocabulary.glossary, self._asking.language, conflicting=conflicting)

    def earlier(self, figures: Iterable[Figure], latest: Iterable[Figure]) -> tuple[Snippet, ...]:
        """The versions before the latest ones, of the same sources."""
        sources = {_id(figure) for figure in latest}
        return tuple(self.snippet(each) for each in figures if not each.latest and _id(each) in sources)

    def _make(self, metric: str, above: tuple[str, ...]) -> _Part | RefusalReason:
        result = self.look_up(metric)
        if isinstance(result, Found):
            return self._stored(result)
        term = self._view.vocabulary.glossary.metrics.get(metric)
        if isinstance(result, Unread) or term is None or not term.derivation.strip():
            return RefusalReason.OPERAND_MISSING
        return self._computed(result.key, term.derivation, (*above, metric))

    def _stored(self, found: Found) -> _Part | RefusalReason:
        operand = operand_of(found.key, found.figures, self._view.vocabulary.glossary)
        if isinstance(operand, RefusalReason):
            return operand
        figure = next(each for each in found.figures if fact_snippet_id(each) == operand.snippet_id)
        return _Part(
            self.snippet(figure),
            Quantity(operand.value, operand.unit),
            operand.lineages,
            operand.label,
            earlier=self.earlier(found.figures, [figure]),
            days=days_of_spans([figure]),
        )

    def _computed(self, key: MetricKey, text: str, above: tuple[str, ...]) -> _Part | RefusalReason:
        known = self._view.vocabulary.glossary.metrics
        try:
            formula, codes = read_derivation(text, known), derivation_codes(text, known)
        except ValueError:  # `glossary lint` says what is wrong with it
            return RefusalReason.OPERAND_MISSING
        if not codes:  # no figure without a fact
            return RefusalReason.OPERAND_MISSING
        parts: list[_Part] = []
        for code in codes:
            part = self.part(code, above)
            if isinstance(part, RefusalReason):
                return part
            parts.append(part)
        values = {code: part.quantity for code, part in zip(codes, parts, strict=True)}
        try:
            computed = compute(formula, values)
        except ArithmeticError:
            raise _too_long(key.metric) from None
        if isinstance(computed, RefusalReason):
            return computed
        if len(computed.value.as_tuple().digits) + abs(computed.value.adjusted()) > MOST_DIGITS:
            raise _too_long(key.metric)
        places = {code: place for place, code in enumerate(codes, start=1)}
        return self._derived(key, computed, written_with_numbers(formula, places), parts)

    def _unit(self, metric: str, computed: Quantity) -> str:
        """What the arithmetic gives; of a ratio that the formula scales, such as to percents, what the term says."""
        term = self._view.vocabulary.glossary.metrics.get(metric)
        if term is not None and term.unit and computed.is_scaled and computed.unit == RATIO:
            return term.unit
        return computed.unit

    def _derived(self, key: MetricKey, computed: Quantity, expression: str, parts: list[_Part]) -> _Part:
        value, unit = format(computed.value, "f"), self._unit(key.metric, computed)
        library_id = self._view.library_id
        ids = tuple(part.snippet.snippet_id for part in parts)
        lineages = tuple(dict.fromkeys(lineage for part in parts for lineage in part.lineages))
        label = max((part.label for part in parts), default=Label.PUBLIC)
        what = " ".join((Operation.FORMULA.name, key.metric, key.entity, key.period, key.channel, expression, *ids))
        glossary, language = self._view.vocabulary.glossary, self._asking.language
        snippet = Snippet(
            snippet_id=make_snippet_id("derived", library_id, what, text_sha256(f"{value} {unit}")),
            lineage=Lineage(
                library_id=library_id,
                members=lineages[:MOST_MEMBERS],
                members_omitted=max(0, len(lineages) - MOST_MEMBERS),
            ),
            trust=Trust.CITABLE,
            payload=DerivedFigure(
                operation=Operation.FORMULA,
                expression=expression,
                value=value,
                unit=unit,
                rounded=computed.rounded,
                statement=formula_statement(key, value, unit, glossary, language),
                key=key,
                operand_ids=ids,
            ),
            label=label,
        )
        days = frozenset[Days]().union(*(part.days for part in parts))
        return _Part(snippet, replace(computed, unit=unit), lineages, label, tuple(parts), days=days)


def _too_long(metric: str) -> InvalidRequest:
    words = f"{metric} has more than {MOST_DIGITS} digits"
    return InvalidRequest.one("derivation.query", ErrorReason.VALUE_OUT_OF_RANGE, words)


def _in_levels(top: _Part, *, earlier: bool = True) -> Iterable[Snippet]:
    """The figure, its operands, theirs ..., each once; then the earlier versions of those that are stored."""
    seen: dict[str, Snippet] = {}
    before: dict[str, Snippet] = {}
    level = [top]
    while level:
        fresh = {part.snippet.snippet_id: part for part in level if part.snippet.snippet_id not in seen}
        seen.update({name: part.snippet for name, part in fresh.items()})
        before.update({each.snippet_id: each for part in fresh.values() for each in part.earlier})
        level = [inner for part in fresh.values() for inner in part.parts]
    return [*seen.values(), *(each for name, each in before.items() if earlier and name not in seen)]


def _latest(figures: Iterable[Figure]) -> list[Figure]:
    return [figure for figure in figures if figure.latest]


def _id(figure: Figure) -> tuple[str, str]:
    return figure.library_id, figure.fact.fact_id
