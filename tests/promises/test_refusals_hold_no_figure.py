"""No digit of a stored value gets into a not_found or an unrecognized_param, whatever digits the names have.

The same names stand in two servers whose values differ in every digit. A refusal that is the same bytes in both cannot
have been made of any value; and no value's digits stand in it either.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, evidence_pb2, glossary_pb2, ingest_pb2, metric_pb2, value_pb2
from tests.rpc.house import House, fact, house, snippets, term

METRIC, ENTITY = glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_ENTITY
CHANNEL, MEMBER = glossary_pb2.TERM_KIND_CHANNEL, glossary_pb2.TERM_KIND_DIMENSION_MEMBER
METRICS = ("SCOPE_3", "P95", "営業利益2", "UNLISTED_90210")
ENTITIES = ("3M", "7_ELEVEN", "1234567_CANADA", "三六零", "RAW_8675309")
PERIODS = ("2019", "2020-06-30", "FY2021", "2022Q3", "2018-01-29/2019-01-27", "2019-01-28/2020-01-26")
CHANNELS = ("", "5G", "W48")
SHIFT = str.maketrans("0123456789", "7415926830")


def first(number: int) -> str:
    """A value that nothing else of the world looks like: eleven digits before the point and six behind."""
    return f"{(number + 1) * 90_000_049_337 % 99_999_999_977:011d}.{(number + 7) * 654_323 % 1_000_003:06d}"


def second(number: int) -> str:
    """Another value in its place, unlike in every digit; equal ones stay equal and unlike ones unlike."""
    return first(number).translate(SHIFT)


def terms() -> list[glossary_pb2.Term]:
    shared = glossary_pb2.Synonym(text="class 1 emissions 2")
    listed = [
        term(METRIC, "SCOPE_3", "Scope 3 emissions", "范围3排放"),
        term(METRIC, "P95", "95th percentile", "第95百分位"),
        term(METRIC, "営業利益2", "営業利益（その2）"),
        term(METRIC, "RATIO_2", "2nd ratio", metric={"derivation": "SCOPE_3 / P95"}),
        term(ENTITY, "3M", "3M Co", "スリーエム"),
        term(ENTITY, "7_ELEVEN", "7-Eleven", "セブン-イレブン"),
        term(ENTITY, "1234567_CANADA", "1234567 Canada Inc."),
        term(ENTITY, "三六零", "360集团", "360 Security"),
        term(CHANNEL, "5G", "fifth generation"),
        term(CHANNEL, "W48", "48 wards"),
        term(MEMBER, "A65", "65 and over", dimension={"dimension": "age"}),
    ]
    for each in listed[:2]:
        each.synonyms.append(shared)
    return listed


def records(value: Callable[[int], str]) -> ingest_pb2.FactRecords:
    made = []
    for number, (metric, entity, period, channel) in enumerate(
        itertools.product(METRICS, ENTITIES, PERIODS, CHANNELS[:2])
    ):
        if number % 3 == 2 or (metric, entity) == ("P95", "3M"):
            continue
        given: dict[str, Any] = {"channel": channel, "as_written": value(number), "unit": f"U{number % 2}"}
        if number % 5 == 4:
            given["dimensions"] = [value_pb2.Dimension(name="age", member="A65")]
        if number % 7 == 6:
            given["review_status"] = evidence_pb2.REVIEW_STATUS_PENDING
        if number % 11 == 10:
            given["label"] = ingest_pb2.LABEL_CONFIDENTIAL
        made.append(fact(metric, entity, period, value(number), **given))
        if number % 4 == 3:  # a source that disagrees
            made.append(fact(metric, entity, period, value(number + 5000), **{**given, "source_doc": "other.csv"}))
    return ingest_pb2.FactRecords(facts=made)


def queries() -> list[metric_pb2.MetricQuery]:
    names = (
        ("SCOPE_3", "95th percentile", "class 1 emissions 2", "2nd ratio", "Scope 4", "90210", "UNLISTED_9021", ""),
        ("3M", "360集团", "1234567 Canada", "123456 Canada Inc.", "8675309", "RAW_867530", "7-Elevens"),
        ("2019", "1999", "2020-06-30", "FY2021", "FY2019", "Q3", "03/04/2019", "since 2019", "平成32年", "2019H3"),
        ("", "5G", "6G", "W48"),
    )
    made = [
        metric_pb2.MetricQuery(metric=m or "?", entity=e, period=p, channel=c)
        for m, e, p, c in itertools.product(*names)
    ]
    age = [value_pb2.Dimension(name=name, member=member) for name, member in (("age", "64"), ("age2", "A65"))]
    made += [metric_pb2.MetricQuery(metric="P95", entity="3M", period="2019", dimensions=[each]) for each in age]
    return made


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[House]]:
    folder = Path(tmp_path_factory.mktemp("refusals"))
    with house(folder / "one") as one, house(folder / "two") as two:
        for here, value in ((one, first), (two, second)):
            library = {"library_id": "default", "settings": [{"name": "ambiguous", "value": "report"}]}
            here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(**library)))
            here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=terms()))
            frames = here.store_facts(records(value))
            assert not frames[-1].summary.failed
        yield [one, two]


def outcomes(here: House, asked: list[metric_pb2.MetricQuery]) -> tuple[list[Any], list[Any]]:
    """Outcomes of all queries, and their snippets, from calls of as many as one may hold."""
    found: list[Any] = []
    sent: list[Any] = []
    for begin in range(0, len(asked), 500):
        part = asked[begin : begin + 500]
        computed = [
            metric_pb2.Calculation(operation=evidence_pb2.OPERATION_RATIO, first=n, second=n + 1)
            for n in range(len(part) - 1)
        ]
        request = metric_pb2.QueryMetricRequest(queries=part, calculations=computed)
        frames = list(here.metric.QueryMetric(request))
        for frame in frames:
            found += [*frame.outcomes.outcomes, *frame.outcomes.calculations]
        sent += snippets(frames)
    return found, sent


def test_refusals_are_made_of_no_value(houses: list[House]) -> None:
    asked = queries()
    (one, sent), (two, _) = (outcomes(here, asked) for here in houses)
    values = {re.sub(r"\D", "", make(number)) for number in range(6000) for make in (first, second)}
    kinds: dict[str, int] = {}
    for here, there in zip(one, two, strict=True):
        kind = here.WhichOneof("outcome")
        assert kind == there.WhichOneof("outcome")
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind in ("found", "snippet_id"):
            continue
        assert here == there
        assert not [run for run in re.findall(r"\d{8,}", str(here)) if any(run in value for value in values)]
    assert set(kinds) >= {"found", "not_found", "unrecognized_param", "refusal"}
    # Values that are there do get out where they are found.
    assert {each.fact.value for each in sent if each.HasField("fact")} <= {first(n) for n in range(6000)}
    assert len(sent) > 20
