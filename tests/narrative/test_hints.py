"""Hints that are read out of a question: what runs, what is said, what a model sees; hidden rows change nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition
from groundwire_server.evidence import (
    AnyOf,
    Attribute,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    Filter,
    Header,
    Label,
    Operator,
    Predicate,
    Summary,
    Value,
)
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.llm import ModelFailed, ScriptedProvider, load_prompt
from groundwire_server.narrative import RetrievalParts, RetrievalTuning, RetrieveRequest, suggest_filter
from groundwire_server.security import SecurityGate, local_principal
from tests.narrative.retrieved import Retrieved, docs, planned_call, retrieved
from tests.support.libraries import START, Doc, make_library

GLOSSARY = Glossary(
    (
        EntityTerm("ACME", label="Acme Corp", synonyms=(Synonym("アクメ", "ja"), Synonym("顶点公司", "zh"))),
        EntityTerm("GLOBEX", label="Globex"),
        EntityTerm("INITECH", label="Initech"),
        EntityTerm("HOOLI", label="Hooli"),
    )
)


def about(company: str, year: int, **more: Value) -> tuple[Attribute, ...]:
    return (
        Attribute("company", company),
        *(Attribute(name, value) for name, value in more.items()),
        Attribute("year", year),
    )


DOCS = [
    Doc("acme23.md", "The plant was closed after a fire.", attributes=about("Acme Corp", 2023)),
    Doc("acme22.md", "The plant was opened, after a delay.", attributes=about("Acme Corp", 2022)),
    Doc("globex23.md", "A fire closed the plant and the mill.", attributes=about("Globex", 2023)),
    Doc(
        "hooli.md",
        "Kanarienvogel: the plant of Hooli burned.",
        label=Label.CONFIDENTIAL,
        attributes=about("Hooli", 2023),
    ),
    Doc(
        "vault.md",
        "Kanarienvogel: a secret plant.",
        label=Label.RESTRICTED,
        attributes=about("Initech", 2023, codename="Kanarienvogel"),
    ),
]
QUESTION = "Why was the plant of Acme Corp closed?"
ACME = Predicate("company", Operator.IN, ("Acme Corp",))
SKIPPED = DegradationKind.FILTER_EXTRACTION_SKIPPED


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("hints"), DOCS, glossary=GLOSSARY).snapshot()


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    extractor: str = "glossary",
    parts: RetrievalParts | None = None,
    call: Call | None = None,
    query: str = QUESTION,
) -> Retrieved:
    request = RetrieveRequest(query, tuning=RetrievalTuning(filter_extractor=extractor))
    return retrieved(request, call or planned_call(), snapshots, parts)


def plan(header: Header) -> list[tuple[str, str, str]]:
    return [(step.stage, step.backend, step.detail) for step in header.plan]


def said(*filters: dict[str, Any]) -> str:
    return json.dumps({"filters": list(filters)})


def dropped(summary: Summary) -> list[Degradation]:
    return [each for each in summary.degradations if each.kind is DegradationKind.FILTER_DROPPED]


@pytest.mark.parametrize("query", [QUESTION, "アクメの plant はなぜ closed か", "顶点公司的 plant 为什么 closed"])
def test_the_glossary_narrows_a_search(snapshot: Snapshot, query: str) -> None:
    header, found, summary = run(snapshot, query=query)
    assert header.hint_applied == ACME
    assert plan(header)[:2] == [("extract", "glossary", "entities=1"), ("restrict", "columns", "readable,hint")]
    assert sorted(docs(found)) == ["acme22.md", "acme23.md"]
    assert [each.stage for each in summary.timings] == [step.stage for step in header.plan]
    assert [each.kind for each in summary.degradations] == [DegradationKind.VECTOR_OFF]


def test_a_period_narrows_further(snapshot: Snapshot) -> None:
    header, found, _ = run(snapshot, query="Why was the plant of Acme Corp closed in FY2023?")
    assert plan(header)[0] == ("extract", "glossary", "entities=1,period")
    assert docs(found) == ["acme23.md"]


def test_two_entities_widen_each_other(snapshot: Snapshot) -> None:
    assert len(run(snapshot, query="Did Acme Corp or Globex close the plant?")[1]) == 3


def test_no_name_no_hint(snapshot: Snapshot) -> None:
    header, found, _ = run(snapshot, query="Why was the plant closed?")
    assert (header.hint_applied, len(found)) == (None, 3)
    assert plan(header)[0] == ("extract", "glossary", "entities=0")
    off = run(snapshot, "none", query="Why was the plant closed?")
    assert off[1] == found
    assert list(off[0].plan) == list(header.plan)[1:]


def test_one_that_leaves_nothing_is_dropped_once_with_a_mark(snapshot: Snapshot) -> None:
    query = "Why was the plant of Initech closed?"
    header, found, summary = run(snapshot, query=query)
    hint = Predicate("company", Operator.IN, ("INITECH", "Initech"))
    assert header.hint_applied is None
    assert len(found) == 3
    assert dropped(summary) == [Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint)]
    never = run(snapshot, call=planned_call(on_empty=EmptyFilterPolicy.NEVER_WIDEN), query=query)
    assert (never[0].hint_applied, never[1], dropped(never[2])) == (hint, [], [])
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, call=planned_call(forbid=frozenset({DegradationKind.FILTER_DROPPED})), query=query)
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_the_callers_own_hint_goes_before(snapshot: Snapshot) -> None:
    own = Predicate("company", Operator.EQ, ("Globex",))
    model = ScriptedProvider([said()])
    for extractor in ("glossary", "llm"):
        header, found, _ = run(snapshot, extractor, RetrievalParts(model=model), planned_call(hint=own))
        assert (header.hint_applied, docs(found)) == (own, ["globex23.md"])
        assert plan(header)[0][0] == "restrict"
    assert model.asked == []


def test_the_hard_filter_bounds_what_is_looked_at(snapshot: Snapshot) -> None:
    hard = Predicate("year", Operator.EQ, (2022,))
    header, found, _ = run(
        snapshot, call=planned_call(filter=hard), query="Why was the plant of Acme Corp closed in 2023?"
    )
    assert plan(header)[0] == ("extract", "glossary", "entities=1")
    assert docs(found) == ["acme22.md"]


def test_a_model_narrows_a_search(snapshot: Snapshot) -> None:
    model = ScriptedProvider(
        [said({"attribute": "company", "any_of": ["globex"]}, {"attribute": "year", "from": 2023})]
    )
    header, found, summary = run(snapshot, "llm", RetrievalParts(model=model))
    assert plan(header)[0] == ("extract", "llm", "scripted:script,filters/1,attributes=2")
    assert docs(found) == ["globex23.md"]
    (used,) = summary.model_usage
    assert (used.model, used.calls) == ("scripted:script", 1)
    (asked,) = model.asked
    told = [
        {"attribute": "company", "type": "text", "values": ["Acme Corp", "Globex"]},
        {"attribute": "year", "type": "number"},
    ]
    filled = load_prompt("filters", "en").fill(question=json.dumps(QUESTION), attributes=json.dumps(told))
    assert asked.messages == filled


@pytest.mark.parametrize("clearance", [Label.INTERNAL, Label.CONFIDENTIAL])
@pytest.mark.parametrize("allowed", [Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED])
def test_a_model_sees_nothing_above_its_clearance_or_the_callers(
    snapshot: Snapshot, clearance: Label, allowed: Label
) -> None:
    model = ScriptedProvider([said()] * 2)
    parts = RetrievalParts(model=model, model_clearance=allowed)
    run(snapshot, "llm", parts, planned_call(clearance))
    sent = "".join(message.text for asked in model.asked for message in asked.messages)
    assert ("Hooli" in sent) == (min(clearance, allowed) >= Label.CONFIDENTIAL)
    assert ("Globex" in sent) == (allowed >= Label.INTERNAL)
    assert "Kanarienvogel" not in sent
    assert "Initech" not in sent
    assert "codename" not in sent


FAILURES: list[tuple[str, Any, ErrorReason, str]] = [
    ("no_model", None, ErrorReason.NO_MODEL, "The server has no language model."),
    ("failed", ModelFailed("host: 503"), ErrorReason.MODEL_FAILED, "host: 503"),
    ("talk", "Sure!", ErrorReason.MODEL_FAILED, "The model did not answer with what was asked for."),
    ("broken", ValueError("secret"), ErrorReason.MODEL_FAILED, "The extraction of a filter failed."),
]


@pytest.mark.parametrize(("case", "answer", "reason", "message"), FAILURES, ids=[each[0] for each in FAILURES])
def test_each_failure_is_said_and_narrows_nothing(
    snapshot: Snapshot, case: str, answer: Any, reason: ErrorReason, message: str
) -> None:
    parts = RetrievalParts(model=None if answer is None else ScriptedProvider(lambda _: answer))
    header, found, summary = run(snapshot, "llm", parts)
    lost = Degradation(SKIPPED, "filter_extractor:llm", "default", Cause(reason, message))
    assert lost in summary.degradations
    assert header.hint_applied is None
    assert found == run(snapshot, "none")[1]
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, "llm", parts, planned_call(forbid=frozenset({SKIPPED})))
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_what_names_something_outside_is_in_no_hint_and_no_prompt(snapshot: Snapshot) -> None:
    gate = SecurityGate(["Globex"])
    model = ScriptedProvider([said({"attribute": "company", "any_of": ["Globex"]})])
    header, _, _ = run(snapshot, "llm", RetrievalParts(model=model, gate=gate), query="Which plant was closed?")
    assert header.hint_applied is None
    assert "Globex" not in "".join(message.text for message in model.asked[0].messages)


def make_plain(snapshot: Snapshot) -> Snapshot:
    """The same library without a glossary."""
    return replace(snapshot, glossary=Glossary(()))


def test_libraries_have_their_own_and_a_call_the_last_word(tmp_path: Path) -> None:
    wishes = {"a": "glossary", "b": "none", "c": "llm"}
    snapshots = [
        make_library(
            tmp_path, DOCS, library_id=name, glossary=GLOSSARY, config=LibraryConfig(filter_extractor=wish)
        ).snapshot()
        for name, wish in wishes.items()
    ]
    globex = Predicate("company", Operator.IN, ("Globex",))
    model = ScriptedProvider(lambda _: said({"attribute": "company", "any_of": ["Globex"]}))
    header, found, _ = run(snapshots, "", RetrievalParts(model=model))
    assert [(step.backend, step.library_id) for step in header.plan if step.stage == "extract"] == [
        ("glossary", "a"),
        ("llm", "c"),
    ]
    assert header.hint_applied == AnyOf((ACME, globex))
    assert [step.detail for step in header.plan if step.stage == "restrict"] == [
        "readable,hint",
        "readable",
        "readable,hint",
    ]
    by_library = {name: [one for one in found if one.lineage.library_id == name] for name in wishes}
    assert sorted(docs(by_library["a"])) == ["acme22.md", "acme23.md"]
    assert len(by_library["b"]) == 3
    assert docs(by_library["c"]) == ["globex23.md"]
    assert {step.library_id for step in run(snapshots, "glossary")[0].plan if step.stage == "extract"} == set(wishes)
    assert len(model.asked) == 1


def test_the_end_of_a_call_ends_it(snapshot: Snapshot) -> None:
    token = CancelToken()

    def script(_: object) -> str:
        token.cancel()
        return "Sure!"

    parts = RetrievalParts(model=ScriptedProvider(script))
    call = Call(local_principal(), CallOptions(), cancel=token, now=lambda: START)
    with pytest.raises(CallCancelled):
        run(snapshot, "llm", parts, call)


def twin(tmp_path: Path, *hidden: Doc) -> Snapshot:
    return make_library(tmp_path, [*DOCS[:3], *hidden], glossary=GLOSSARY).snapshot()


@pytest.mark.parametrize("extractor", ["glossary", "llm"])
def test_hidden_rows_change_nothing(tmp_path: Path, extractor: str) -> None:
    """Neither their attributes nor their values make or unmake a hint, nor stand in a prompt."""
    hidden = [
        Doc("h1.md", "x", label=Label.CONFIDENTIAL, attributes=about("Initech", 2023, codename="Kanarienvogel")),
        Doc("h2.md", "x", label=Label.RESTRICTED, attributes=about("not a name", 1999)),
        Doc("h3.md", "x", label=Label.CONFIDENTIAL, attributes=(Attribute("codename", "Acme Corp"),)),
    ]
    worlds = [twin(tmp_path / "without"), twin(tmp_path / "with", *hidden)]
    for query in (QUESTION, "Why was the plant of Initech closed in 1999?", "Acme Corp in 2022", "Kanarienvogel?"):
        told: list[Any] = []
        for world in worlds:
            model = ScriptedProvider([said({"attribute": "company", "any_of": ["Initech", "Globex"]})])
            header, found, summary = run(world, extractor, RetrievalParts(model=model), query=query)
            prompts = [message.text for asked in model.asked for message in asked.messages]
            told.append((plan(header), header.hint_applied, docs(found), summary.degradations, prompts))
            told[-1] += (suggest_filter(query, planned_call(), [world]),)
        assert told[0] == told[1]


def test_what_is_suggested(snapshot: Snapshot) -> None:
    def suggested(query: str, *snapshots: Snapshot) -> Filter | None:
        return suggest_filter(query, planned_call(), snapshots or (snapshot,))

    assert suggested(QUESTION) == ACME
    assert suggested("Why was the plant closed?") is None
    assert suggested(QUESTION, make_plain(snapshot), snapshot) == ACME
