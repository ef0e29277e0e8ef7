"""Settings of a library: their file, their bounds, and what is said about wrong ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import AttributeType, Label
from groundwire_server.library import BUILT_IN_ATTRIBUTES, EMBEDDERS, MAX_DECLARED, LibraryConfig, Recut

configs = st.builds(
    LibraryConfig,
    description=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    chunker=st.sampled_from(["paragraph", "whole"]),
    chunk_chars=st.integers(100, 10_000),
    overlap_chars=st.integers(0, 99),
    embedder=st.sampled_from(EMBEDDERS),
    fusion=st.sampled_from(["linear", "rrf"]),
    k1=st.floats(0, 100),
    b=st.floats(0, 1),
    vector_depth=st.integers(1, 1000),
    ambiguous=st.sampled_from(["refuse", "report"]),
    default_label=st.sampled_from(Label),
    glossary_variants=st.booleans(),
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
        ('chunker = "laws"', [("chunker", ErrorReason.UNKNOWN_NAME)]),
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
    with pytest.raises(InvalidRequest, match="paragraph, whole"):
        LibraryConfig(chunker="laws").check()


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
    for cut, wanted in ((first.cut, "whole"), (second.cut, "whole"), ("whole", None), ("paragraph(9,1)", third)):
        chunker = later.chunker(cut, Label.PUBLIC, third)
        if wanted is third:
            assert chunker is not None
            assert chunker.spec == first.cut
        else:
            assert (chunker and chunker.spec) == wanted
    assert later.chunker("scissors(3)", Label.PUBLIC, third) is None
