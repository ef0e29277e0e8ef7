"""Filters read out of questions: what holds for each extractor, what the glossary sees, what a model may say."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Family,
    Filter,
    Operator,
    Period,
    PeriodKind,
    Predicate,
    Value,
    check_filter,
    matches,
)
from groundwire_server.glossary import EntityTerm, Glossary, Identifier, MetricTerm, Synonym
from groundwire_server.llm import ModelProvider, ScriptedProvider, Stop, go_on, load_prompt
from groundwire_server.query import QueryText
from groundwire_server.query.filters import (
    FILTER_EXTRACTORS,
    Extracted,
    FilterExtractor,
    FilterSource,
    ValuesOf,
    make_filter_extractor,
)
from groundwire_server.query.filters.conformance import CHECKS, run_checks
from groundwire_server.text import detect_language
from tests.support.hostile_text import hostile_text

GLOSSARY = Glossary(
    (
        EntityTerm(
            "ACME",
            label="Acme Corp",
            identifiers=(Identifier("ticker", "ACM"),),
            synonyms=(Synonym("アクメ", "ja"), Synonym("顶点公司", "zh")),
        ),
        EntityTerm("GLOBEX", label="Globex", fiscal_year_start="04-01"),
        EntityTerm("US", label="United States"),
        EntityTerm("INITECH", label="Initech"),
        MetricTerm("REVENUE", label="Revenue", unit="USD"),
    )
)
ABOUT = ValuesOf(Family.TEXT, ("ACM", "Acme Corp", "globex", "misc"))


@pytest.mark.parametrize("name", FILTER_EXTRACTORS)
def test_each_does_what_any_must(name: str) -> None:
    assert run_checks(make_filter_extractor(name)) == []


def test_the_checks_tell_a_broken_one() -> None:
    class Guess:
        name = "guess"
        asks_model = False

        def extract(
            self, source: FilterSource, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
        ) -> Extracted:
            self.times = getattr(self, "times", 0) + 1
            if model is not None:
                raise ValueError("no")
            return Extracted(Predicate("guess", Operator.EQ, (self.times,)))

    broken: FilterExtractor = Guess()
    assert {each.check for each in run_checks(broken)} == {check.__name__ for check in CHECKS}


def test_a_name_that_none_has() -> None:
    with pytest.raises(InvalidRequest) as raised:
        make_filter_extractor("regex")
    assert raised.value.violations[0].description == "'regex' is none of glossary, llm"


def by_glossary(
    question: str,
    attributes: dict[str, ValuesOf] | None = None,
    keeps: Callable[[Filter], bool] = lambda _: True,
    passes: Callable[[str], bool] = lambda _: True,
) -> Extracted:
    held = {"about": ABOUT} if attributes is None else attributes
    query = QueryText(question, detect_language(question))
    source = FilterSource(query, held, GLOSSARY, date(2024, 6, 30), keeps)
    return make_filter_extractor("glossary").extract(source, None, passes, go_on)


def one_of(name: str, *values: Value) -> Predicate:
    return Predicate(name, Operator.IN, values)


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        ("Why did Acme Corp lose money?", one_of("about", "ACM", "Acme Corp")),
        ("ACM and its staff", one_of("about", "ACM", "Acme Corp")),
        ("アクメはなぜ赤字か", one_of("about", "ACM", "Acme Corp")),
        ("顶点公司为什么亏损", one_of("about", "ACM", "Acme Corp")),
        ("Is Globex larger than Acme Corp?", one_of("about", "ACM", "Acme Corp", "globex")),
        # No document is about it: the hint says so, and leaves nothing.
        ("What does Initech do?", one_of("about", "INITECH", "Initech")),
        ("tell us about the weather", None),
        ("Why did revenue fall?", None),
        ("Acmeville and its people", None),
    ],
)
def test_the_entities_that_a_question_names(question: str, hint: Filter | None) -> None:
    assert by_glossary(question).hint == hint


@pytest.mark.parametrize(
    "held",
    [
        ValuesOf(Family.TEXT, ("Acme Corp", "growth", "risk")),  # not names of entities as a rule
        ValuesOf(Family.TEXT, ("Acme Corp",), 0.4),  # most documents do not have it
        ValuesOf(Family.TEXT, ()),  # too many values
        ValuesOf(Family.NUMBER, (3, 4)),
    ],
)
def test_an_attribute_that_does_not_say_what_a_document_is_about(held: ValuesOf) -> None:
    assert by_glossary("Why did Acme Corp lose money?", {"about": held}).hint is None


def test_an_attribute_that_is_named_for_entities_may_hold_others_too() -> None:
    held = ValuesOf(Family.TEXT, ("Acme Corp", "Hooli", "Umbrella", "Tyrell"))
    assert by_glossary("Why did Acme Corp lose money?", {"company": held}).hint is None
    assert by_glossary("Why did Acme Corp lose money?", {"entity": held}).hint == one_of("entity", "Acme Corp")


def test_lists_and_several_attributes() -> None:
    attributes = {
        "about": ValuesOf(Family.TEXTS, (("Acme Corp", "Globex"), ("Globex",))),
        "ticker": ValuesOf(Family.TEXT, ("ACM",), 0.5),
    }
    hint = by_glossary("Acme Corp's costs", attributes).hint
    assert hint == AnyOf((one_of("about", "Acme Corp"), one_of("ticker", "ACM")))


YEARS = {"about": ABOUT, "year": ValuesOf(Family.NUMBER, (2022, 2023, 7))}


def test_a_period_narrows_where_something_is_left() -> None:
    acme, of_2023 = one_of("about", "ACM", "Acme Corp"), one_of("year", 2023)
    question = "Why did Acme Corp lose money in FY2023?"
    narrowed = by_glossary(question, YEARS)
    assert (narrowed.hint, narrowed.detail) == (AllOf((acme, of_2023)), "entities=1,period")
    nothing_left = by_glossary(question, YEARS, keeps=lambda _: False)
    assert (nothing_left.hint, nothing_left.detail) == (acme, "entities=1")
    assert by_glossary("Why did everybody lose money in FY2023?", YEARS).hint is None
    assert by_glossary("Why did Acme Corp lose 7 trucks?", YEARS).hint == acme


def test_periods_of_every_form() -> None:
    third = Period("2023Q3", PeriodKind.CALENDAR, date(2023, 7, 1), date(2023, 9, 30))
    held = {
        "about": ABOUT,
        "covers": ValuesOf(Family.PERIOD, (third,)),
        "fiscal_year": ValuesOf(Family.TEXT, ("FY2022", "FY2023", "n/a")),
        "pages": ValuesOf(Family.NUMBER, (2023,)),
    }
    hint = by_glossary("What did Acme Corp say in Q3 2023?", held).hint
    wanted = AnyOf((one_of("covers", third), one_of("fiscal_year", "FY2023")))
    assert hint == AllOf((one_of("about", "ACM", "Acme Corp"), wanted))


def test_what_names_something_outside_is_left_out() -> None:
    assert by_glossary("Acme Corp and Globex", passes=lambda text: text != "globex").hint == one_of(
        "about", "ACM", "Acme Corp"
    )


@given(hostile_text(), st.lists(hostile_text(), max_size=4))
def test_any_question_over_any_values(question: str, values: list[str]) -> None:
    held = {"about": ValuesOf(Family.TEXT, tuple(sorted({*values, "Acme Corp"})))}
    hint = by_glossary(question, held).hint
    assert hint is None or check_filter(hint, {"about": Family.TEXT}) == []


FILED = {
    "about": ABOUT,
    "draft": ValuesOf(Family.TRUTH, (False, True)),
    "filed": ValuesOf(Family.DAY, (date(2024, 3, 1),)),
    "ingested": ValuesOf(Family.INSTANT, ()),
    "notes": ValuesOf(Family.TEXT, ()),
    "pages": ValuesOf(Family.NUMBER, (3, 12)),
}


def by_model(reply: object, attributes: dict[str, ValuesOf] | None = None, question: str = "?") -> Extracted:
    model = ScriptedProvider([json.dumps(reply)])
    source = FilterSource(QueryText(question, "en"), FILED if attributes is None else attributes, GLOSSARY)
    return make_filter_extractor("llm").extract(source, model, lambda _: True, go_on)


@pytest.mark.parametrize(
    ("said", "hint", "detail"),
    [
        ([], None, "attributes=0"),
        (
            [{"attribute": "about", "any_of": ["acme  ｃorp", "GLOBEX"]}],
            one_of("about", "globex"),
            "attributes=1,left_out=1",
        ),
        ([{"attribute": "pages", "any_of": [3, "12"]}], one_of("pages", 3, 12), "attributes=1"),
        (
            [{"attribute": "filed", "from": "2024-01-01"}],
            Predicate("filed", Operator.GTE, (date(2024, 1, 1),)),
            "attributes=1",
        ),
        ([{"attribute": "pages", "to": 5}], Predicate("pages", Operator.LTE, (5,)), "attributes=1"),
        ([{"attribute": "pages", "from": 2, "to": 5}], Predicate("pages", Operator.BETWEEN, (2, 5)), "attributes=1"),
        ([{"attribute": "pages", "from": 5, "to": 2}], None, "attributes=0,left_out=1"),
        ([{"attribute": "draft", "any_of": [True]}], one_of("draft", True), "attributes=1"),
        ([{"attribute": "secret", "any_of": ["x"]}], None, "attributes=0,left_out=1"),
        (
            [{"attribute": "about", "any_of": ["ACM"]}, {"attribute": "about", "any_of": ["misc"]}],
            AnyOf((one_of("about", "ACM"), one_of("about", "misc"))),
            "attributes=1",
        ),
        (
            [{"attribute": "about", "any_of": ["ACM"]}, {"attribute": "draft", "any_of": [False]}],
            AllOf((one_of("about", "ACM"), one_of("draft", False))),
            "attributes=2",
        ),
    ],
)
def test_what_a_model_says(said: object, hint: Filter | None, detail: str) -> None:
    found = by_model({"filters": said})
    assert (found.hint, found.detail, found.purpose, found.degradation) == (hint, detail, "filters/1", None)
    assert found.usage.calls == 1


def test_what_a_model_is_told() -> None:
    """The question, and attributes that can be tested with the texts that fit it best; the language of the question."""
    many = ValuesOf(Family.TEXT, tuple(f"name {n:03}" for n in range(200)))
    held = {**FILED, "about": many, "long": ValuesOf(Family.TEXT, ("x" * 200,))}
    model = ScriptedProvider(['{"filters": []}'])
    question = "What of name 177？"
    make_filter_extractor("llm").extract(FilterSource(QueryText(question, "ja"), held), model, lambda _: True, go_on)
    (asked,) = model.asked
    told = [
        {"attribute": "about", "type": "text", "values": [f"name {n:03}" for n in [*range(39), 177]]},
        {"attribute": "draft", "type": "truth"},
        {"attribute": "filed", "type": "day"},
        {"attribute": "pages", "type": "number"},
    ]
    filled = load_prompt("filters", "ja").fill(
        question=json.dumps(question, ensure_ascii=False), attributes=json.dumps(told, ensure_ascii=False)
    )
    assert (asked.messages, asked.purpose) == (filled, "filters/1")


def test_a_reply_that_is_none_is_asked_for_again() -> None:
    model = ScriptedProvider(["Sure!", '```json\n{"filters": [{"attribute": "about", "any_of": ["ACM"]}]}\n```'])
    source = FilterSource(QueryText("?", "en"), FILED)
    found = make_filter_extractor("llm").extract(source, model, lambda _: True, go_on)
    assert (found.hint, found.usage.calls) == (one_of("about", "ACM"), 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "from", "to"]), inner, max_size=3)
    ),
    max_leaves=6,
)
SAID = st.fixed_dictionaries(
    {"attribute": st.sampled_from([*FILED, "nothing"]) | JSON}, optional={"any_of": JSON, "from": JSON, "to": JSON}
)


@given(st.fixed_dictionaries({"filters": st.lists(SAID, max_size=4) | JSON}))
def test_whatever_a_model_says_can_be_tested(reply: object) -> None:
    answers = [json.dumps(reply)] * 2
    source = FilterSource(QueryText("?", "en"), FILED)
    found = make_filter_extractor("llm").extract(source, ScriptedProvider(answers), lambda _: True, go_on)
    if found.hint is not None:
        assert check_filter(found.hint, {name: held.family for name, held in FILED.items()}) == []
        matches(found.hint, {"about": "ACM", "pages": 3, "filed": date(2024, 1, 1), "draft": True})
