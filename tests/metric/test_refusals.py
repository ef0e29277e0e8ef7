"""No digit of a stored value can be seen in an outcome that holds no figure.

Stored values are written with 6, 7, 8 and 9 alone; codes, periods and queries have none of these.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire_server.evidence import MetricFound, MetricQuery
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm, PeriodFault, Synonym
from groundwire_server.library import Library
from groundwire_server.metric.texts import ambiguous_text, not_found_text, period_text
from tests.metric.world import ask, figure, open_library

PERIODS = ["2020", "2021Q3", "2022-03-31", "FY2023", "Q3", "03/04/2021", "soon", "since 2020", ""]
NAMES = ["revenue", "revenues", "cost", "both", "unknown", "revenu", "売上高", "profit 123", ""]
VALUES = st.text("6789", min_size=1, max_size=12) | st.builds(
    "{}.{}".format, st.text("6789", min_size=1, max_size=5), st.text("6789", min_size=1, max_size=5)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("refusals")


_OPENED: list[Library] = []


def _texts(value: object) -> list[str]:
    """Every text and number anywhere in a value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [text for field in dataclasses.fields(value) for text in _texts(getattr(value, field.name))]
    if isinstance(value, tuple | list):
        return [text for member in value for text in _texts(member)]
    return [str(value)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=3, max_size=3), st.sampled_from(["en", "zh", "ja", ""]))
def test_no_digit_of_a_value_is_in_an_outcome_without_figures(folder: Path, values: list[str], language: str) -> None:
    glossary = Glossary(
        [
            MetricTerm("REVENUE", "revenue", (Synonym("both"), Synonym("売上高", "ja"))),
            MetricTerm("COST", "cost", (Synonym("both"),)),
            EntityTerm("ACME", "acme"),
        ],
        ambiguous="report",
    )
    facts = [
        figure("REVENUE", "ACME", "2020", values[0]),
        figure("COST", "ACME", "2020", values[1], unit="JPY"),
        figure("REVENUE", "ACME", "2021Q3", values[2], as_written=values[2], channel="WEB"),
    ]
    library = open_library(folder, glossary, [facts], f"lib{len(_OPENED)}")
    _OPENED.append(library)
    try:
        queries = [
            MetricQuery(name, entity, period) for name in NAMES for entity in ("acme", "nobody") for period in PERIODS
        ]
        answer = ask(library, *queries, language=language)
    finally:
        library.close()
    without = [each.outcome for each in answer.outcomes if not isinstance(each.outcome, MetricFound)]
    assert len(without) > 100
    for outcome in without:
        assert not any(set(text) & set("6789") for text in _texts(outcome)), outcome


@pytest.mark.parametrize("language", ["en", "zh", "ja", "xx"])
def test_fixed_sentences_hold_no_digit(language: str) -> None:
    sentences = [ambiguous_text(language), not_found_text("PERIOD", language)]
    sentences += [period_text(fault, language) for fault in PeriodFault]
    assert not any(char.isdigit() for sentence in sentences for char in sentence)
    assert len(set(sentences)) == len(sentences)
