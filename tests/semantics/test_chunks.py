"""Semantics 5: chunks are slices of their text, packed from paragraphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import (
    CHUNKERS,
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    ChunkDraft,
    ParagraphChunker,
    make_chunker,
)
from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import InvalidRequest
from tests.semantics.hostile import CHINESE, ENGLISH, JAPANESE, TEXTS, any_text, hostile_texts, quick
from tests.semantics.oracles import SENTENCE_ENDS, is_sentence_end, paragraphs_of

HUGE = [
    "x" * 100_000,
    "長い" * 50_000,
    (JAPANESE * 1000),
    (ENGLISH + " ") * 1000,
    "\n".join([ENGLISH, JAPANESE, CHINESE] * 200),
    "\r\n\r\n".join([CHINESE * 9, "短い", ENGLISH * 9] * 30),
]
budgets = st.integers(1, 40).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most - 1)))
paragraph_texts = st.lists(st.text(alphabet="ab 売上。.!1 \t\u3000😀e\u0301", max_size=30), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n \r\n"]).map(lambda end: end.join(lines))
)


def check_slices(text: str, chunks: list[ChunkDraft]) -> None:
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert 0 <= chunk.span.start < chunk.span.end <= len(text)
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert not chunk.text.isspace()
    starts = [chunk.span.start for chunk in chunks]
    assert starts == sorted(set(starts))


def check_cover(text: str, chunks: list[ChunkDraft]) -> None:
    """Everything but blanks is in some chunk."""
    covered = [False] * len(text)
    for chunk in chunks:
        covered[chunk.span.start : chunk.span.end] = [True] * (chunk.span.end - chunk.span.start)
    assert not [place for place, c in enumerate(text) if not c.isspace() and not covered[place]]


def packed(text: str, most: int, overlap: int) -> list[tuple[int, int] | None]:
    """Chunks of paragraphs within the budget as (start, end); None stands for a paragraph over it."""
    chunks: list[tuple[int, int] | None] = []
    open_ones: list[tuple[int, int]] = []
    carried = 0  # how many of the open ones were in the chunk before
    for start, end in paragraphs_of(text):
        if end - start > most:
            if len(open_ones) > carried:
                chunks.append((open_ones[0][0], open_ones[-1][1]))
            chunks.append(None)
            open_ones, carried = [], 0
            continue
        if open_ones and end - open_ones[0][0] > most:
            chunks.append((open_ones[0][0], open_ones[-1][1]))
            whole = open_ones
            open_ones = []
            for paragraph in reversed(whole):
                if whole[-1][1] - paragraph[0] > overlap or end - paragraph[0] > most:
                    break
                open_ones.insert(0, paragraph)
            carried = len(open_ones)
        open_ones.append((start, end))
    if len(open_ones) > carried:
        chunks.append((open_ones[0][0], open_ones[-1][1]))
    return chunks


def check_packing(text: str, chunks: list[ChunkDraft], most: int, overlap: int) -> None:
    """The chunks of short paragraphs are the packed ones; between them stand pieces of long paragraphs."""
    long_ones = [(start, end) for start, end in paragraphs_of(text) if end - start > most]
    rest = iter(chunks)
    seen_long = iter(long_ones)
    for expected in packed(text, most, overlap):
        if expected is not None:
            chunk = next(rest)
            assert (chunk.span.start, chunk.span.end) == expected
            continue
        start, end = next(seen_long)
        place = start
        while place < end:
            piece = next(rest)
            assert len(piece.text) <= most
            assert piece.span.start >= place  # no overlap between the pieces
            assert not text[place : piece.span.start].strip()  # and nothing lost
            place = piece.span.end
            if not text[place:end].strip():
                break
            check_cut(text, start, end, piece, most)
    assert next(rest, None) is None


def check_cut(text: str, start: int, end: int, piece: ChunkDraft, most: int) -> None:
    """A piece ends at a sentence end, unless it ends within a sentence that is longer than the budget."""
    if is_sentence_end(text, len(text[: piece.span.end].rstrip()) - 1):
        return
    if text[piece.span.end] in SENTENCE_ENDS:
        return  # between two marks that stand together, "?!"; the text does not say
    first = piece.span.end
    while first > start and not is_sentence_end(text, first - 1):
        first -= 1
    last = piece.span.end
    while last < end and not is_sentence_end(text, last):
        last += 1
    assert len(text[first : last + 1].strip()) > most


# Invariants

MODEL = HashEmbedder()


@pytest.mark.parametrize("name", sorted(CHUNKERS))
@pytest.mark.parametrize("text", [*TEXTS, *HUGE], ids=range(len(TEXTS) + len(HUGE)))
def test_every_chunk_of_every_chunker_is_a_slice_of_its_text(name: str, text: str) -> None:
    chunks = make_chunker(name, model=MODEL).chunk(text)
    check_slices(text, chunks)
    check_cover(text, chunks)
    assert chunks == make_chunker(name, model=MODEL).chunk(text)


@quick
@given(hostile_texts | any_text, budgets, st.sampled_from(sorted(CHUNKERS)))
def test_every_chunk_is_a_slice_whatever_the_text_and_the_budget(text: str, budget: tuple[int, int], name: str) -> None:
    chunks = make_chunker(name, *budget, model=MODEL).chunk(text)
    check_slices(text, chunks)
    check_cover(text, chunks)


@pytest.mark.parametrize("name", sorted(CHUNKERS))
@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t", "\u3000\u2028\xa0"])
def test_a_blank_text_has_no_chunks(name: str, text: str) -> None:
    assert make_chunker(name, model=MODEL).chunk(text) == []


# The default chunker


@quick
@given(paragraph_texts, budgets)
def test_paragraphs_are_packed_greedily_with_whole_trailing_paragraphs_as_overlap(
    text: str, budget: tuple[int, int]
) -> None:
    most, overlap = budget
    chunks = ParagraphChunker(most, overlap).chunk(text)
    assert all(len(chunk.text) <= most for chunk in chunks)
    check_packing(text, chunks, most, overlap)


@quick
@given(hostile_texts, st.sampled_from([(480, 80), (120, 40), (60, 0), (30, 29)]))
def test_hostile_texts_are_packed_like_any_other(text: str, budget: tuple[int, int]) -> None:
    chunks = ParagraphChunker(*budget).chunk(text)
    assert all(len(chunk.text) <= budget[0] for chunk in chunks)
    check_packing(text, chunks, *budget)


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_huge_texts_are_packed_like_any_other(text: str) -> None:
    chunks = ParagraphChunker().chunk(text)
    assert all(len(chunk.text) <= DEFAULT_CHUNK_CHARS for chunk in chunks)
    if "\n" in text:
        check_packing(text, chunks, DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS)


def test_the_defaults_are_480_and_80() -> None:
    assert (DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS) == (480, 80)
    assert ParagraphChunker().spec == ParagraphChunker(480, 80).spec
    text = "\n".join(["a" * 70] * 20)
    assert ParagraphChunker().chunk(text) == ParagraphChunker(480, 80).chunk(text)
    assert [len(chunk.text) for chunk in ParagraphChunker().chunk(text)] == [425, 425, 425, 354]


def test_the_default_chunker_packs_up_to_the_budget_and_not_beyond() -> None:
    two = "a" * 239 + "\n" + "b" * 240
    assert [chunk.text for chunk in ParagraphChunker().chunk(two)] == [two]
    over = "a" * 240 + "\n" + "b" * 240
    assert [chunk.text for chunk in ParagraphChunker().chunk(over)] == ["a" * 240, "b" * 240]


def test_overlap_is_the_whole_trailing_paragraphs_that_fit() -> None:
    text = "\n".join(["甲" * 200, "乙" * 200, "丙" * 40, "丁" * 30, "戊" * 300])
    first, second = ParagraphChunker().chunk(text)
    assert first.text == text[: text.index("戊") - 1]
    assert second.text == text[text.index("丙") :]


def test_a_paragraph_longer_than_the_overlap_is_not_cut_for_it() -> None:
    text = "\n".join(["甲" * 200, "乙" * 81, "丙" * 300])
    assert [chunk.text for chunk in ParagraphChunker().chunk(text)] == [text[:282], "丙" * 300]


def test_no_overlap_when_none_is_wanted() -> None:
    chunks = ParagraphChunker(10, 0).chunk("one\ntwo\nthree\nfour\nfive")
    assert [chunk.text for chunk in chunks] == ["one\ntwo", "three\nfour", "five"]


@pytest.mark.parametrize("sentence", [ENGLISH.split("?")[0] + "? ", "売上高は増えた。", "公司收入增长；", "Up! "])
def test_a_long_paragraph_is_cut_at_sentence_ends(sentence: str) -> None:
    text = (sentence * 400).strip()
    chunks = ParagraphChunker().chunk(text)
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.text.strip()[-1] in SENTENCE_ENDS
        assert len(chunk.text) <= 480
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == text.replace(" ", "")


def test_a_dot_between_digits_is_no_place_to_cut() -> None:
    text = "3.14 " * 300
    for chunk in ParagraphChunker(50, 0).chunk(text + "end."):
        assert len(chunk.text) <= 50
    only_dots = "a 1.5" * 20 + "。" + "b" * 60
    assert ParagraphChunker(101, 0).chunk(only_dots)[0].text == "a 1.5" * 20 + "。"


def test_a_line_without_sentence_ends_is_cut_hard() -> None:
    assert [len(chunk.text) for chunk in ParagraphChunker().chunk("x" * 1000)] == [480, 480, 40]
    assert [chunk.text for chunk in ParagraphChunker(4, 3).chunk("売上高は増えた")] == ["売上高は", "増えた"]


def test_pieces_of_a_long_paragraph_do_not_overlap_their_neighbours() -> None:
    text = "short\n" + "x" * 25 + "\nshort"
    chunks = ParagraphChunker(20, 10).chunk(text)
    assert [chunk.text for chunk in chunks] == ["short", "x" * 20, "x" * 5, "short"]


def test_the_text_of_a_chunk_is_never_changed() -> None:
    text = "ｶﾞｽ cafe\u0301\r\n\r\nＦＹ２０２４\ttab 👩‍👩‍👧\u200b end"
    assert [chunk.text for chunk in ParagraphChunker().chunk(text)] == [text]
    assert [chunk.text for chunk in make_chunker("whole").chunk(text)] == [text]


def test_whole_is_one_chunk() -> None:
    for text in TEXTS:
        if text.strip():
            assert [chunk.text for chunk in make_chunker("whole").chunk(text)] == [text]


# Bad budgets


@pytest.mark.parametrize("name", sorted(CHUNKERS))
@pytest.mark.parametrize(("most", "overlap"), [(0, 0), (-1, 0), (480, -1), (480, 480), (80, 81), (1, 1), (-5, -7)])
def test_impossible_budgets_are_value_errors_and_invalid_arguments(name: str, most: int, overlap: int) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        make_chunker(name, most, overlap)
    assert isinstance(caught.value, InvalidRequest)
    assert caught.value.status == "INVALID_ARGUMENT"


@pytest.mark.parametrize(("most", "overlap"), [(1, 0), (480, 479), (2, 1), (10**9, 0)])
def test_budgets_at_the_edge_are_fine(most: int, overlap: int) -> None:
    check_slices(ENGLISH, ParagraphChunker(most, overlap).chunk(ENGLISH))


def test_an_unknown_chunker_is_an_error_that_lists_the_valid_ones() -> None:
    with pytest.raises(InvalidRequest) as caught:
        make_chunker("nosuch")
    told = " ".join([str(caught.value), *(violation.description for violation in caught.value.violations)])
    for name in CHUNKERS:
        assert name in told
