"""Bytes of a text file to text. What cannot be decided cleanly is refused and asks for `charset`."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from groundwire_server.errors import DocumentRefused, ErrorReason

__all__ = ["CHARSETS", "decode_text"]

# Each name that a caller may give, with the codecs that are tried for it: the plain one first, then its extension.
_JAPANESE_SHIFT = ("cp932", "shift_jis_2004")
_JAPANESE_EUC = ("euc_jp", "euc_jis_2004")
_TRADITIONAL = ("cp950", "big5hkscs")
CHARSETS: dict[str, tuple[str, ...]] = {
    "ascii": ("ascii",),
    "big5": _TRADITIONAL,
    "big5-hkscs": ("big5hkscs",),
    "cp932": _JAPANESE_SHIFT,
    "cp950": _TRADITIONAL,
    "euc-jp": _JAPANESE_EUC,
    "euc-kr": ("cp949",),
    "gb18030": ("gb18030",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "iso-2022-jp": ("iso2022_jp_2004",),
    **{f"iso-8859-{part}": (f"iso8859_{part}",) for part in (*range(1, 12), *range(13, 17))},
    "koi8-r": ("koi8_r",),
    "koi8-u": ("koi8_u",),
    "shift-jis": _JAPANESE_SHIFT,
    "us-ascii": ("ascii",),
    "utf-16": ("utf_16",),
    "utf-16be": ("utf_16_be",),
    "utf-16le": ("utf_16_le",),
    "utf-32": ("utf_32",),
    "utf-8": ("utf_8",),
    **{f"windows-{page}": (f"cp{page}",) for page in (*range(1250, 1259), 874)},
    "windows-31j": _JAPANESE_SHIFT,
}

# The longer mark first: that of UTF-32 LE begins with that of UTF-16 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)

_SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an Office file"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a SQLite database"),
)

# The characters that half of any Chinese text is made of, in both scripts; what is common to both stands in both.
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经"
    "么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使"
)
_TRADITIONAL_COMMON = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經"
    "麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日軍者意無力它與長把機十民第公此已工使"
)

_SAMPLE = 20_000
_LEAST_SIGNS = 6
_LEAST_SCORE = 0.2
_LEAST_LEAD = 2.0
_LEAST_CONTROLS = 4
# Controls that text does not hold; tabs, line ends, form feeds, escapes and separators are met in logs and dumps.
_BINARY_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x7f]")


@dataclass(frozen=True, slots=True)
class _Candidate:
    charset: str
    script: str


_CANDIDATES = (
    _Candidate("shift-jis", "kana"),
    _Candidate("euc-jp", "kana"),
    _Candidate("gb18030", "simplified"),
    _Candidate("big5", "traditional"),
)


def decode_text(doc_id: str, raw: bytes, charset: str = "") -> str:
    """Text of a file, without its byte order mark, otherwise as it stands (line ends and normal forms are kept).

    Tried in this order: the charset that was given; a byte order mark; UTF-8; then Shift_JIS, EUC-JP, GB18030 and
    Big5, of which one must decode every byte and read clearly better than the others.

    Raises:
        DocumentRefused: DOCUMENT_UNSUPPORTED for binary content or an unknown charset, DOCUMENT_BROKEN for bytes that
            do not stand for text in the charset, or in none that could be told.
    """
    text = _decode_given(doc_id, raw, charset) if charset.strip() else _decode_detected(doc_id, raw)
    _refuse_binary_text(doc_id, text)
    return text


def _decode_given(doc_id: str, raw: bytes, charset: str) -> str:
    name = charset.strip().casefold().replace("_", "-")
    name = {"utf8": "utf-8", "utf16": "utf-16", "sjis": "shift-jis", "eucjp": "euc-jp", "latin-1": "iso-8859-1"}.get(
        name, name
    )
    tried = CHARSETS.get({"utf-16-le": "utf-16le", "utf-16-be": "utf-16be"}.get(name, name))
    if tried is None:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{doc_id}: charset {charset[:40]!r} is none of {', '.join(sorted(CHARSETS))}.",
            details={"field": "charset"},
        )
    for codec in tried:
        text = _strictly(raw, codec)
        if text is not None:
            return text if codec in ("utf_16", "utf_32") else text.removeprefix("\ufeff")
    raise DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{doc_id}: the bytes are no text in {name}{_where(raw, tried[0])}.",
        hint="Pass the charset in which the file was written, or none to have it detected.",
        details={"field": "charset"},
    )


def _decode_detected(doc_id: str, raw: bytes) -> str:
    for mark, codec in _MARKS:
        if raw.startswith(mark):
            text = _strictly(raw[len(mark) :], codec)
            if text is None:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_BROKEN,
                    f"{doc_id}: the byte order mark says {codec.replace('_', '-')}, and the bytes behind it are not"
                    f"{_where(raw[len(mark) :], codec)}.",
                )
            return text
    if b"\x00" in raw:
        raise _binary(doc_id, raw, "it holds NUL bytes")
    text = _strictly(raw, "utf_8")
    if text is not None:
        return text
    return _decode_east_asian(doc_id, raw)


def _decode_east_asian(doc_id: str, raw: bytes) -> str:
    read = []
    for candidate in _CANDIDATES:
        for codec in CHARSETS[candidate.charset]:
            text = _strictly(raw, codec)
            if text is not None:
                read.append((_plausibility(text, candidate.script), candidate.charset, text))
                break
    read.sort(key=lambda entry: entry[0], reverse=True)
    if read:
        best, _, text = read[0]
        second = max(0.0, read[1][0]) if len(read) > 1 else 0.0
        if best >= _LEAST_SCORE and best >= _LEAST_LEAD * second:
            return text
    if any(raw.startswith(signature) for signature, _ in _SIGNATURES):
        raise _binary(doc_id, raw, "it is no UTF-8")
    fits = sorted(charset for _, charset, _ in read)
    raise DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{doc_id}: the text is no UTF-8{_where(raw, 'utf_8')}, and its charset cannot be told for certain"
        + (f" (the bytes fit {', '.join(fits)})." if fits else "."),
        hint="Pass `charset`, e.g. shift-jis, euc-jp, gb18030, big5, iso-8859-1 or windows-1252.",
        details={"field": "charset"},
    )


def _strictly(raw: bytes, codec: str) -> str | None:
    try:
        return raw.decode(codec)
    except UnicodeDecodeError:
        return None


def _where(raw: bytes, codec: str) -> str:
    try:
        raw.decode(codec)
    except UnicodeDecodeError as error:
        return f" (byte {error.start + 1} of {len(raw)})"
    return ""


def _plausibility(text: str, script: str) -> float:
    """Share of tell-tale characters among the non-ASCII ones, less twice the share of those that text rarely holds."""
    foreign = [char for char in text if char > "\x7f"][:_SAMPLE]
    signs = sum(_is_sign(char, script) for char in foreign)
    if signs < _LEAST_SIGNS:
        return -1.0
    odd = sum(_is_odd(char) for char in foreign)
    return (signs - 2 * odd) / len(foreign)


def _is_sign(char: str, script: str) -> bool:
    if script == "kana":
        return _is_kana(char)
    return char in (_SIMPLIFIED if script == "simplified" else _TRADITIONAL_COMMON)


def _is_odd(char: str) -> bool:
    code = ord(char)
    half_width_kana = 0xFF61 <= code <= 0xFF9F
    return half_width_kana or code < 0xA0 or 0xE000 <= code <= 0xF8FF or code > 0xFFFF


def _is_kana(char: str) -> bool:
    return "\u3041" <= char <= "\u3096" or "\u30a1" <= char <= "\u30fc"


def _refuse_binary_text(doc_id: str, text: str) -> None:
    """Decoding succeeds on much that is no text: NUL, or more than one control character in fifty."""
    if "\x00" in text:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{doc_id}: the text holds a NUL character (at code point {text.index(chr(0)) + 1}).",
            hint="It may be binary, or in another charset.",
            details={"field": "charset"},
        )
    controls = sum(1 for _ in _BINARY_CONTROL.finditer(text))
    if controls >= _LEAST_CONTROLS and controls * 50 > len(text):
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED, f"{doc_id}: the content is binary: {controls} control characters."
        )


def _binary(doc_id: str, raw: bytes, why: str) -> DocumentRefused:
    kind = next((name for signature, name in _SIGNATURES if raw.startswith(signature)), "")
    looks = f", it looks like {kind}" if kind else ""
    return DocumentRefused(
        ErrorReason.DOCUMENT_UNSUPPORTED,
        f"{doc_id}: the content is no text ({why}{looks}).",
        hint="A text in UTF-16 without a byte order mark needs charset utf-16le or utf-16be.",
        details={"field": "charset"},
    )
