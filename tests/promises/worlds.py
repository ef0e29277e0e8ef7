"""Libraries as lists of steps, drawn at random: what everybody may read, and what is hidden beside it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import grpc

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, value_pb2
from tests.promises.answers import refusal
from tests.rpc.house import Documents, Facts, House, document_part, finish, start, term
from tests.support.eventually import eventually

__all__ = [
    "CANARIES",
    "CONFIDENTIAL",
    "INTERNAL",
    "PUBLIC",
    "RESTRICTED",
    "DocumentStep",
    "EdgeStep",
    "FactStep",
    "GlossaryStep",
    "Step",
    "WithdrawStep",
    "begin",
    "draw_hidden",
    "draw_open",
    "step_part",
    "store_documents",
    "take",
    "take_all",
]

WORDS = ("alpha", "beta", "gamma", "売上", "人口", "东京", "revenue", "Acme", "profit", "Japan", "42", "é", "rivers")
CANARIES = ("kanarienvogel", "HIDDENCO", "SECRETMETRIC", "HiddenChannel", "HiddenPart", "hidden_attr", "hidden_rel")
PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED = (
    ingest_pb2.LABEL_PUBLIC,
    ingest_pb2.LABEL_INTERNAL,
    ingest_pb2.LABEL_CONFIDENTIAL,
    ingest_pb2.LABEL_RESTRICTED,
)

_KINDS = {
    "C": glossary_pb2.TERM_KIND_ENTITY,
    "HIDDENCO": glossary_pb2.TERM_KIND_ENTITY,
    "ONLINE": glossary_pb2.TERM_KIND_CHANNEL,
    "SECRETMETRIC": glossary_pb2.TERM_KIND_METRIC,
}


@dataclass(frozen=True)
class DocumentStep:
    """A document comes in; `rehearse`: only to see what would become of it."""

    doc_id: str
    text: str
    label: int
    attributes: tuple[tuple[str, int | str], ...] = ()
    valid_year: int = 0
    rehearse: bool = False


@dataclass(frozen=True)
class FactStep:
    """A figure comes in."""

    fields: tuple[tuple[str, Any], ...]
    label: int
    filed_year: int = 0
    part: str = ""
    attributes: tuple[tuple[str, int | str], ...] = ()
    rehearse: bool = False


@dataclass(frozen=True)
class EdgeStep:
    """A relation comes in."""

    fields: tuple[tuple[str, str], ...]
    label: int
    rehearse: bool = False


@dataclass(frozen=True)
class WithdrawStep:
    """A document is taken out."""

    doc_id: str


@dataclass(frozen=True)
class GlossaryStep:
    """Terms come in, by their codes."""

    codes: tuple[str, ...]


Step = DocumentStep | FactStep | EdgeStep | WithdrawStep | GlossaryStep


def _terms() -> list[glossary_pb2.Term]:
    """A glossary with a name that means two metrics and one that means two entities."""
    money = glossary_pb2.MetricDetail(unit="USD", additivity=glossary_pb2.ADDITIVITY_SUM)
    metric, entity = glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_ENTITY
    return [
        term(metric, "REVENUE", "revenue", "sales", "売上高", metric=money),
        term(metric, "PROFIT", "profit", "rev", metric=money),
        term(metric, "STORES", "rev", metric=money),
        term(metric, "MARGIN", "margin", metric=glossary_pb2.MetricDetail(derivation="PROFIT / REVENUE")),
        term(entity, "ACME", "Acme", "アクメ", "Twin"),
        term(entity, "GLOBEX", "Globex", "Twin"),
        term(entity, "JPN", "Japan", "日本"),
        term(glossary_pb2.TERM_KIND_RELATION, "owned_by", relation=glossary_pb2.RelationDetail(inverse_of="parent_of")),
    ]


def draw_open(dice: random.Random, count: int, labels: Sequence[int] = (PUBLIC, INTERNAL)) -> list[Step]:
    """Steps of a library that its reader sees whole."""
    makers: list[Callable[[int], Step]] = [
        lambda label: DocumentStep(
            dice.choice(("v/a.md", "v/b.md", "v/c.md", "v/d.txt", "v/é.md")),
            _text(dice, WORDS),
            label,
            dice.choice(((), (("n", dice.randrange(4)),), (("n", "text"),))),
            dice.choice((0, 0, 2020, 2030)),
        ),
        lambda label: FactStep(
            _key(dice, ("REVENUE", "PROFIT"), ("ACME", "GLOBEX"), ("", "", "Online"), dice.randrange(3), "row="),
            label,
            dice.choice((0, 0, 2024, 2025)),
            dice.choice(("", "", "North")),
        ),
        lambda label: EdgeStep(
            _edge(dice, ("ACME", "A", "B"), ("parent_of", "competes_with"), ("B", "C", "GLOBEX"), "line="), label
        ),
        lambda _: WithdrawStep(dice.choice(("v/a.md", "v/b.md", "v.csv", "v.jsonl", "never.md"))),
    ]
    return [dice.choices(makers, (4, 4, 3, 1))[0](dice.choice(labels)) for _ in range(count)]


def draw_hidden(dice: random.Random, count: int, labels: Sequence[int] = (CONFIDENTIAL, RESTRICTED)) -> list[Step]:
    """Steps beside those of `draw_open`: near their ids, in their sources, against their figures, never in their place.

    What comes in under the id or key of something open takes its place, which is no secret; see `test_hidden`.
    """
    words = (*WORDS, "kanarienvogel", "kanarienvogel")
    makers: list[Callable[[int], Step]] = [
        lambda label: DocumentStep(
            dice.choice(("h/x.md", "h/y.md", "v/a.md.hidden", "v/aa.md", "v/a", "v/b.md#1")),
            _text(dice, words),
            label,
            dice.choice(((), (("n", "other family"),), (("hidden_attr", 1),))),
            rehearse=dice.random() < 0.2,
        ),
        lambda label: FactStep(
            _key(
                dice,
                ("REVENUE", "PROFIT", "STORES", "SECRETMETRIC"),
                ("ACME", "GLOBEX", "HIDDENCO"),
                ("", "", "Online", "HiddenChannel"),
                3 + dice.randrange(90),
                dice.choice(("row=", "hid=")),
                ("v.csv", "h.csv", "v/a.md", "h/x.md"),
            ),
            label,
            dice.choice((0, 0, 2024, 2026)),
            dice.choice(("", "", "North", "HiddenPart")),
            dice.choice(((), (("n", "other family"),))),
        ),
        lambda label: EdgeStep(
            _edge(
                dice,
                ("ACME", "A", "B", "HIDDENCO"),
                ("parent_of", "hidden_rel"),
                ("C", "GLOBEX", "HIDDENCO"),
                "hid=",
                ("v.jsonl", "h.jsonl", "v/b.md"),
            ),
            label,
        ),
    ]
    return [dice.choices(makers, (4, 4, 4))[0](dice.choice(labels)) for _ in range(count)]


def begin(here: House, library_id: str = "default") -> None:
    """A library with its glossary, in whose texts names are looked for."""
    settings = [admin_pb2.Setting(name="ambiguous", value="report")]
    index = admin_pb2.IndexSettings(relation_extractor="co_occurrence")
    library = admin_pb2.Library(library_id=library_id, index=index, settings=settings)
    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id=library_id, put=_terms()))


def _wait_for_relations(here: House) -> None:
    """Until no job is at work that looks for the names of another glossary."""
    open_states = (admin_pb2.JOB_STATE_QUEUED, admin_pb2.JOB_STATE_RUNNING)

    def done() -> bool:
        jobs = here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs
        return not any(admin_pb2.INDEX_PART_GRAPH in job.parts and job.state in open_states for job in jobs)

    assert eventually(done)


def take(here: House, step: Step, library_id: str = "default") -> bytes:
    """Do a step; all that came back, or its refusal."""
    try:
        if isinstance(step, WithdrawStep):
            asked = ingest_pb2.WithdrawDocumentRequest(library_id=library_id, doc_id=step.doc_id)
            return here.ingest.WithdrawDocument(asked).SerializeToString(deterministic=True)
        if isinstance(step, GlossaryStep):
            put = [term(_KINDS[code], code, code.title()) for code in step.codes]
            change = admin_pb2.UpdateGlossaryRequest(library_id=library_id, put=put)
            answer = here.admin.UpdateGlossary(change).SerializeToString(deterministic=True)
            _wait_for_relations(here)
            return answer
        kind, part = step_part(step)
        opened = start(kind, library_id, validate_only=step.rehearse)
        requests = iter([opened, kind(part=part), finish(kind, 1)])
        method = here.ingest.IngestDocuments if kind is Documents else here.ingest.IngestFacts
        return b"".join(frame.SerializeToString(deterministic=True) for frame in method(requests))
    except grpc.RpcError as error:
        return refusal(error)


def take_all(here: House, steps: Sequence[Step], hidden: Sequence[Step], dice: random.Random) -> list[bytes]:
    """All steps with the hidden ones anywhere between; what the open ones gave."""
    places = sorted(dice.randrange(len(steps) + 1) for _ in hidden)
    told: list[bytes] = []
    for place in range(len(steps) + 1):
        for at, step in zip(places, hidden, strict=True):
            if at == place:
                take(here, step)
        told += [take(here, step) for step in steps[place : place + 1]]
    return told


def store_documents(here: House, texts: Iterable[tuple[str, str]], pieces: int = 1) -> None:
    """Several documents in one ingest, each in so many parts."""
    messages = [start(Documents)]
    seq = 0
    for doc_id, text in texts:
        raw = text.encode()
        size = -(-len(raw) // pieces)
        for at in range(0, len(raw), size):
            seq += 1
            part = document_part(seq, doc_id, raw[at : at + size])
            part.last_part = at + size >= len(raw)
            if at:
                part.ClearField("head")
            messages.append(Documents(part=part))
    list(here.ingest.IngestDocuments(iter([*messages, finish(Documents, seq)])))


def step_part(step: DocumentStep | FactStep | EdgeStep) -> tuple[Any, Any]:
    attributes = [] if isinstance(step, EdgeStep) else _attributes(step.attributes)
    if isinstance(step, DocumentStep):
        part = document_part(1, step.doc_id, step.text.encode(), label=step.label, attributes=attributes)
        if step.valid_year:
            part.head.valid_as_of.FromDatetime(datetime(step.valid_year, 1, 1, tzinfo=UTC))
        return Documents, part
    records = ingest_pb2.FactRecords()
    if isinstance(step, FactStep):
        record = records.facts.add(**dict(step.fields), label=step.label, attributes=attributes)
        if step.part:
            record.dimensions.add(name="part", member=step.part)
        if step.filed_year:
            record.filed_at.FromDatetime(datetime(step.filed_year, 1, 1, tzinfo=UTC))
    else:
        records.relations.add(**dict(step.fields), label=step.label)
    return Facts, ingest_pb2.FactPart(seq=1, records=records)


def _attributes(pairs: Iterable[tuple[str, int | str | bool]]) -> list[value_pb2.Attribute]:
    return [
        value_pb2.Attribute(
            name=name,
            value=value_pb2.Value(bool_value=value)
            if isinstance(value, bool)
            else value_pb2.Value(int_value=value)
            if isinstance(value, int)
            else value_pb2.Value(string_value=value),
        )
        for name, value in pairs
    ]


def _text(dice: random.Random, words: Sequence[str]) -> str:
    paragraphs = [" ".join(dice.choices(words, k=dice.randrange(3, 30))) for _ in range(dice.randrange(1, 5))]
    return f"# {dice.choice(words)}\n\n" + "\n\n".join(paragraphs)


def _key(
    dice: random.Random,
    metrics: Sequence[str],
    entities: Sequence[str],
    channels: Sequence[str],
    value: int,
    place: str,
    sources: Sequence[str] = ("v.csv", "v2.csv", "v/a.md"),
) -> tuple[tuple[str, Any], ...]:
    return (
        ("metric", dice.choice(metrics)),
        ("entity", dice.choice(entities)),
        ("period", dice.choice(("2024", "2023", "FY2024"))),
        ("channel", dice.choice(channels)),
        ("value", str(value)),
        ("unit", "USD"),
        ("source_doc", dice.choice(sources)),
        ("locator", f"{place}{dice.randrange(2)}"),
        ("review_status", dice.choice((0, 0, 0, 3))),
    )


def _edge(
    dice: random.Random,
    subjects: Sequence[str],
    relations: Sequence[str],
    objects: Sequence[str],
    place: str,
    sources: Sequence[str] = ("v.jsonl", "v/b.md"),
) -> tuple[tuple[str, str], ...]:
    return (
        ("subject", dice.choice(subjects)),
        ("relation", dice.choice(relations)),
        ("object", dice.choice(objects)),
        ("object_kind", "entity"),
        ("source_doc", dice.choice(sources)),
        ("locator", f"{place}{dice.randrange(2)}"),
    )
