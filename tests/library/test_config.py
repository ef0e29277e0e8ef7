"""Settings of a library: their file, their bounds, and what is said about wrong ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import AttributeType, Label
from groundwire_server.library import BUILT_IN_ATTRIBUTES, EMBEDDERS, MAX_DECLARED, Cut, LibraryConfig, Recut

configs = st.builds(
    LibraryConfig,
    description=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    chunker=st.sampled_from(["paragraph", "whole"]),
    chunk_chars=st.integers(100, 10_000),
    overlap_chars=st.integers(0, 99),
    embedder=st.sampled_from(EMBEDDERS),
    fusion=st.sampled_from(["linear", "rrf"]),
    query_transform=st.sampled_from(["hyde", "none", "rag_fusion", "step_back"]),
    decomposition=st.sampled_from(["llm", "none", "rules"]),
    adaptive=st.booleans(),
    k1=st.floats(0, 100),
    b=st.floats(0, 1),
    vector_depth=st.integers(1, 1000),
    ambiguous=st.sampled_from(["refuse", "report"]),
    default_label=st.sampled_from(Label),
    glossary_variants=st.booleans(),
    graph=st.booleans(),
    attributes=st.dictionaries(
        st.from_regex(r"[a-z0-9_]{1,8}", fullmatch=True).filter(lambda name: name not in BUILT_IN_ATTRIBUTES),
        st.sampled_from([kind for kind in AttributeType if kind is not AttributeType.TIME]),
        max_size=4,
    ).map(lambda declared: tuple(sorted(declared.items()))),
)


@given(config=configs)
def test_the_file_gives_back_what_was_written(config: LibraryConfig) -> None:
    assert LibraryConfig.from_toml(config.to_toml()) == config


def test_what_a_file_leaves_out_has_its_default() -> None:
    assert LibraryConfig.from_toml("") == LibraryConfig()
    assert LibraryConfig.from_toml('k1 = 2\ndefault_label = " public"\n') == LibraryConfig(
        k1=2.0, default_label=Label.PUBLIC
    )


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("chunk_chars = 0", [("chunk_chars", ErrorReason.VALUE_OUT_OF_RANGE)]),
        ("overlap_chars = -1", [("overlap_chars", ErrorReason.VALUE_OUT_OF_RANGE)]),
        ("chunk_chars = 80", [("overlap_chars", ErrorReason.CONTRADICTION)]),
        ("b = 1.5\nk1 = -1", [("k1", ErrorReason.VALUE_OUT_OF_RANGE), ("b", ErrorReason.VALUE_OUT_OF_RANGE)]),
        ("k1 = nan", [("k1", ErrorReason.VALUE_OUT_OF_RANGE)]),
        ("vector_depth = 0", [("vector_depth", ErrorReason.VALUE_OUT_OF_RANGE)]),
        ('chunker = "scissors"', [("chunker", ErrorReason.UNKNOWN_NAME)]),
        ('budget_unit = "words"', [("budget_unit", ErrorReason.UNKNOWN_NAME)]),
        ("contextual = 1", [("contextual", ErrorReason.VALUE_MALFORMED)]),
        ("chunker = []", [("chunker", ErrorReason.VALUE_MALFORMED)]),
        ('embedder = "gpt"', [("embedder", ErrorReason.UNKNOWN_NAME)]),
        ('ambiguous = "guess"', [("ambiguous", ErrorReason.UNKNOWN_NAME)]),
        ('default_label = "secret"', [("default_label", ErrorReason.VALUE_MALFORMED)]),
        ("default_label = 4", [("default_label", ErrorReason.VALUE_MALFORMED)]),
        ("glossary_variants = 1", [("glossary_variants", ErrorReason.VALUE_MALFORMED)]),
        ("attributes = 1", [("attributes", ErrorReason.VALUE_MALFORMED)]),
        ('[attributes]\nyear = "int"', [("attributes", ErrorReason.VALUE_MALFORMED)]),
        ('[attributes]\nYear = "integer"', [("attributes.Year", ErrorReason.VALUE_MALFORMED)]),
        ('[attributes]\ntitle = "string"', [("attributes.title", ErrorReason.CONTRADICTION)]),
        ('[attributes]\nwhen = "time"', [("attributes.when", ErrorReason.CONTRADICTION)]),
        (
            "[attributes]\n" + "".join(f'a{place} = "bool"\n' for place in range(MAX_DECLARED + 1)),
            [("attributes", ErrorReason.VALUE_OUT_OF_RANGE)],
        ),
        ('chunk_chars = "480"', [("chunk_chars", ErrorReason.VALUE_MALFORMED)]),
        ("chunk_chars = true", [("chunk_chars", ErrorReason.VALUE_MALFORMED)]),
        ("k1 = true", [("k1", ErrorReason.VALUE_MALFORMED)]),
        ("chunksize = 1\nk2 = 3", [("chunksize", ErrorReason.UNKNOWN_NAME), ("k2", ErrorReason.UNKNOWN_NAME)]),
        ("[chunker]\nname = 1", [("chunker", ErrorReason.VALUE_MALFORMED)]),
        ("no toml", [("library.toml", ErrorReason.VALUE_MALFORMED)]),
        (f'description = "{"x" * 5000}"', [("description", ErrorReason.VALUE_OUT_OF_RANGE)]),
    ],
)
def test_wrong_settings_are_all_named(text: str, faults: list[tuple[str, ErrorReason]]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        LibraryConfig.from_toml(text)
    found = [
        (violation.field.removeprefix("library.toml: "), violation.reason) for violation in refused.value.violations
    ]
    assert found == faults


def test_an_unknown_name_is_answered_with_the_valid_ones() -> None:
    with pytest.raises(InvalidRequest, match="layout, paragraph, parent_child"):
        LibraryConfig(chunker="scissors").check()


def test_a_file_of_before_reads_as_it_did() -> None:
    text = 'description = "old"\nchunker = "whole"\nchunk_chars = 480\noverlap_chars = 80\nk1 = 1.5\n'
    assert LibraryConfig.from_toml(text) == LibraryConfig(description="old", chunker="whole")


def test_what_is_left_to_cut_anew_is_what_stands_in_an_earlier_cut() -> None:
    first, second, third = LibraryConfig(), LibraryConfig(chunk_chars=100), LibraryConfig(chunker="whole")
    assert Recut().after(first, LibraryConfig(k1=0.5)) == Recut()
    assert not Recut().after(third, LibraryConfig(chunker="whole", chunk_chars=100)).asked
    left = Recut().after(first, second)
    assert left == Recut(frozenset({first.cut}), asked=False)
    later = left.after(second, third)
    assert later.earlier == {first.cut, second.cut}
    for cut, wanted in ((first.cut, "whole"), (second.cut, "whole"), ("whole", None), ("paragraph(9,1)", "paragraph")):
        assert later.chunker(cut, Label.PUBLIC, third) == wanted
    assert later.chunker("laws(480,80)", Label.PUBLIC, third) is None
    assert later.chunker("scissors(3)", Label.PUBLIC, third) is None


def test_an_alias_of_a_chunker_is_kept_under_its_own_name() -> None:
    config = LibraryConfig.from_mapping({"chunker": "small_to_big"})
    assert config == LibraryConfig(chunker="parent_child")
    assert config.cut == "parent_child(480,80)"


@pytest.mark.parametrize(
    "other",
    [LibraryConfig(contextual=True), LibraryConfig(budget_unit="tokens"), LibraryConfig(chunker="qa")],
    ids=["contextual", "budget_unit", "chunker"],
)
def test_what_is_indexed_otherwise_is_to_be_cut_anew(other: LibraryConfig) -> None:
    plain = LibraryConfig()
    assert not other.cuts_like(plain)
    left = Recut().after(plain, other)
    assert left.earlier == {plain.cut}
    assert left.chunker(plain.cut, Label.PUBLIC, other) == other.chunker
    assert left.chunker(other.cut, Label.PUBLIC, other) is None


def test_a_cut_is_read_as_it_is_written() -> None:
    for cut in (Cut("whole"), Cut("qa(480,80)", contextual=True), Cut("whole", contextual=True, titled=True)):
        assert Cut.parse(str(cut)) == cut
    headed = Cut("whole", contextual=True, titled=True)
    assert headed.of_settings == LibraryConfig(chunker="whole", contextual=True).cut
    left = Recut().after(LibraryConfig(chunker="whole", contextual=True), LibraryConfig())
    assert left.chunker(str(headed), Label.PUBLIC, LibraryConfig()) == "paragraph"
    done = left.once_done([(str(headed), Label.PUBLIC)])
    assert done.chunker(str(headed), Label.PUBLIC, LibraryConfig()) == "paragraph"
    assert done.chunker(str(headed), Label.INTERNAL, LibraryConfig()) == "whole"
