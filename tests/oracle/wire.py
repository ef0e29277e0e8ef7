"""Worlds over the wire: put in through the contract, asked through the contract."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from groundwire.v1 import (
    admin_pb2,
    errors_pb2,
    filter_pb2,
    glossary_pb2,
    ingest_pb2,
    metric_pb2,
    stream_pb2,
    value_pb2,
)
from tests.oracle.server import Served
from tests.oracle.shelf import Rejection
from tests.oracle.world import Calculation, Call, Dims, LibraryPlan, Product, Query, Row, Term, Test

__all__ = ["ask", "make_library", "put_terms", "request_of", "send_rows"]

_KINDS = {"metric": 1, "entity": 2, "channel": 3, "dimension": 4}


def make_library(served: Served, library: str, plan: LibraryPlan) -> None:
    """Create a library."""
    saved = admin_pb2.Library(library_id=library)
    if plan.reports_ambiguity:
        saved.settings.add(name="ambiguous", value="report")
    served.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=saved))


def put_terms(served: Served, library: str, plan: LibraryPlan) -> None:
    """Give it its glossary."""
    if plan.terms:
        terms = [_term(each) for each in plan.terms]
        served.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id=library, put=terms))


def _term(term: Term) -> glossary_pb2.Term:
    made = glossary_pb2.Term(
        kind=_KINDS[term.kind],  # type: ignore[arg-type]
        code=term.code,
        label=term.label,
        synonyms=[glossary_pb2.Synonym(text=text, language=language) for text, language in term.synonyms],
    )
    if term.kind == "metric":
        made.metric.unit = term.unit
        made.metric.derivation = term.derivation
        made.metric.nature = {"": 0, "flow": 1, "instant": 2}[term.nature]  # type: ignore[assignment]
    if term.kind == "entity":
        made.entity.parent_code = term.parent
        made.entity.fiscal_year_start = term.fiscal_start
        made.entity.fiscal_year_named_by = {"": 0, "start": 1, "end": 2}[term.named_by]  # type: ignore[assignment]
        for scheme, value in term.identifiers:
            made.entity.identifiers.add(scheme=scheme, value=value)
    if term.kind == "dimension":
        made.dimension.dimension = term.axis
    return made


def send_rows(served: Served, library: str, rows: Sequence[Row]) -> list[Rejection]:
    """Put a batch in; gives what is wrong with the rows that were refused."""
    request = ingest_pb2.IngestFactsRequest
    records = ingest_pb2.FactRecords(facts=[_record(each) for each in rows])
    start = ingest_pb2.IngestStart(ingest_id=str(uuid.uuid4()), library_id=library)
    messages = [
        request(start=start),
        request(part=ingest_pb2.FactPart(seq=1, records=records)),
        request(finish=ingest_pb2.IngestFinish(last_seq=1)),
    ]
    refused: list[Rejection] = []
    for answer in served.ingest.IngestFacts(iter(messages)):
        refused += [Rejection(each.row, _reason(each.reason)) for each in answer.rejected.rows]
    return refused


def _reason(number: int) -> str:
    return errors_pb2.ErrorReason.Name(number).removeprefix("ERROR_REASON_")  # type: ignore[arg-type]


def _record(row: Row) -> ingest_pb2.FactRecord:
    made = ingest_pb2.FactRecord(
        metric=row.metric,
        entity=row.entity,
        period=row.period,
        channel=row.channel,
        dimensions=_dimensions(row.dims),
        value=row.value,
        unit=row.unit,
        source_doc=row.source,
        locator=row.locator,
        as_written=row.as_written,
        author=row.author,
        reason=row.reason,
        withdraw=row.withdraw,
        label=getattr(ingest_pb2, f"LABEL_{row.label or 'UNSPECIFIED'}"),
    )
    if row.decimals is not None:
        made.decimals = row.decimals
    if row.filed is not None:
        made.filed_at.FromDatetime(row.filed)
    if row.valid_as_of is not None:
        made.valid_as_of.FromDatetime(row.valid_as_of)
    if row.status:
        made.review_status = {"APPROVED": 2, "PENDING": 3}[row.status]  # type: ignore[assignment]
    if row.region is not None:
        made.attributes.add(name="region", value=value_pb2.Value(string_value=row.region))
    if row.pages is not None:
        made.attributes.add(name="pages", value=value_pb2.Value(int_value=row.pages))
    return made


def _dimensions(dims: Dims) -> list[value_pb2.Dimension]:
    return [value_pb2.Dimension(name=axis, member=member) for axis, member in dims]


def request_of(call: Call, libraries: Sequence[str], moments: Sequence[datetime]) -> metric_pb2.QueryMetricRequest:
    """A call as it is sent; `libraries` are those of the world, by number."""
    chosen = call.libraries or range(len(libraries))
    options = stream_pb2.CallOptions(
        library_ids=[libraries[number] for number in chosen],
        language=call.language,
        reference_date=call.reference,
    )
    known_at = moments[call.known_at] if isinstance(call.known_at, int) else call.known_at
    if known_at is not None:
        options.known_at.FromDatetime(known_at)
    if call.valid_at is not None:
        options.valid_at.FromDatetime(call.valid_at)
    if call.tests:
        options.filter.CopyFrom(_filter(call.tests))
    return metric_pb2.QueryMetricRequest(
        options=options,
        queries=[_query(each) for each in call.queries],
        product=_product(call.product),
        calculations=[_calculation(each) for each in call.calculations],
        versions={"": 0, "LATEST": 1, "AS_REPORTED": 2, "ALL": 3}[call.versions],  # type: ignore[arg-type]
    )


def _query(query: Query) -> metric_pb2.MetricQuery:
    return metric_pb2.MetricQuery(
        metric=query.metric,
        entity=query.entity,
        period=query.period,
        channel=query.channel,
        dimensions=_dimensions(query.dims),
    )


def _product(product: Product | None) -> metric_pb2.MetricProduct | None:
    if product is None:
        return None
    return metric_pb2.MetricProduct(
        metrics=product.metrics, entities=product.entities, periods=product.periods, channels=product.channels
    )


def _calculation(asked: Calculation) -> metric_pb2.Calculation:
    operation = {"DIFFERENCE": 2, "RATIO": 3, "GROWTH": 4}[asked.operation]
    return metric_pb2.Calculation(operation=operation, first=asked.first, second=asked.second)  # type: ignore[arg-type]


def _filter(tests: Sequence[Test]) -> filter_pb2.Filter:
    each = [_test(test) for test in tests]
    return each[0] if len(each) == 1 else filter_pb2.Filter(all_of=filter_pb2.FilterList(filters=each))


def _test(test: Test) -> filter_pb2.Filter:
    predicate = filter_pb2.Predicate(field=test.name)
    values = [_value(each) for each in test.values if not isinstance(each, bool)]
    if test.operator == "present":
        predicate.present = bool(test.values[0])
    elif test.operator == "between":
        predicate.between.CopyFrom(filter_pb2.Between(low=values[0], high=values[1]))
    elif test.operator in ("one_of", "none_of"):
        getattr(predicate, test.operator).CopyFrom(filter_pb2.ValueList(values=values))
    else:
        getattr(predicate, test.operator).CopyFrom(values[0])
    made = filter_pb2.Filter(predicate=predicate)
    return filter_pb2.Filter(negate=made) if test.negated else made


def _value(value: str | int) -> value_pb2.Value:
    return value_pb2.Value(string_value=value) if isinstance(value, str) else value_pb2.Value(int_value=value)


def ask(served: Served, request: metric_pb2.QueryMetricRequest) -> list[Any]:
    """All frames of the answer."""
    frames: Iterator[Any] = served.metric.QueryMetric(request, timeout=60)
    return list(frames)
