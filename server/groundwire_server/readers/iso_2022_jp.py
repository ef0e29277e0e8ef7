"""ISO-2022-JP as mail programs write it: with half-width Katakana and the characters that Windows adds, as ① and 髙.

The codecs of Python refuse these (Microsoft's code page 50221).
"""

from __future__ import annotations

import re

__all__ = ["decode_iso_2022_jp", "is_iso_2022_jp"]

_ASCII, _KANA = b"\x1b(B", b"\x1b(I"
_DOUBLE = (b"\x1b$@", b"\x1b$B")
_SWITCH = re.compile(rb"(\x1b(?:\([BJI]|\$[@B]))")


def is_iso_2022_jp(raw: bytes) -> bool:
    """Whether bytes switch to Japanese characters; no other text holds these escapes.

    >>> is_iso_2022_jp("海 a".encode("iso-2022-jp")), is_iso_2022_jp(b"\\x1b[1mbold\\x1b[0m")
    (True, False)
    """
    return raw.isascii() and any(switch in raw for switch in _DOUBLE)


def decode_iso_2022_jp(raw: bytes) -> str | None:
    """The text; None where the bytes are none.

    >>> decode_iso_2022_jp(b"\\x1b$B-!|b\\x1b(I12\\x1b(B.")
    '①髙ｱｲ.'
    """
    pieces: list[str] = []
    mode = _ASCII
    for number, piece in enumerate(_SWITCH.split(raw)):
        if number % 2:
            mode = piece
            continue
        if b"\x1b" in piece or not piece.isascii():
            return None
        shown = _double(piece) if mode in _DOUBLE else _kana(piece) if mode == _KANA else piece
        if shown is None:
            return None
        try:
            pieces.append(shown.decode("cp932"))
        except UnicodeDecodeError:
            return None
    return "".join(pieces)


def _kana(piece: bytes) -> bytes | None:
    """Half-width Katakana in Shift_JIS; controls and blanks stay."""
    if any(byte > 0x5F for byte in piece):
        return None
    return bytes(byte | 0x80 if byte > 0x20 else byte for byte in piece)


def _double(piece: bytes) -> bytes | None:
    """Characters of two bytes in Shift_JIS; controls and blanks between them stay; None for half a character."""
    shown = bytearray()
    place = 0
    while place < len(piece):
        first = piece[place]
        if first <= 0x20:
            shown.append(first)
            place += 1
            continue
        second = piece[place + 1] if place + 1 < len(piece) else 0
        if first > 0x7E or not 0x21 <= second <= 0x7E:
            return None
        shown.append((first + 1) // 2 + (0x70 if first < 0x5F else 0xB0))
        shown.append(second + (0x7E if first % 2 == 0 else 0x1F if second < 0x60 else 0x20))
        place += 2
    return bytes(shown)
