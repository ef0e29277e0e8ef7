"""Questions back, with possible answers, instead of guesses (semantics 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from groundwire_server.evidence import Call, MetricQuery, Outcomes, ReviewStatus, UnrecognizedParam
from groundwire_server.glossary import display_name
from groundwire_server.metric import MetricRequest, query_metric
from groundwire_server.narrative import gate_for
from groundwire_server.router.decide import Wanted
from groundwire_server.router.frames import Clarification, ClarificationOption
from groundwire_server.router.texts import clarifying_question
from groundwire_server.security import SecurityGate
from groundwire_server.store import FactRecord

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["clarify", "clarify_everything"]

_NO_GATE = SecurityGate()
MAX_OPTIONS = 10
MAX_LOOKED_AT = 200
"""Entities of which it is looked whether they have a figure of a metric."""


def clarify(
    wanted: Wanted, call: Call, snapshots: Sequence[Snapshot], language: str, gate: SecurityGate = _NO_GATE
) -> Clarification:
    """The question back for the part that is missing; the options have visible figures for the other parts.

    None of them names something outside.
    """
    passes = gate_for(snapshots, gate)
    metric = wanted.metrics[0] if wanted.metrics and wanted.metrics[0] else None
    entity = wanted.entities[0] if wanted.entities and wanted.entities[0] else None
    unread = next((period for period in wanted.periods if period), "")
    if wanted.missing == "period" and unread and metric and entity:
        options = _fitting_periods(MetricQuery(metric, entity, unread), call, snapshots)
        return Clarification("period", clarifying_question("period", language), tuple(options))
    if wanted.missing == "period":
        facts = [record for snapshot in snapshots for record in _facts(snapshot, call, metric, entity)]
        latest = sorted({(record.period_last, record.period_first, record.period) for record in facts}, reverse=True)
        periods = list(dict.fromkeys(period for _, _, period in latest))[:MAX_OPTIONS]
        options = [ClarificationOption(period, period) for period in periods]
    else:
        named = {
            option for snapshot in snapshots for option in _codes(wanted, metric, entity, snapshot, call, language)
        }
        offered = [option for option in named if passes(option.label) and passes(option.code)]
        options = sorted(offered, key=lambda option: (option.label, option.code))[:MAX_OPTIONS]
    return Clarification(wanted.missing, clarifying_question(wanted.missing, language), tuple(options))


def _codes(
    wanted: Wanted, metric: str | None, entity: str | None, snapshot: Snapshot, call: Call, language: str
) -> list[ClarificationOption]:
    """Metrics or entities that have a figure for the other parts; all that have one where too little is said."""
    kind = wanted.missing
    period = wanted.periods[0] if len(wanted.periods) == 1 else ""
    codes: list[str] = []
    if entity or (metric and period):
        codes = [str(getattr(record, kind)) for record in _facts(snapshot, call, metric, entity, period or None)]
    if not codes:
        codes = snapshot.reader_at(call.options.known_at).fact_codes(call.principal.clearance, kind)
        if kind == "entity" and metric:
            some = codes[:MAX_LOOKED_AT]
            codes = [code for code in some if any(True for _ in _facts(snapshot, call, metric, code))] or codes
    return [ClarificationOption(code, _label(snapshot, kind, code, language)) for code in dict.fromkeys(codes)]


def clarify_everything(
    call: Call, snapshots: Sequence[Snapshot], language: str, gate: SecurityGate = _NO_GATE
) -> Clarification:
    """The question back to a message that asks nothing: the metrics that there are figures for."""
    passes = gate_for(snapshots, gate)
    options = sorted(
        {
            (display_name(term, language), term.code)
            for snapshot in snapshots
            for code in snapshot.reader_at(call.options.known_at).fact_codes(call.principal.clearance, "metric")
            if (term := snapshot.glossary.metrics.get(code)) is not None
            and passes(display_name(term, language))
            and passes(code)
        }
    )
    return Clarification(
        "metric",
        clarifying_question("", language),
        tuple(ClarificationOption(code, label) for label, code in options[:MAX_OPTIONS]),
    )


def _facts(
    snapshot: Snapshot, call: Call, metric: str | None, entity: str | None, period: str | None = None
) -> Iterable[FactRecord]:
    reader = snapshot.reader_at(call.options.known_at)
    for fact in reader.facts(call.principal.clearance, metric=metric, entity=entity, period=period):
        if fact.record.review_status is not ReviewStatus.PENDING and call.principal.may_read(fact.record.label):
            yield fact.record


def _label(snapshot: Snapshot, kind: str, code: str, language: str) -> str:
    terms = snapshot.glossary.metrics if kind == "metric" else snapshot.glossary.entities
    term = terms.get(code)
    return display_name(term, language) if term is not None else code


def _fitting_periods(query: MetricQuery, call: Call, snapshots: Sequence[Snapshot]) -> list[ClarificationOption]:
    """What the structured channel suggests for a period that it cannot read."""
    frames = query_metric(MetricRequest((query,)), call, snapshots)
    outcomes = [outcome.outcome for frame in frames if isinstance(frame, Outcomes) for outcome in frame.outcomes]
    suggested = [
        each.suggestions for each in outcomes if isinstance(each, UnrecognizedParam) and each.param == "period"
    ]
    return [ClarificationOption(period, period) for periods in suggested for period in periods][:MAX_OPTIONS]
