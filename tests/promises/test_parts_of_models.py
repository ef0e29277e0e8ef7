"""Promises 1 and 3 and the gate, where a question is cut, searched for otherwise, or asked back about.

What a model writes of a question is asked and never said: it brings no figure and no date into an answer, and takes no
part of the question away. What is made of a question names nothing outside, whoever makes it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire.v1.value_pb2 import Attribute, Value
from groundwire_server.guard import adds_to
from groundwire_server.query.filters import by_glossary
from tests.llm.model_server import Act, ModelServer, model_server
from tests.rpc.house import (
    Documents,
    House,
    document_part,
    fact,
    finish,
    furnish,
    glossary,
    house,
    snippets,
    start,
    term,
)
from tests.rpc.serving import failure_of
from tests.rpc.test_model_answers import serving

TEXTS = {
    "mill/en.md": "Acme closed the mill after a fire. Acme has 500 workers.",
    "mill/zh.md": "艾克米在火灾之后关闭了工厂。",
    "mill/ja.md": "アクメは火災のあと工場を閉鎖した。",
}
ASKED = {
    "en": ("Who closed the 3 mills, and why was there a fire?", "Why was there a fire?"),
    "zh": ("谁关闭了3个工厂？为什么有火灾？", "为什么有火灾？"),
    "ja": ("誰が3つの工場を閉鎖したか。なぜ火災があったのか。", "なぜ火災があったのか。"),
}
BROUGHT = {
    "en": (
        ("Who closed the mill {}?", "Acme closed the mill {} after a fire [1]."),
        (
            "at 3 pm",
            "at 3:03",
            "in the nineteenth century",
            "in the 3rd century",
            "on a Monday in May",
            "on 3 May",
            "for nine hundred million dollars",
            "of twenty halls",
            "in the 1930s",
            "in 1969",
            "in the third quarter",
        ),
    ),
    "zh": (
        ("谁{}关闭了工厂？", "艾克米{}火灾之后关闭了工厂[1]。"),
        ("在十九世纪", "在下午3点", "在五月三日", "以九亿元", "在1969年", "在3月3日"),
    ),
    "ja": (
        ("誰が{}工場を閉鎖したか。", "アクメは{}火災のあと工場を閉鎖した[1]。"),
        ("十九世紀に", "午後3時に", "五月三日に", "九億円で", "1969年に", "3月3日に"),
    ),
}
CASES = [(language, words) for language, (_, brought) in BROUGHT.items() for words in brought]


class Liar:
    """A model that cuts a question as it is told, and then writes what it is told."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.prose = ""

    def __call__(self, body: dict[str, Any]) -> Act:
        writes = '"number"' in body["messages"][-1]["content"]
        return Act(self.prose if writes else "\n".join(self.parts))


@pytest.fixture(scope="module")
def liar() -> Liar:
    return Liar()


@pytest.fixture(scope="module")
def model(liar: Liar) -> Iterator[ModelServer]:
    with model_server(script=liar) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[House]:
    with serving(tmp_path_factory.mktemp("parts"), model) as running:
        running.store(TEXTS)
        yield running


def ask(here: House, question: str, **tuning: Any) -> list[router_pb2.AskResponse]:
    request = router_pb2.AskRequest(question=question, tuning=narrative_pb2.RetrievalTuning(**tuning))
    return list(here.router.Ask(request))


def said(frames: list[router_pb2.AskResponse], origin: int = router_pb2.ANSWER_ORIGIN_MODEL) -> str:
    return "".join(frame.answer.text for frame in frames if frame.HasField("answer") and frame.answer.origin == origin)


def lost(frames: list[router_pb2.AskResponse]) -> list[str]:
    return [each.component for each in frames[-1].summary.degradations]


@pytest.mark.parametrize(("language", "words"), CASES)
def test_no_date_and_no_figure_comes_in_by_a_question_that_a_model_wrote(
    here: House, liar: Liar, language: str, words: str
) -> None:
    question, other = ASKED[language]
    part, prose = (each.format(words) for each in BROUGHT[language][0])
    liar.parts, liar.prose = [part, other], prose
    frames = ask(here, question, decomposition="llm")
    assert said(frames) == ""
    assert words not in "".join(frame.sub_call.sub_question for frame in frames if frame.HasField("sub_call"))
    assert "decomposition:llm" in lost(frames)


@pytest.mark.parametrize("language", ASKED)
def test_what_stands_in_the_question_may_be_asked_and_said(here: House, liar: Liar, language: str) -> None:
    part, prose = (each.format("") for each in BROUGHT[language][0])
    liar.parts, liar.prose = [part, ASKED[language][1]], prose
    frames = ask(here, ASKED[language][0], decomposition="llm")
    assert "decomposition:llm" not in lost(frames)
    assert said(frames)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What was the revenue of Acme in 2020 and who closed the mill?",
            ["Who closed the mill?", "Why was there a fire at the mill?"],
        ),
        (
            "What was the population of Japan in 2020, and what was the population of Japan in 2021?",
            ["What was the population of Japan in 2020?", "Who counts the population of Japan?"],
        ),
        (  # a name within another word is not said
            "Who is mayor of Acmeville, and what was the revenue in 2020?",
            ["What was the revenue of Acme in 2020?", "Who is mayor of Acmeville?"],
        ),
        (  # nor one within a longer name
            "日本銀行の総裁は誰か。2020年の人口はどれだけか。",
            ["日本の2020年の人口はどれだけか。", "日本銀行の総裁は誰か。"],
        ),
    ],
)
def test_a_model_neither_takes_a_name_away_nor_puts_one_in(
    here: House, liar: Liar, question: str, parts: list[str]
) -> None:
    if "銀行" in question:
        bank = term(glossary_pb2.TERM_KIND_ENTITY, "BOJ", "日本銀行")
        here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=[*glossary(), bank]))
    liar.parts, liar.prose = parts, ""
    frames = ask(here, question, decomposition="llm")
    assert "decomposition:llm" in lost(frames)
    assert not [frame for frame in frames if frame.HasField("sub_call") and frame.sub_call.sub_question]
    request = router_pb2.AskRequest(
        question=question,
        tuning=narrative_pb2.RetrievalTuning(decomposition="llm"),
        options=stream_pb2.CallOptions(forbid=[stream_pb2.DEGRADATION_KIND_TRANSFORM_SKIPPED]),
    )
    assert failure_of(lambda: here.router.Ask(request)).reason == "DEGRADATION_FORBIDDEN"


def test_prose_has_no_figures_where_the_whole_question_asks_for_them(here: House, liar: Liar) -> None:
    question = "Why did the revenue of Acme fall in 2020? How many workers has Acme?"
    liar.parts, liar.prose = ["Why did the revenue of Acme fall in 2020?", "How many workers has Acme?"], ""
    routed = here.router.Route(router_pb2.RouteRequest(question=question)).route
    liar.prose = "Acme has 500 workers [1]."
    for tuning in ({"decomposition": "llm"}, {"decomposition": "rules"}, {}):
        frames = ask(here, question, **tuning)
        assert routed != router_pb2.ROUTE_NARRATIVE
        assert "500" not in said(frames)


def test_what_a_model_was_asked_for_nothing_is_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Routes that were weighed for questions that are not asked then."""

    def script(body: dict[str, Any]) -> Act:
        if "cut a question" in body["messages"][0]["content"]:
            return Act("Tell me about foxes of Globex in 1969\nTell me about dens and dogs")
        return Act('{"route": "narrative"}' if '"route"' in body["messages"][0]["content"] else "NONE")

    with model_server(script=script) as model:
        folder = tmp_path_factory.mktemp("usage")
        with serving(folder, model, retrieval__route_classifier="llm") as here:
            before = len(model.bodies)
            frames = ask(here, "Tell me about foxes and dens", decomposition="llm")
            asked = len(model.bodies) - before
    assert asked > 2
    assert sum(used.calls for used in frames[-1].summary.model_usage) == asked


# ---- the gate


OUTSIDE = ("Globex", "Mill Bank", "顶点银行", "東京銀行")


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    entities = [
        term(glossary_pb2.TERM_KIND_ENTITY, "GLOBEX", "Globex"),
        term(glossary_pb2.TERM_KIND_ENTITY, "INIT", "Initech", "Initech Globex JV"),
    ]
    figures = [fact("REVENUE", entity, "2020", "5", unit="USD") for entity in ("GLOBEX", "INIT", "ACME")]
    with house(tmp_path_factory.mktemp("gated"), gate__outside_names=list(OUTSIDE)) as running:
        furnish(running)
        update = admin_pb2.UpdateGlossaryRequest(library_id="default", put=[*glossary(), *entities])
        running.admin.UpdateGlossary(update)
        running.store_facts(ingest_pb2.FactRecords(facts=figures))
        named = [("a.md", "The mill.", "Initech Globex JV"), ("b.md", "A river.", "Acme")]
        running.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="companies")))
        parts = [
            Documents(part=document_part(seq, doc_id, text.encode(), attributes=[_about(company)]))
            for seq, (doc_id, text, company) in enumerate(named, 1)
        ]
        opened = start(Documents, "companies")
        list(running.ingest.IngestDocuments(iter([opened, *parts, finish(Documents, len(parts))])))
        again = admin_pb2.UpdateGlossaryRequest(library_id="companies", put=[*glossary(), *entities])
        running.admin.UpdateGlossary(again)
        yield running


def _about(company: str) -> Attribute:
    return Attribute(name="company", value=Value(string_value=company))


@pytest.mark.parametrize("question", ["What was the revenue in 2020?", "What is the revenue?", "hello", "And in 2020?"])
def test_no_outside_name_is_offered(gated: House, question: str) -> None:
    history = [router_pb2.Turn(role=router_pb2.TURN_ROLE_USER, text="What was the revenue?")]
    for given in ([], history):
        frames = list(gated.router.Ask(router_pb2.AskRequest(question=question, history=given)))
        decision = gated.router.Route(router_pb2.RouteRequest(question=question, history=given))
        told = [frame.clarification for frame in frames if frame.HasField("clarification")]
        assert all("obex" not in str(each).casefold() for each in (*told, decision))
    asked = [frame for frame in frames if frame.HasField("clarification")]
    assert question == "hello" or any("ACME" in str(each) for each in asked)


def test_no_outside_name_is_suggested(gated: House) -> None:
    for entity in ("Globe", "Initech Globe", "Globx", "Initec"):
        query = metric_pb2.MetricQuery(metric="REVENUE", entity=entity, period="2020")
        frames = gated.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query]))
        assert "globex" not in str([frame for frame in frames if frame.WhichOneof("frame") == "outcomes"]).casefold()
    options = stream_pb2.CallOptions(library_ids=["companies"])
    question = "Why did Initech close the mill?"
    suggested = gated.router.Route(router_pb2.RouteRequest(question=question, options=options)).filter_suggested
    assert "Globex" not in str(suggested)


@pytest.mark.parametrize("question", ["顶点和银行为什么争吵?", "東京と銀行の関係について、誰がxxxyyy?"])
def test_what_is_left_of_a_question_is_searched_only_where_it_names_nothing_outside(
    gated: House, question: str
) -> None:
    request = narrative_pb2.NarrativeRetrieveRequest(
        query=question,
        tuning=narrative_pb2.RetrievalTuning(corrective=True),
        options=stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_PLAN),
    )
    frames = list(gated.narrative.NarrativeRetrieve(request))
    assert frames[-1].summary.end_reason == stream_pb2.END_REASON_REFUSED
    assert [each.made_by for each in frames[-1].summary.explanation.variants] == ["caller"]
    for each in frames[-1].summary.explanation.variants:
        again = list(gated.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=each.text)))
        assert again[-1].summary.refusal.reason != stream_pb2.REFUSAL_REASON_OUT_OF_SCOPE


# ---- what others ask


def test_equal_numbers_of_other_libraries_change_no_hint(tmp_path_factory: pytest.TempPathFactory) -> None:
    """2023 is a year and 2023.00 none, whichever of them was read first."""
    told = []
    values = {"whole": Value(int_value=2023), "exact": Value(decimal_value="2023"), "real": Value(double_value=2023.0)}
    names = list(values)
    with house(tmp_path_factory.mktemp("equal")) as here:
        for name, value in values.items():
            here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id=name)))
            here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id=name, put=glossary()))
            about = [_about("Acme"), Attribute(name="year", value=value)]
            part = Documents(part=document_part(1, "a.md", b"The mill of Acme.", attributes=about))
            list(here.ingest.IngestDocuments(iter([start(Documents, name), part, finish(Documents, 1)])))
        for seed in range(3):
            by_glossary._period.cache_clear()
            random.Random(seed).shuffle(names)
            told.append({name: _hint(here, name) for name in names})
    assert told[0] == told[1] == told[2]
    assert "year" in told[0]["whole"]


def _hint(here: House, library_id: str) -> str:
    request = narrative_pb2.NarrativeRetrieveRequest(
        query="Why did Acme close the mill in 2023?",
        tuning=narrative_pb2.RetrievalTuning(filter_extractor="glossary"),
        options=stream_pb2.CallOptions(library_ids=[library_id]),
    )
    frames = list(here.narrative.NarrativeRetrieve(request))
    assert snippets(frames)
    return str(frames[0].header.hint_applied)


def test_what_is_said_in_other_words_adds_nothing() -> None:
    for new, old, language in (
        ("How did the 3 mills fare in the spring of 2020?", "3 mills, 2020: how did they fare?", "en"),
        ("Who sold three mills on 3 May 2020?", "On 3 May 2020, who sold the 3 mills?", "en"),
        ("2020年の人口は？", "2020年と2021年の人口は？", "ja"),
        ("2020年的人口是多少？", "2020年和2021年的人口是多少？", "zh"),
    ):
        assert not adds_to(new, old, language, ())
