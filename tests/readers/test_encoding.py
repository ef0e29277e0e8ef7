from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers import CHARSETS, decode, decode_text
from groundwire_server.readers.iso_2022_jp import decode_iso_2022_jp
from tests.support.hostile_text import hostile_text
from tests.support.refusals import reason_of

JAPANESE = "当社の売上高は前年度から増えた。海外での販売が好調だったためである。\r\n利益率はわずかに下がった。"
SIMPLIFIED = "公司的收入比去年有所增长，这是因为我们在国外的销售情况良好。\n但是利润率下降了一点。"
TRADITIONAL = "公司的收入比去年有所增長，這是因為我們在國外的銷售情況良好。\n但是利潤率下降了一點。"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (SIMPLIFIED, "gb18030"),
        (SIMPLIFIED, "gb2312"),
        (TRADITIONAL, "big5"),
        (TRADITIONAL, "cp950"),
        (JAPANESE, "utf_8"),
        (SIMPLIFIED, "utf_16"),
    ],
)
def test_the_charset_of_a_plain_text_is_told(text: str, codec: str) -> None:
    assert decode_text("a.txt", text.encode(codec)) == text


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf_8"),
        (codecs.BOM_UTF16_LE, "utf_16_le"),
        (codecs.BOM_UTF16_BE, "utf_16_be"),
        (codecs.BOM_UTF32_LE, "utf_32_le"),
        (codecs.BOM_UTF32_BE, "utf_32_be"),
    ],
)
def test_one_byte_order_mark_goes_and_no_more(mark: bytes, codec: str) -> None:
    assert decode_text("a.txt", mark + "\ufeffa漢😀".encode(codec)) == "\ufeffa漢😀"


@given(hostile_text())
def test_utf8_stays_as_it_stands(text: str) -> None:
    if "\x00" in text or sum(char < " " for char in text) > 3 or text.startswith("\ufeff"):
        return
    assert decode_text("a.txt", text.encode()) == text


@pytest.mark.parametrize("charset", sorted(CHARSETS))
def test_a_charset_that_is_given_is_used(charset: str) -> None:
    text = "abc 123"
    encoded = text.encode(CHARSETS[charset][0])
    assert decode_text("a.txt", encoded, charset) == text
    assert decode_text("a.txt", encoded, f" {charset.upper().replace('-', '_')} ") == text


@pytest.mark.parametrize(("charset", "text"), [("iso-8859-1", "café"), ("windows-1252", "“Größe”"), ("koi8-r", "Да")])
def test_a_western_text_needs_its_charset_said(charset: str, text: str) -> None:
    raw = text.encode(CHARSETS[charset][0])
    with pytest.raises(DocumentRefused) as refused:
        decode_text("a.txt", raw)
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN
    assert "charset" in str(refused.value)
    assert decode_text("a.txt", raw, charset) == text


def test_a_guess_in_doubt_names_itself_and_is_refused_where_nobody_is_told() -> None:
    raw = "東京都".encode("cp932")
    decoded = decode("a.txt", raw)
    assert (decoded.text, decoded.charset) == ("東京都", "shift-jis")
    assert "guessed as shift-jis" in decoded.doubt
    with pytest.raises(DocumentRefused, match="guessed as shift-jis"):
        decode_text("a.txt", raw)


def test_what_reads_alike_in_two_charsets_is_refused_and_not_guessed() -> None:
    with pytest.raises(DocumentRefused, match="cannot be told for certain") as refused:
        decode("a.txt", "翌朝".encode("euc_jp"))
    assert refused.value.details["field"] == "charset"


@pytest.mark.parametrize("text", [JAPANESE, SIMPLIFIED, TRADITIONAL, "Revenue rose 3.5 percent in 2024.\r\n"])
@pytest.mark.parametrize("codec", ["utf_16_le", "utf_16_be"])
def test_utf16_is_told_without_its_mark(text: str, codec: str) -> None:
    decoded = decode("a.txt", text.encode(codec))
    assert (decoded.text, decoded.doubt) == (text, "")


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (JAPANESE, "cp932", "shift-jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (SIMPLIFIED, "gb18030", "gb18030"),
        (TRADITIONAL, "cp950", "big5"),
        (SIMPLIFIED, "utf_8", "utf-8"),
        (JAPANESE, "utf_16_le", "utf-16le"),
    ],
)
def test_a_wrong_byte_in_a_text_whose_charset_shows_is_told_with_its_place(text: str, codec: str, charset: str) -> None:
    whole = text.encode(codec)
    at = len(text[:20].encode(codec))
    raw = whole[:-1] if codec == "utf_16_le" else whole[:at] + b"\xff" + whole[at:]
    wrong = len(raw) if codec == "utf_16_le" else at + 1
    with pytest.raises(DocumentRefused, match=rf"the text is {charset}, .*\(byte {wrong} of {len(raw)}\)"):
        decode("a.txt", raw)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("L'été dernier, le café où l'élève étudiait était fermé à cause de la grève générale.", "cp1252"),
        ("Die Größe der Bücher überrascht die Schüler; für Müller wäre es schön.", "cp1252"),
        ("Привет, как дела? Это обычный русский текст.", "cp1251"),
        ("Привет, как дела? Это обычный русский текст.", "koi8_r"),
        ("한국어 문장을 검사하기 위한 텍스트입니다. 서울은 대한민국의 수도이다.", "cp949"),
    ],
)
def test_other_charsets_are_never_taken_for_east_asian_text(text: str, codec: str) -> None:
    with pytest.raises(DocumentRefused, match="charset"):
        decode("a.txt", text.encode(codec))


@pytest.mark.parametrize("charset", ["utf-7", "rot13", "zip", "base64", "klingon"])
def test_an_unknown_charset_lists_the_known_ones(charset: str) -> None:
    with pytest.raises(DocumentRefused, match=r"euc-jp.*utf-8") as refused:
        decode_text("a.txt", b"abc", charset)
    assert refused.value.details["field"] == "charset"


def test_bytes_that_are_no_text_in_their_charset_say_where() -> None:
    with pytest.raises(DocumentRefused, match=r"byte 3 of 4") as refused:
        decode_text("a.txt", b"ab\xffc", "utf-8")
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN
    with pytest.raises(DocumentRefused, match="byte order mark"):
        decode_text("a.txt", codecs.BOM_UTF16_LE + b"a")


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"%PDF-1.7\n\x00\x01", "PDF"),
        (b"PK\x03\x04\x14\x00\x06\x00", "ZIP"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG"),
        (b"\x01\x02\x03\x04\x05\x06abc", "control"),
        (b"ab\x00c\x01\x00\x00", "NUL"),
    ],
)
def test_binary_content_is_unsupported(raw: bytes, kind: str) -> None:
    with pytest.raises(DocumentRefused, match=kind) as refused:
        decode_text("a.txt", raw)
    assert refused.value.reason is ErrorReason.DOCUMENT_UNSUPPORTED


def test_a_nul_is_no_text_whatever_the_charset() -> None:
    with pytest.raises(DocumentRefused, match="NUL") as refused:
        decode_text("a.txt", "a\x00b".encode("utf-16"))
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


@given(st.binary(max_size=200))
def test_any_bytes_end_as_text_or_as_a_typed_refusal(raw: bytes) -> None:
    reason = reason_of(lambda: decode_text("a.txt", raw))
    assert reason in (None, ErrorReason.DOCUMENT_BROKEN, ErrorReason.DOCUMENT_UNSUPPORTED)
    if reason is None:
        text = decode_text("a.txt", raw)
        assert "\x00" not in text
        assert text.encode("utf-8")[:0] == b""


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("海は広い。\nSea".encode("iso2022_jp"), "海は広い。\nSea"),
        (b"\x1b$B-!2q5D\x1b(B and \x1b(I123\x1b(B\r\n\x1b$B|b66\x1b(B", "①会議 and ｱｲｳ\r\n髙橋"),
    ],
)
@pytest.mark.parametrize("charset", ["", "iso-2022-jp", "ISO-2022-JP-2"])
def test_japanese_in_seven_bits(raw: bytes, text: str, charset: str) -> None:
    decoded = decode("a.txt", raw, charset)
    assert decoded.text == text
    assert not decoded.doubt


@given(st.text(st.characters(min_codepoint=0x3041, max_codepoint=0x9FA0) | st.sampled_from("a\n ")))
def test_all_kana_and_han_of_the_plain_charset_are_read(text: str) -> None:
    raw = text.encode("iso2022_jp", "ignore")
    assert decode_iso_2022_jp(raw) == raw.decode("iso2022_jp")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x1b$B-",
        b"\x1b$B\x7f\x7f",
        b"\x1b$B\x2f\x7e\x1b(B",
        b"\x1b(I\x7e",
        b"\x1b$Ba\x1b(B",
        b"\x1b$B\xb0\xa1",
        b"\x1b$A",
    ],
)
def test_what_is_no_iso_2022_jp(raw: bytes) -> None:
    assert decode_iso_2022_jp(raw) is None
