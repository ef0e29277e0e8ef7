"""Promise 3 and what leaves for a language model: rows that a caller may not read change no byte of any prompt.

Two servers with one secret and the same open content, and a model that answers each prompt by what stands in it alone.
What each call gives, what its cursors lead to, how long they are, and every request that reaches the model are alike,
whether or not hidden rows stand beside. Where the caller reads more than the model may, no word of that leaves.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import narrative_pb2, router_pb2, stream_pb2
from groundwire_server.evidence import Call, Label
from groundwire_server.library import Snapshot
from tests.llm.model_server import Act, ModelServer, model_server
from tests.promises.questions import ASKED, Question, answer
from tests.promises.worlds import (
    CANARIES,
    CONFIDENTIAL,
    INTERNAL,
    PUBLIC,
    RESTRICTED,
    DocumentStep,
    begin,
    draw_hidden,
    draw_open,
    take_all,
)
from tests.rpc.house import House, house, snippets

READERS = {
    "internal": ((PUBLIC, INTERNAL), (CONFIDENTIAL, RESTRICTED)),
    "public": ((PUBLIC,), (INTERNAL, CONFIDENTIAL, RESTRICTED)),
}
OUT_OF_SIGHT = (*CANARIES, "h/x.md", "h/co", "Nachtigall")
Tuning = narrative_pb2.RetrievalTuning
_LOOP: dict[str, Any] = {"corrective": True, "corrective_judge": "llm"}
TUNINGS = (
    Tuning(filter_extractor="llm"),
    Tuning(query_transform="hyde", **_LOOP),
    Tuning(query_transform="rag_fusion", filter_extractor="llm", graph=True, **_LOOP),
    Tuning(filter_extractor="glossary", corrective=True),
    Tuning(preset="quality", corrective_judge="llm"),
)
QUERIES = ("Why alpha of Acme in 2023?", "売上 人口 alpha", "What does the mill or Acme say of rivers?", "zzz yyy")
OPTIONS: tuple[dict[str, Any], ...] = (
    {"explain": stream_pb2.EXPLAIN_LEVEL_TRACE},
    {"token_budget": 20, "explain": stream_pb2.EXPLAIN_LEVEL_TRACE},
    {"strictness": stream_pb2.STRICTNESS_POLICY_FAIL_ON_DEGRADED},
    {"on_empty": stream_pb2.EMPTY_FILTER_POLICY_NEVER_WIDEN},
)


def says(body: dict[str, Any]) -> Act:
    """What the model answers: by the bytes of its prompt alone."""
    told, shown = body["messages"][0]["content"], body["messages"][-1]["content"]
    dice = int(hashlib.sha256((told + shown).encode()).hexdigest(), 16)
    if "which documents" in told:
        attributes = json.loads(shown.split("\n", 1)[1].split("\n\n")[0])
        wanted = [{"attribute": each["attribute"], "any_of": each.get("values", [1, 2])[:2]} for each in attributes]
        return Act(json.dumps({"filters": wanted[: 1 + dice % 2]}))
    if "passages answer" in told:
        return Act(json.dumps({"useful": [0] if dice % 2 else []}))
    if "complexity" in told:
        return Act(json.dumps({"complexity": ("simple", "single", "multi")[dice % 3]}))
    if '"route"' in told:
        return Act(json.dumps({"route": ("structured", "narrative", "composite")[dice % 3]}))
    if '"number"' in shown:
        return Act("alpha beta [1]. Revenue was 42 [1].")
    return Act("Who is alpha?\nWhat was the revenue of Acme in 2024?" if "cut a question" in told else "alpha rivers")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server(script=says) as running:
        yield running


def _about(count: int, folder: str, labels: tuple[int, ...], *names: str) -> list[DocumentStep]:
    return [
        DocumentStep(
            f"{folder}/co{place}.md",
            f"alpha Acme {place} beta rivers" + (" Nachtigall" if folder == "h" else ""),
            labels[place % len(labels)],
            (("company", names[place % len(names)]), ("year", 2021 + place % 4)),
        )
        for place in range(count)
    ]


def _questions(seed: int, share: float) -> Iterator[Question]:
    dice = random.Random(seed)
    for tuning in TUNINGS:
        for query in QUERIES:
            options = stream_pb2.CallOptions(reference_date="2025-01-01", **dice.choice(OPTIONS))
            passages = narrative_pb2.NarrativeRetrieveRequest(query=query, tuning=tuning, top_k=3, options=options)
            if dice.random() < share:
                yield Question("narrative", "NarrativeRetrieve", passages)
        for first, second in zip(ASKED, (*ASKED[1:], ASKED[0]), strict=True):
            cut = Tuning(decomposition=dice.choice(("llm", "rules")), adaptive=dice.random() < 0.5)
            cut.MergeFrom(tuning)
            history = [router_pb2.Turn(role=router_pb2.TURN_ROLE_USER, text="What was the revenue of Acme in 2023?")]
            options = stream_pb2.CallOptions(reference_date="2025-01-01", **dice.choice(OPTIONS))
            asked = router_pb2.AskRequest(
                question=f"{first} {second}", tuning=cut, options=options, history=history[: dice.randrange(2)]
            )
            if dice.random() < share:
                yield Question("router", "Ask", asked)


def _told(here: House, model: ModelServer, question: Question) -> tuple[bytes, list[int], list[str]]:
    """What a call gives, how long its cursors are, and what reaches the model for it. Frames are cut by time."""
    before = len(model.bodies)
    told, frames = answer(here, question)
    parts = [frame.batch for frame in frames if frame.WhichOneof("frame") == "batch"]
    parts += [frame.outcomes for frame in frames if frame.WhichOneof("frame") == "outcomes"]
    lengths = [len(each.after.token) for each in parts]
    lengths += [len(frame.summary.next.token) for frame in frames if frame.WhichOneof("frame") == "summary"]
    return told, sorted(set(lengths)), sorted(json.dumps(body, sort_keys=True) for body in model.bodies[before:])


def _serving(data: Path, model: ModelServer, reader: str, clearance: str) -> Any:
    settings = {"llm__provider": "openai", "llm__base_url": f"{model.url}/v1", "llm__model": "m", "llm__retries": 0}
    by_model = {"retrieval__route_classifier": "llm", "retrieval__adaptive": "llm", "llm__clearance": clearance}
    return house(data, secret="s", access__local_clearance=reader, **settings, **by_model)


def _compare(tmp_path: Path, model: ModelServer, seed: int, reader: str, clearance: str, share: float) -> None:
    open_labels, hidden_labels = READERS[reader]
    dice = random.Random(seed)
    shown = [*draw_open(dice, 16, open_labels), *_about(6, "v", open_labels, "Acme", "Globex", "Japan")]
    hidden = [*draw_hidden(dice, 20, hidden_labels), *_about(9, "h", hidden_labels, "Acme", "Nachtigall", "HIDDENCO")]
    told: list[list[tuple[bytes, list[int], list[str]]]] = []
    for name, beside in (("without", []), ("with", hidden)):
        with _serving(tmp_path / name, model, reader, clearance) as here:
            begin(here)
            take_all(here, shown, beside, random.Random(seed))
            before = len(model.bodies)
            told.append([_told(here, model, question) for question in _questions(seed, share)])
            assert len(model.bodies) - before > len(told[-1])
    for question, without, beside_it in zip(_questions(seed, share), *told, strict=True):
        assert beside_it == without, question


@pytest.mark.parametrize(("seed", "reader", "clearance"), [(1, "internal", "internal"), (2, "public", "public")])
def test_hidden_rows_change_no_prompt(
    tmp_path: Path, model: ModelServer, seed: int, reader: str, clearance: str
) -> None:
    _compare(tmp_path, model, seed, reader, clearance, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "clearance"), [("internal", "public"), ("public", "internal")])
@pytest.mark.parametrize("seed", [11, 12])
def test_hidden_rows_change_no_prompt_of_any_question(
    tmp_path: Path, model: ModelServer, seed: int, reader: str, clearance: str
) -> None:
    _compare(tmp_path, model, seed, reader, clearance, 1.0)


def test_values_of_hidden_documents_would_be_seen(
    tmp_path: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Snapshot.attribute_values

    def careless(self: Snapshot, call: Call, most: int) -> Any:
        return whole(self, replace(call, principal=replace(call.principal, clearance=Label.CONFIDENTIAL)), most)

    monkeypatch.setattr(Snapshot, "attribute_values", careless)
    with pytest.raises(AssertionError):
        _compare(tmp_path, model, 1, "internal", "internal", 0.25)


@pytest.mark.parametrize("clearance", ["internal", "public"])
def test_nothing_above_the_models_clearance_leaves(tmp_path: Path, model: ModelServer, clearance: str) -> None:
    """The caller reads it, and gets it."""
    labels = (INTERNAL, CONFIDENTIAL) if clearance == "public" else (CONFIDENTIAL, RESTRICTED)
    dice = random.Random(3)
    shown = [*draw_open(dice, 10, (PUBLIC,)), *_about(4, "v", (PUBLIC,), "Acme", "Globex")]
    hidden = [*draw_hidden(dice, 20, labels), *_about(9, "h", labels, "Acme", "Nachtigall")]
    with _serving(tmp_path, model, "confidential", clearance) as here:
        begin(here)
        take_all(here, shown, hidden, random.Random(3))
        model.received.clear()
        model.bodies.clear()
        given: list[Any] = []
        for question in _questions(3, 0.6):
            if not any(word in str(question.request) for word in OUT_OF_SIGHT):
                given += answer(here, question)[1]
        assert any(each.lineage.doc_id.startswith("h/") for each in snippets(given))
    sent = model.text_sent()
    assert len(model.bodies) > 20
    for word in OUT_OF_SIGHT:
        assert word not in sent
