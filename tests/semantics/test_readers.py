"""Semantics 5 and formats: text as read, with a map back to the places in the file."""

import hashlib
import json
import unicodedata
from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Label, Span
from groundwire_server.readers import Axis, Document, PlaceMap, RefusedPart, can_read, line_starts, read_document
from tests.semantics.hostile import CHINESE, ENGLISH, JAPANESE, TEXTS, hostile_texts, quick

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\ufe0f\U000e0100"  # whether these alone are a text is left open
TRADITIONAL = "公司營業收入增加。為什麼？因為成本下降，毛利率上升，並且國內市場擴大。"


def one(doc_id: str, raw: bytes, media_type: str = "", charset: str = "") -> Document:
    outputs = read_document(doc_id, raw, media_type, charset)
    assert len(outputs) == 1
    assert isinstance(outputs[0], Document)
    return outputs[0]


def starts_by_hand(text: str) -> list[int]:
    """Lines end at CR LF, LF or CR."""
    starts = [0]
    place = 0
    while place < len(text):
        if text[place] == "\r" and text[place + 1 : place + 2] == "\n":
            place += 2
        elif text[place] in "\r\n":
            place += 1
        else:
            place += 1
            continue
        starts.append(place)
    return starts


def line_by_hand(text: str, span: Span) -> str:
    starts = starts_by_hand(text)
    first, last = bisect_right(starts, span.start), bisect_right(starts, span.end - 1)
    return str(first) if first == last else f"{first}-{last}"


READABLE = [text for text in TEXTS if text.strip() and "\x00" not in text and not text.startswith("\ufeff")]


@pytest.mark.parametrize("name", ["notes.txt", "notes.md"])
@pytest.mark.parametrize("text", READABLE, ids=range(len(READABLE)))
def test_text_is_kept_as_it_stands(name: str, text: str) -> None:
    document = one(name, text.encode())
    assert document.text == text
    assert document.raw_sha256 == hashlib.sha256(text.encode()).digest()
    assert document.raw_bytes == len(text.encode())
    assert document.doc_id == name


@quick
@given(hostile_texts, st.sampled_from(["notes.txt", "notes.md"]))
def test_text_is_kept_whatever_it_is_or_refused(text: str, name: str) -> None:
    try:
        document = one(name, text.encode())
    except DocumentRefused:
        assert not text.strip(" \t\r\n\x0b\x0c\x85\u2028\u2029\u3000" + INVISIBLE) or "\x00" in text
        return
    assert document.text == text.removeprefix("\ufeff")
    for span in (Span(0, 1), Span(len(document.text) - 1, len(document.text)), Span(0, len(document.text))):
        assert dict(document.places.locate(span))["line"] == line_by_hand(document.text, span)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\n\n"])
def test_line_ends_and_decomposed_letters_stay(line_end: str) -> None:
    text = line_end.join([unicodedata.normalize("NFD", "naïve が"), JAPANESE, "ｶﾞｽ\u200b", ""])
    assert one("a.txt", text.encode()).text == text


def test_the_byte_order_mark_alone_is_removed() -> None:
    document = one("a.txt", b"\xef\xbb\xbfhello \xef\xbb\xbf there")
    assert document.text == "hello \ufeff there"
    assert document.raw_sha256 == hashlib.sha256(b"\xef\xbb\xbfhello \xef\xbb\xbf there").digest()
    for encoding in ("utf-16", "utf-8-sig"):
        assert one("a.txt", JAPANESE.encode(encoding)).text == JAPANESE


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE * 5, "shift_jis"),
        (JAPANESE * 5, "euc_jp"),
        (CHINESE * 5, "gb18030"),
        (TRADITIONAL * 5, "big5"),
    ],
)
def test_other_charsets_are_told_or_taken_as_said(text: str, encoding: str) -> None:
    assert one("a.txt", text.encode(encoding)).text == text
    assert one("a.txt", text.encode(encoding), charset=encoding.replace("_", "-")).text == text
    assert one("a.txt", text.encode(encoding), f"text/plain; charset={encoding.replace('_', '-')}").text == text


@pytest.mark.parametrize("raw", [b"", b"  \n\t\r\n", "\u3000\u2028".encode(), b"\xef\xbb\xbf"])
def test_a_file_without_text_is_refused(raw: bytes) -> None:
    for name in ("a.txt", "a.md"):
        with pytest.raises(DocumentRefused) as caught:
            read_document(name, raw)
        assert caught.value.reason is ErrorReason.DOCUMENT_NO_TEXT


def test_bytes_that_stand_for_no_text_are_refused() -> None:
    for raw in (b"\x89PNG\r\n\x1a\n\x00\x00\x00", b"text \xff\xfe\xfd\xfc more \x80\x81"):
        with pytest.raises(DocumentRefused):
            read_document("a.txt", raw)


def test_the_document_is_named_by_its_path_and_never_by_the_file_alone() -> None:
    assert one("2024/q1/notes.md", b"# A\n\ntext").doc_id == "2024/q1/notes.md"
    assert one("2024/q2/notes.md", b"# A\n\ntext").doc_id == "2024/q2/notes.md"


def test_titles() -> None:
    assert one("x/plain.txt", b"text").title in ("plain.txt", "plain")
    assert one("x/notes.md", "intro\n\n# 決算 概要\n\ntext".encode()).title == "決算 概要"
    assert one("x/notes.md", b"+++\ntitle = 'Front'\n+++\n# Heading\n\ntext").title == "Front"


def test_front_matter_is_kept_in_the_text_and_out_of_the_body() -> None:
    raw = "+++\ntitle = 'Front'\nlabel = 'confidential'\n+++\n# Heading\n\ntext 本文"
    document = one("notes.md", raw.encode())
    assert document.text == raw
    assert document.label is Label.CONFIDENTIAL
    body = document.text[document.body.start : document.body.end]
    assert "Front" not in body
    assert body.endswith("# Heading\n\ntext 本文")


@pytest.mark.parametrize(
    ("said", "label"), [("ＰＵＢＬＩＣ", Label.PUBLIC), (" Internal ", Label.INTERNAL), ("x", Label.RESTRICTED)]
)
def test_a_label_in_front_matter_is_parsed_like_any_label(said: str, label: Label) -> None:
    assert one("notes.md", f"+++\nlabel = '{said}'\n+++\ntext".encode()).label is label


# Places


@pytest.mark.parametrize("text", [*TEXTS[:-3], "\n\n\n", "\r\r\n\n\r", "a\u2028b\x85c\x0bd\x0ce"], ids=repr)
def test_lines_start_after_cr_lf_and_nothing_else(text: str) -> None:
    assert list(line_starts(text)) == starts_by_hand(text) or list(line_starts(text)) == [
        start for start in starts_by_hand(text) if start < len(text) or start == 0
    ]


@quick
@given(st.text(alphabet="ab漢\r\n\u2028 😀", min_size=1, max_size=40).filter(str.strip), st.data())
def test_a_span_is_located_by_the_lines_it_covers(text: str, data: st.DataObject) -> None:
    document = one("notes.txt", text.encode())
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert dict(document.places.locate(Span(start, end)))["line"] == line_by_hand(text, Span(start, end))


@quick
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_a_span_on_pages_is_located_by_page_and_paragraph(shape: list[int], data: st.DataObject) -> None:
    """`report.pdf#page=3,para=2-4`: paragraphs count within their page, and pages alone where there are several."""
    places = [(page, paragraph) for page, many in enumerate(shape, 1) for paragraph in range(1, many + 1)]
    page_starts = [10 * places.index((page, 1)) for page in range(1, len(shape) + 1)]
    paragraph_starts = [10 * n for n in range(len(places))]
    numbers = [str(paragraph) for _, paragraph in places]
    found = PlaceMap((Axis("page", page_starts), Axis("para", paragraph_starts, numbers)))
    start = data.draw(st.integers(0, 10 * len(places) - 1))
    end = data.draw(st.integers(start + 1, 10 * len(places)))
    (page, first), (last_page, last) = places[start // 10], places[(end - 1) // 10]
    if page != last_page:
        expected = [("page", f"{page}-{last_page}")]
    else:
        expected = [("page", str(page)), ("para", str(first) if first == last else f"{first}-{last}")]
    assert list(found.locate(Span(start, end))) == expected


def test_headings_are_told() -> None:
    text = "intro\n# 第一\n\nalpha\n\n## 第二\n\nbeta"
    document = one("notes.md", text.encode())
    at = text.index
    assert document.places.heading(Span(0, 5)) == ""
    assert "第一" in document.places.heading(Span(at("alpha"), at("alpha") + 5))
    assert "第二" in document.places.heading(Span(at("beta"), at("beta") + 4))


def test_a_line_that_starts_with_a_decimal_number_is_no_heading() -> None:
    text = "# Top\n\n3.5 percent growth\n\n1.2 Results\n\nbeta"
    document = one("notes.md", text.encode())
    assert document.places.heading(Span(text.index("beta"), len(text))) == "Top"


# JSON lines


def jsonl(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows).encode()


def test_a_line_of_json_lines_is_a_document_and_its_title_is_never_in_the_text() -> None:
    raw = jsonl(
        {"doc_id": "a", "title": "売上高", "text": "増えた。\r\nなぜ？"},
        {"doc_id": "b", "title": "Revenue", "text": "It\u2028rose."},
    )
    documents = [each for each in read_document("corpus.jsonl", raw) if isinstance(each, Document)]
    assert [(each.doc_id, each.title, each.text) for each in documents] == [
        ("a", "売上高", "増えた。\r\nなぜ？"),
        ("b", "Revenue", "It\u2028rose."),
    ]
    assert all(each.index_title for each in documents)


def test_a_bad_line_is_refused_by_itself() -> None:
    raw = jsonl(
        {"doc_id": "a", "title": "", "text": "one"},
        "{broken",
        "[1]",
        {"doc_id": "b", "text": 5},
        {"doc_id": "c", "text": "two"},
    )
    outputs = read_document("corpus.jsonl", raw)
    assert [type(each) for each in outputs] == [Document, RefusedPart, RefusedPart, RefusedPart, Document]
    assert [each.doc_id for each in outputs if isinstance(each, Document)] == ["a", "c"]


@quick
@given(st.lists(hostile_texts.filter(str.strip), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_texts_of_json_lines_are_kept_as_they_stand(texts: list[str], line_end: str) -> None:
    rows = [json.dumps({"doc_id": f"d{n}", "title": "t", "text": text}) for n, text in enumerate(texts)]
    outputs = read_document("corpus.jsonl", (line_end.join(rows) + line_end).encode())
    for text, output in zip(texts, outputs, strict=True):
        if isinstance(output, Document):
            assert output.text in (text, text.removeprefix("\ufeff"))
        else:
            assert "\x00" in text or not text.strip(" \t\r\n\x0b\x0c\x85\u2028\u2029\u3000" + INVISIBLE)


def test_kinds_of_files() -> None:
    for name in ("a.txt", "a.md", "a.jsonl", "A.MD"):
        assert can_read(name)
    for name in ("a.exe", "a.png"):
        assert not can_read(name)
        with pytest.raises(DocumentRefused) as caught:
            read_document(name, ENGLISH.encode())
        assert caught.value.reason is ErrorReason.DOCUMENT_UNSUPPORTED
