"""What QueryMetric is asked for, and what is wrong with it (metric.proto)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import product

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import MetricQuery, Operation

__all__ = ["CALCULABLE", "Calculation", "MetricProduct", "MetricRequest", "VersionPolicy", "expand_queries"]

CALCULABLE = (Operation.DIFFERENCE, Operation.RATIO, Operation.GROWTH)
"""Operations that a calculation may ask for."""


class VersionPolicy(IntEnum):
    """Which version of a restated figure; numbers are those of `groundwire.v1.VersionPolicy`."""

    LATEST = 1
    AS_REPORTED = 2
    ALL = 3


@dataclass(frozen=True, slots=True)
class MetricProduct:
    """Every combination of metrics, then entities, periods, channels; the last varies fastest. No channels: TOTAL."""

    metrics: tuple[str, ...]
    entities: tuple[str, ...]
    periods: tuple[str, ...]
    channels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calculation:
    """A computation over the queries at two places; GROWTH is (second - first) / |first|."""

    operation: Operation
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class MetricRequest:
    """Queries one by one, then a product of lists, and calculations over all of them by their place."""

    queries: tuple[MetricQuery, ...] = ()
    product: MetricProduct | None = None
    calculations: tuple[Calculation, ...] = ()
    versions: VersionPolicy = VersionPolicy.LATEST


def expand_queries(request: MetricRequest, most: int) -> list[MetricQuery]:
    """All queries in order: those listed, then the product.

    Args:
        most: queries that one call may hold.

    Raises:
        InvalidRequest: there are none or too many, a list of the product is empty, an axis is named twice, or a
            calculation names a place that is not there; every fault at once.
    """
    violations: list[Violation] = []
    lists = _lists(request.product, violations)
    count = len(request.queries) + (len(lists[0]) * len(lists[1]) * len(lists[2]) * len(lists[3]) if lists else 0)
    if not count and not violations:
        violations.append(Violation("queries", ErrorReason.VALUE_REQUIRED, "at least one query is needed"))
    if count > most:
        violations.append(Violation("queries", ErrorReason.VALUE_OUT_OF_RANGE, f"{count} queries, at most {most}"))
    violations += _axis_faults(request.queries)
    violations += _calculation_faults(request.calculations, count, most)
    if violations:
        raise InvalidRequest(violations)
    combined = product(*lists) if lists else ()
    return [*request.queries, *(MetricQuery(*names) for names in combined)]


_Names = tuple[str, ...]


def _lists(given: MetricProduct | None, violations: list[Violation]) -> tuple[_Names, _Names, _Names, _Names] | None:
    if given is None:
        return None
    for name, values in (("metrics", given.metrics), ("entities", given.entities), ("periods", given.periods)):
        if not values:
            violations.append(Violation(f"product.{name}", ErrorReason.VALUE_REQUIRED, "at least one is needed"))
    return given.metrics, given.entities, given.periods, given.channels or ("",)


def _axis_faults(queries: tuple[MetricQuery, ...]) -> Iterator[Violation]:
    for place, query in enumerate(queries):
        names = [dimension.name.strip() for dimension in query.dimensions]
        if len(set(names)) < len(names):
            why = "an axis is named twice"
            yield Violation(f"queries[{place}].dimensions", ErrorReason.CONTRADICTION, why)


def _calculation_faults(calculations: tuple[Calculation, ...], count: int, most: int) -> Iterator[Violation]:
    if len(calculations) > most:
        why = f"{len(calculations)} calculations, at most {most}"
        yield Violation("calculations", ErrorReason.VALUE_OUT_OF_RANGE, why)
    for place, calculation in enumerate(calculations):
        path = f"calculations[{place}]"
        if calculation.operation not in CALCULABLE:
            known = ", ".join(operation.name for operation in CALCULABLE)
            why = f"{calculation.operation.name} is none of {known}"
            yield Violation(f"{path}.operation", ErrorReason.UNKNOWN_NAME, why)
        for name, index in (("first", calculation.first), ("second", calculation.second)):
            if not 0 <= index < count:
                why = f"{index} is no query_index; there are {count}"
                yield Violation(f"{path}.{name}", ErrorReason.VALUE_OUT_OF_RANGE, why)
