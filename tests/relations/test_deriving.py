from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest, UnknownResource
from groundwire_server.evidence import Attribute, Dimension, Label, Principal, ReviewStatus
from groundwire_server.glossary import (
    ChannelTerm,
    EntityTerm,
    Glossary,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Synonym,
    Term,
    parse_period,
)
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.relations import DerivedEdges, fact_edges, glossary_edges, member_node, metadata_edges
from groundwire_server.store import EdgeRecord, FactAxes
from groundwire_server.store.conformance import make_document, make_fact
from tests.support.hostile_text import hostile_text

TERMS: tuple[Term, ...] = (
    MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"),)),
    MetricTerm("COGS"),
    MetricTerm("MARGIN", derivation="(REVENUE - COGS) / REVENUE"),
    EntityTerm("ACME", "Acme Inc", (Synonym("アクメ", "ja"), Synonym("艾克美", "zh"))),
    EntityTerm("ACME_JP", "Acme Japan", parent_code="ACME"),
    ChannelTerm("ONLINE", "Online Stores"),
    MemberTerm("segment", "CLOUD", "Cloud"),
    MemberTerm("地域", "関東", "Kanto"),
)
GLOSSARY = Glossary(TERMS)


def said(edges: tuple[EdgeRecord, ...]) -> list[str]:
    return [f"{e.source_kind}:{e.source} {e.relation} {e.target_kind}:{e.target} @{e.locator}" for e in edges]


def test_a_glossary_gives_parents_formulas_and_members() -> None:
    edges = glossary_edges(GLOSSARY)
    assert said(edges) == [
        "entity:ACME parent_of entity:ACME_JP @glossary.toml#entity=ACME_JP",
        "metric:REVENUE derives metric:MARGIN @glossary.toml#metric=MARGIN",
        "metric:COGS derives metric:MARGIN @glossary.toml#metric=MARGIN",
        "dimension:channel has_member channel:ONLINE @glossary.toml#channel=ONLINE",
        "dimension:segment has_member segment:CLOUD @glossary.toml#dimension=segment,member=CLOUD",
        "dimension:地域 has_member member:地域=関東 @glossary.toml#dimension=地域,member=関東",
    ]
    assert {(e.label, e.extractor) for e in edges} == {(Label.PUBLIC, "glossary")}


def test_a_formula_gives_what_it_names_and_nonsense_nothing() -> None:
    terms = (
        MetricTerm("A", derivation="B + X * A"),
        MetricTerm("B", derivation="((A"),
        MetricTerm("C", derivation="7"),
    )
    assert said(glossary_edges(Glossary(terms))) == ["metric:B derives metric:A @glossary.toml#metric=A"]


def test_a_relation_is_stored_under_the_name_of_the_glossary() -> None:
    turned = Glossary((*TERMS, RelationTerm("has_member", inverse_of="part_of_axis")))
    assert (
        said(glossary_edges(turned))[3] == "channel:ONLINE part_of_axis dimension:channel @glossary.toml#channel=ONLINE"
    )


def test_attributes_that_name_terms_are_mentions() -> None:
    period = parse_period("FY2024", reference=date(2026, 1, 1))
    attributes = (
        Attribute("entity", "アクメ"),
        Attribute("entities", ("Acme Japan", "Nobody", "艾克美")),
        Attribute("metric", "売上高"),
        Attribute("channel", "online stores"),
        Attribute("segment", "cloud"),
        Attribute("topic", "Acme Inc"),
        Attribute("地域", "Kanto"),
        Attribute("period", period),
        Attribute("size", 3),
    )
    edges = metadata_edges("notes/a,b.md", attributes, Label.CONFIDENTIAL, GLOSSARY)
    assert said(edges) == [
        "document:notes/a,b.md mentions channel:ONLINE @notes/a%2Cb.md#attribute=channel",
        "document:notes/a,b.md mentions entity:ACME_JP @notes/a%2Cb.md#attribute=entities",
        "document:notes/a,b.md mentions entity:ACME @notes/a%2Cb.md#attribute=entities",
        "document:notes/a,b.md mentions metric:REVENUE @notes/a%2Cb.md#attribute=metric",
        "document:notes/a,b.md mentions segment:CLOUD @notes/a%2Cb.md#attribute=segment",
        "document:notes/a,b.md mentions member:地域=関東 @notes/a%2Cb.md#attribute=地域",
    ]
    assert {(e.label, e.attributes) for e in edges} == {(Label.CONFIDENTIAL, (Attribute("period", period),))}
    assert metadata_edges("a", (), Label.PUBLIC, GLOSSARY) == ()


def test_a_name_of_several_terms_is_a_mention_of_none() -> None:
    shared = (EntityTerm("A", "Same"), EntityTerm("B", "Same"))
    glossary = Glossary(shared, ambiguous="report")
    assert metadata_edges("d", (Attribute("entity", "Same"),), Label.PUBLIC, glossary) == ()


def test_figures_give_an_edge_an_axis_with_the_least_label() -> None:
    cloud = (Dimension("segment", "cloud"),)
    axes = [
        FactAxes("b.csv", "アクメ", "売上高", "ONLINE", cloud, Label.CONFIDENTIAL),
        FactAxes("b.csv", "ACME", "REVENUE", "TOTAL", (), Label.PUBLIC),
        FactAxes("a.csv", "Nobody", "PROFIT", "TOTAL", (), Label.INTERNAL),
    ]
    edges = fact_edges(axes, GLOSSARY)
    assert [(text, e.label.name) for text, e in zip(said(edges), edges, strict=True)] == [
        ("entity:Nobody reports metric:PROFIT @a.csv#entity=Nobody,metric=PROFIT", "INTERNAL"),
        ("entity:ACME has_member channel:ONLINE @b.csv#entity=ACME,channel=ONLINE", "CONFIDENTIAL"),
        ("entity:ACME has_member segment:CLOUD @b.csv#entity=ACME,segment=CLOUD", "CONFIDENTIAL"),
        ("entity:ACME reports metric:REVENUE @b.csv#entity=ACME,metric=REVENUE", "PUBLIC"),
    ]
    assert fact_edges(reversed(axes), GLOSSARY) == edges


@pytest.mark.parametrize("name", ["entity", "metric", "document", "literal", "Segment", "a:b", "地域", "9", ""])
def test_a_dimension_that_is_no_kind_of_node_has_one_of_its_own(name: str) -> None:
    assert member_node(name, "x") == ("member", f"{name}=x")


@given(hostile_text(3), hostile_text(3))
def test_hostile_names_become_codes(code: str, name: str) -> None:
    axes = [FactAxes("d", code or "x", name or "y", "TOTAL", (), Label.PUBLIC)]
    (edge,) = fact_edges(axes, Glossary())
    assert (edge.source, edge.target) == (code or "x", name or "y")


# ---- following what happens


ALL = "facts,glossary,metadata"
Step = Callable[["World"], None]


@dataclass
class World:
    """A library that steps change, and what is true of it in the end."""

    library: Library

    def derived(self) -> list[tuple[str, str, str]]:
        reader = self.library.store.reader()
        rows = [row for edge in reader.edge_page(Label.CONFIDENTIAL, limit=10_000) for row in edge]
        return sorted(
            (said((row.record,))[0], row.record.extractor, row.record.label.name)
            for row in rows
            if row.record.extractor in ("facts", "glossary", "metadata")
        )


def opened(folder: Path, config: LibraryConfig | None = None, *, derives: bool = True) -> Library:
    return Library(folder, "x", secret=b"s", config=config, deriver=DerivedEdges.of if derives else None)


def document(doc_id: str, entity: str, label: Label) -> Step:
    def step(world: World) -> None:
        new = replace(make_document(doc_id), attributes=(Attribute("entity", entity),), label=label)
        snapshot = world.library.snapshot()
        with world.library.writing() as writer:
            if not writer.replace_document(new).unchanged:
                derived = DerivedEdges.of(snapshot.config, snapshot.glossary)
                derived.follow_document(writer, doc_id, new.attributes, label)

    return step


def fact(source: str, entity: str, metric: str, label: Label, status: ReviewStatus, value: str) -> Step:
    def step(world: World) -> None:
        record = make_fact(
            source_doc=source, entity=entity, metric=metric, label=label, review_status=status, value=value
        )
        snapshot = world.library.snapshot()
        with world.library.writing() as writer:
            writer.put_facts([record])
            derived = DerivedEdges.of(snapshot.config, snapshot.glossary)
            derived.follow_facts(writer, world.library.store.reader(), [record])

    return step


def withdrawal(doc_id: str, clearance: Label) -> Step:
    def step(world: World) -> None:
        snapshot = world.library.snapshot()
        with suppress(UnknownResource), world.library.writing() as writer:
            writer.withdraw_document(doc_id, clearance=clearance)
            DerivedEdges.of(snapshot.config, snapshot.glossary).follow_source(writer, doc_id)

    return step


def glossary(terms: tuple[Term, ...]) -> Step:
    return lambda world: world.library.set_glossary(Glossary(terms, ambiguous="report"))


def setting(relations_from: str) -> Step:
    def step(world: World) -> None:
        world.library.change_config(lambda snapshot: replace(snapshot.config, relations_from=relations_from))

    return step


GLOSSARIES = (
    (),
    TERMS,
    (EntityTerm("ACME", "Acme Inc"), MetricTerm("REVENUE", "売上高")),
    (*TERMS, RelationTerm("reports", inverse_of="reported_by")),
)
NAMES = st.sampled_from(["ACME", "アクメ", "Acme Inc", "ACME_JP", "Nobody"])
SOURCES = st.sampled_from(["a", "b", "glossary.toml"])
LABELS = st.sampled_from([Label.PUBLIC, Label.CONFIDENTIAL, Label.RESTRICTED])
STEPS = st.one_of(
    st.builds(document, SOURCES, NAMES, LABELS),
    st.builds(
        fact,
        SOURCES,
        NAMES,
        st.sampled_from(["REVENUE", "売上高", "COGS"]),
        LABELS,
        st.sampled_from([ReviewStatus.APPROVED, ReviewStatus.PENDING]),
        st.sampled_from(["1", "2"]),
    ),
    st.builds(withdrawal, SOURCES, st.sampled_from([Label.PUBLIC, Label.CONFIDENTIAL])),
    st.builds(glossary, st.sampled_from(GLOSSARIES)),
    st.builds(setting, st.sampled_from([ALL, "glossary,metadata", "facts", "none"])),
)


def follows(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = LibraryConfig(ambiguous="report", relations_from=ALL)
        world = World(opened(Path(folder), config))
        for step in steps:
            step(world)
        followed = world.derived()
        digest = world.library.snapshot().snapshot_id(Principal("p", Label.CONFIDENTIAL))
        # The same once more, derived from nothing at the end.
        with world.library.store.writer() as writer:
            for source in ("a", "b", "glossary.toml"):
                writer.replace_edges(source, ("facts", "glossary", "metadata"), ())
            writer.set_meta("derived", "")
        assert world.derived() == []
        world.library.close()
        world.library = opened(Path(folder))
        assert world.derived() == followed
        assert world.library.snapshot().snapshot_id(Principal("p", Label.CONFIDENTIAL)) == digest
        world.library.close()


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=10))
def test_whatever_happens_the_edges_are_those_of_what_is_there(steps: list[Step]) -> None:
    follows(steps)


@pytest.mark.slow
@settings(max_examples=2000)
@given(st.lists(STEPS, max_size=14))
def test_whatever_happens_the_edges_are_those_of_what_is_there_at_length(steps: list[Step]) -> None:
    follows(steps)


def test_a_library_of_before_gets_its_edges_when_it_is_opened(tmp_path: Path) -> None:
    before = opened(tmp_path, derives=False)
    before.set_glossary(GLOSSARY)
    with before.writing() as writer:
        writer.replace_document(replace(make_document("d"), attributes=(Attribute("entity", "Acme Inc"),)))
    assert World(before).derived() == []
    before.close()
    after = opened(tmp_path)
    generation = after.snapshot().generation
    assert len(World(after).derived()) == 7
    after.close()
    again = opened(tmp_path)
    assert again.snapshot().generation == generation
    again.close()


def test_only_the_edges_of_what_has_changed_are_written(tmp_path: Path) -> None:
    library = opened(tmp_path, LibraryConfig(relations_from=ALL))
    world = World(library)
    glossary(TERMS)(world)
    for name in "abc":
        document(name, "ACME", Label.PUBLIC)(world)
        fact(name, "ACME", "REVENUE", Label.PUBLIC, ReviewStatus.APPROVED, "1")(world)

    def rows() -> dict[str, int]:
        found = library.store.reader().edge_page(Label.CONFIDENTIAL, limit=1000)
        return {f"{said((row.record,))[0]}": row.edge_row for edge in found for row in edge}

    before = rows()
    document("b", "ACME_JP", Label.PUBLIC)(world)
    changed = rows()
    assert {text for text, row in changed.items() if before.get(text) != row} == {
        "document:b mentions entity:ACME_JP @b#attribute=entity"
    }
    assert before.keys() - changed.keys() == {"document:b mentions entity:ACME @b#attribute=entity"}
    glossary((*TERMS, EntityTerm("ACME_UK", parent_code="ACME")))(world)
    assert {text for text, row in rows().items() if changed.get(text) != row} == {
        "entity:ACME parent_of entity:ACME_UK @glossary.toml#entity=ACME_UK"
    }
    library.close()


def test_many_figures_make_few_edges(tmp_path: Path) -> None:
    library = opened(tmp_path, LibraryConfig(relations_from="facts"))
    records = [
        replace(
            make_fact(source_doc="d", entity=f"E{place % 5}", metric="REVENUE", locator=str(place)), value=str(place)
        )
        for place in range(500)
    ]
    snapshot = library.snapshot()
    with library.writing() as writer:
        writer.put_facts(records)
        derived = DerivedEdges.of(snapshot.config, snapshot.glossary)
        derived.follow_facts(writer, library.store.reader(), records)
    assert len(World(library).derived()) == 5
    library.close()


def test_settings_name_what_relations_are_derived_from() -> None:
    assert LibraryConfig.from_toml('relations_from = " Facts, glossary "').derived_relations == {"facts", "glossary"}
    assert LibraryConfig(relations_from="none").derived_relations == frozenset()
    assert LibraryConfig().derived_relations == {"glossary", "metadata"}
    for wrong in ("", "none,facts", "magic", "facts,magic", ","):
        with pytest.raises(InvalidRequest) as refused:
            LibraryConfig(relations_from=wrong).check()
        assert [each.field for each in refused.value.violations] == ["relations_from"]


# ---- what is hidden


SEEN = st.one_of(
    st.builds(document, st.sampled_from("ab"), NAMES, st.just(Label.PUBLIC)),
    st.builds(
        fact,
        st.sampled_from("ab"),
        NAMES,
        st.sampled_from(["REVENUE", "COGS"]),
        st.just(Label.PUBLIC),
        st.just(ReviewStatus.APPROVED),
        st.sampled_from("12"),
    ),
    st.builds(glossary, st.sampled_from(GLOSSARIES)),
    st.builds(setting, st.sampled_from([ALL, "facts"])),
)
HIDDEN = st.one_of(
    st.builds(document, st.sampled_from("xy"), NAMES, st.sampled_from([Label.CONFIDENTIAL, Label.RESTRICTED])),
    st.builds(
        fact,
        st.sampled_from("abx"),
        NAMES,
        st.sampled_from(["REVENUE", "COGS", "HIDDEN"]),
        st.sampled_from([Label.CONFIDENTIAL, Label.RESTRICTED]),
        st.sampled_from([ReviewStatus.APPROVED, ReviewStatus.PENDING]),
        st.sampled_from("34"),
    ),
    st.builds(withdrawal, st.sampled_from("xy"), st.just(Label.CONFIDENTIAL)),
)


def seen_by_the_public(steps: list[Step]) -> tuple[list[tuple[str, str]], str]:
    """What a caller without clearance finds of derived edges, and the id of the state that it sees."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(opened(Path(folder), LibraryConfig(ambiguous="report", relations_from=ALL)))
        for step in steps:
            step(world)
        rows = [each for edge in world.library.store.reader().edge_page(Label.PUBLIC, limit=1000) for each in edge]
        snapshot_id = world.library.snapshot().snapshot_id(Principal("p", Label.PUBLIC))
        world.library.close()
        return sorted((said((row.record,))[0], row.record.label.name) for row in rows), snapshot_id


@settings(max_examples=20)
@given(st.lists(st.tuples(st.booleans(), SEEN, HIDDEN), max_size=8))
def test_what_is_hidden_changes_nothing_of_what_is_seen(drawn: list[tuple[bool, Step, Step]]) -> None:
    visible = [seen for is_seen, seen, _ in drawn if is_seen]
    everything = [seen if is_seen else hidden for is_seen, seen, hidden in drawn]
    assert seen_by_the_public(everything) == seen_by_the_public(visible)


def _statement(drawn: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a figure states, whatever its label: of that the last one said holds, so each is said once."""
    return *drawn[:3], drawn[5]


FIGURES = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        NAMES,
        st.sampled_from(["REVENUE", "売上高", "COGS"]),
        LABELS,
        st.just(ReviewStatus.APPROVED),
        st.sampled_from("12"),
    ),
    max_size=6,
    unique_by=_statement,
).map(lambda drawn: [fact(*each) for each in drawn])


@settings(max_examples=12)
@given(FIGURES, st.randoms(use_true_random=False))
def test_edges_of_figures_do_not_depend_on_their_order(figures: list[Step], random: Random) -> None:
    shuffled = list(figures)
    random.shuffle(shuffled)
    edges, others = (seen_by_the_public([glossary(TERMS), *each])[0] for each in (figures, shuffled))
    assert edges == others


@pytest.mark.slow
@settings(max_examples=1500)
@given(st.lists(st.tuples(st.booleans(), SEEN, HIDDEN), max_size=10))
def test_what_is_hidden_changes_nothing_of_what_is_seen_at_length(drawn: list[tuple[bool, Step, Step]]) -> None:
    visible = [seen for is_seen, seen, _ in drawn if is_seen]
    everything = [seen if is_seen else hidden for is_seen, seen, hidden in drawn]
    assert seen_by_the_public(everything) == seen_by_the_public(visible)
