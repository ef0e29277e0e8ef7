"""Bytes of a text file to text. A charset that is guessed and in doubt is named; what cannot be told is refused."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.charset_guess import Guess, guess_charset
from groundwire_server.readers.iso_2022_jp import decode_iso_2022_jp, is_iso_2022_jp

__all__ = ["CHARSETS", "Decoded", "decode", "decode_text"]

# Each name that a caller may give, with the codecs that are tried for it: the plain one first, then its extension.
_JAPANESE_SHIFT = ("cp932", "shift_jis_2004")
_JAPANESE_EUC = ("euc_jp", "euc_jis_2004")
_TRADITIONAL = ("cp950", "big5hkscs")
_WINDOWS_JIS = "cp50221"
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
    "iso-2022-jp": ("iso2022_jp_2004", "iso2022_jp_2", _WINDOWS_JIS),
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

_ALIASES = {
    "eucjp": "euc-jp",
    **{f"iso-2022-jp-{kind}": "iso-2022-jp" for kind in ("1", "2", "3", "2004", "ext")},
    "ks-c-5601-1987": "euc-kr",
    "latin-1": "iso-8859-1",
    "sjis": "shift-jis",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "utf16": "utf-16",
    "utf8": "utf-8",
}

# The longer mark first: that of UTF-32 LE begins with that of UTF-16 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)

# What Python makes of the single bytes 80, A0 and FD to FF, which stand for nothing in Shift_JIS.
_NO_SHIFT_JIS = re.compile("[\x80\xa0\uf8f0-\uf8f3]")

# Forms that look like UTF-8 and are forbidden there.
_TOO_LONG = re.compile(rb"[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]")

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

_PASS_IT = "Pass `charset`, e.g. shift-jis, euc-jp, gb18030, big5, utf-16le, iso-8859-1 or windows-1252."
_ANY_OF = {"field": "charset", "valid": ", ".join(sorted(CHARSETS))}
_LEAST_CONTROLS = 4
# Controls that text does not hold; tabs, line ends, form feeds, escapes and separators are met in logs and dumps.
_BINARY_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x7f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a file, and the charset that it was read in.

    doubt: a sentence for people where the charset was guessed and another one reads nearly as well; empty: none.
    """

    text: str
    charset: str
    doubt: str = ""


def decode_text(doc_id: str, raw: bytes, charset: str = "") -> str:
    """Text of a file whose charset is given or certain: what `decode` reads, and a doubtful guess is refused.

    Raises:
        DocumentRefused: as `decode`, and DOCUMENT_BROKEN for a charset that is in doubt.
    """
    decoded = decode(doc_id, raw, charset)
    if decoded.doubt:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN, f"{doc_id}: {decoded.doubt}.", hint=_PASS_IT, details=_ANY_OF
        )
    return decoded.text


def decode(doc_id: str, raw: bytes, charset: str = "") -> Decoded:
    """Text of a file, without its byte order mark, otherwise as it stands (line ends and normal forms are kept).

    Tried in this order: the charset that was given; a byte order mark; the escapes of ISO-2022-JP; UTF-8; then what
    reads best of Shift_JIS, EUC-JP, GB18030, Big5 and UTF-16 without a mark (`guess_charset`).

    Raises:
        DocumentRefused: DOCUMENT_UNSUPPORTED for binary content or an unknown charset, DOCUMENT_BROKEN for bytes that
            do not stand for text in the charset (with the place of the first), or in none that could be told.
    """
    decoded = _decode_given(doc_id, raw, charset) if charset.strip() else _decode_detected(doc_id, raw)
    _refuse_binary_text(doc_id, decoded.text)
    return decoded


def _decode_given(doc_id: str, raw: bytes, charset: str) -> Decoded:
    name = charset.strip().casefold().replace("_", "-")
    name = _ALIASES.get(name, name)
    tried = CHARSETS.get(name)
    if tried is None:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{doc_id}: charset {charset[:40]!r} is none of {', '.join(sorted(CHARSETS))}.",
            hint="Pass one of these, or none to have it detected.",
            details={"field": "charset"},
        )
    for codec in tried:
        text = _strictly(raw, codec)
        if text is not None:
            return Decoded(text if codec in ("utf_16", "utf_32") else text.removeprefix("\ufeff"), name)
    raise DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{doc_id}: the bytes are no text in {name}{_where(raw, tried[0])}.",
        hint="Pass the charset in which the file was written, or none to have it detected.",
        details={"field": "charset"},
    )


def _decode_detected(doc_id: str, raw: bytes) -> Decoded:
    for mark, codec in _MARKS:
        if raw.startswith(mark):
            text = _strictly(raw[len(mark) :], codec)
            name = codec.replace("_", "-")
            if text is None:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_BROKEN,
                    f"{doc_id}: the byte order mark says {name}, and the bytes behind it are not"
                    f"{_where(raw[len(mark) :], codec)}.",
                    hint="Write the file again; it may be cut off.",
                )
            return Decoded(text, name)
    if is_iso_2022_jp(raw):
        return _decode_given(doc_id, raw, "iso-2022-jp")
    text = None if b"\x00" in raw else _strictly(raw, "utf_8")
    return Decoded(text, "utf-8") if text is not None else _decode_guessed(doc_id, raw)


def _decode_guessed(doc_id: str, raw: bytes) -> Decoded:
    signed = any(raw.startswith(signature) for signature, _ in _SIGNATURES)
    guess = None if signed else _almost_utf8(raw) or guess_charset(raw)
    if guess is None and (signed or b"\x00" in raw):
        raise _binary(doc_id, raw, "it holds NUL bytes" if b"\x00" in raw else "it is no UTF-8")
    if guess is None:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{doc_id}: the text is no UTF-8{_where(raw, 'utf_8')}, and its charset cannot be told for certain.",
            hint=_PASS_IT,
            details=_ANY_OF,
        )
    for codec in CHARSETS[guess.charset]:
        text = _strictly(raw, codec)
        if text is not None:
            doubt = f"its charset was guessed as {guess.charset}; {guess.rival} fits nearly as well"
            return Decoded(text, guess.charset, "" if guess.sure else doubt)
    raise DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{doc_id}: the text is {guess.charset}, but for a wrong byte{_where(raw, CHARSETS[guess.charset][0])}.",
        hint="Write the file again, or pass the `charset` that it is in.",
        details={"field": "charset"},
    )


def _almost_utf8(raw: bytes) -> Guess | None:
    """UTF-8 that writes a character in too many bytes, or half a character: an attack, or a program with a fault."""
    rest = _TOO_LONG.sub(b"", raw)
    return Guess("utf-8", True, "") if rest != raw and _strictly(rest, "utf_8") is not None else None


def _strictly(raw: bytes, codec: str) -> str | None:
    if codec == _WINDOWS_JIS:
        return decode_iso_2022_jp(raw)
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if codec == "cp932" and _NO_SHIFT_JIS.search(text) else text


def _where(raw: bytes, codec: str) -> str:
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        return f" (byte {error.start + 1} of {len(raw)})"
    wrong = _NO_SHIFT_JIS.search(text)
    return f" (byte {len(text[: wrong.start()].encode(codec)) + 1} of {len(raw)})" if wrong else ""


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
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{doc_id}: the content is binary: {controls} control characters.",
            hint="It is in another charset, or no text.",
        )


def _binary(doc_id: str, raw: bytes, why: str) -> DocumentRefused:
    kind = next((name for signature, name in _SIGNATURES if raw.startswith(signature)), "")
    looks = f", it looks like {kind}" if kind else ""
    return DocumentRefused(
        ErrorReason.DOCUMENT_UNSUPPORTED,
        f"{doc_id}: the content is no text ({why}{looks}).",
        hint="If it is text, pass the `charset` that it is in.",
        details={"field": "charset"},
    )
