"""Hostile texts: bytes that are none, characters that hide, lines and nests without end."""

from __future__ import annotations

import codecs
import gzip

from tests.hostile.case import BROKEN, LARGE, NO_TEXT, STORED, UNSUPPORTED, Hostile

__all__ = ["TEXTS"]


def _gzip_bomb() -> bytes:
    line = gzip.compress(b" " * (1 << 20), 9)
    return line * 300


TEXTS = (
    Hostile("empty.txt", lambda: b"", (NO_TEXT,)),
    Hostile("empty.csv", lambda: b"", (NO_TEXT,)),
    Hostile("empty.html", lambda: b"", (NO_TEXT,)),
    Hostile("one-byte.txt", lambda: b"x", (STORED,)),
    Hostile("one-byte-that-is-none.txt", lambda: b"\xff", (BROKEN,)),
    Hostile("nul.txt", lambda: b"\x00", (UNSUPPORTED, BROKEN)),
    Hostile("nul-within.md", lambda: b"# A title\n\nbefore \x00 behind\n", (UNSUPPORTED, BROKEN)),
    Hostile("many-nuls.txt", lambda: b"\x00" * 1_000_000, (UNSUPPORTED, BROKEN)),
    Hostile("lone-surrogate.txt", lambda: b"half \xed\xa0\x80 a character", (BROKEN,)),
    Hostile("overlong.txt", lambda: b"..\xc0\xaf..\xc0\xafetc, and more text behind it", (BROKEN,)),
    Hostile("five-byte-form.txt", lambda: b"text \xf8\x88\x80\x80\x80 text", (BROKEN,)),
    Hostile("mark-only.txt", lambda: codecs.BOM_UTF8, (NO_TEXT,)),
    Hostile("mark-of-utf16-only.txt", lambda: codecs.BOM_UTF16_LE, (NO_TEXT,)),
    Hostile("half-a-unit.txt", lambda: "日本の人口".encode("utf-16")[:-1], (BROKEN,)),
    Hostile("mark-that-lies.txt", lambda: codecs.BOM_UTF16_BE + b"plain ASCII behind it", (STORED, BROKEN)),
    Hostile("mark-of-utf32.txt", lambda: codecs.BOM_UTF32_LE + b"\x00\x00\x11\x00", (BROKEN,)),
    Hostile("controls.txt", lambda: bytes(range(1, 32)) * 100, (UNSUPPORTED,)),
    Hostile("bidi.txt", lambda: "a\u202egnihton\u202c\u200b\u2066x\u2069 日本\u200d".encode(), (STORED,)),
    Hostile("combining.txt", lambda: ("e" + "\u0301" * 100_000).encode(), (STORED,)),
    Hostile("one-line.txt", lambda: b"x" * 3_000_000, (STORED,)),
    Hostile("line-ends.txt", lambda: b"\r" * 100_000 + b"text" + b"\n\r" * 100_000, (STORED,)),
    Hostile("separators.txt", lambda: "a\u2028b\u2029c\x85d\x0be\x0cf".encode(), (STORED,)),
    Hostile("escapes.log", lambda: b"\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m words of a log that go on\n", (STORED,)),
    Hostile("mojibake.txt", lambda: "日本語の文書".encode().decode("latin-1").encode(), (STORED,)),
    Hostile("aliases.md", lambda: _front("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"), (STORED,)),
    Hostile("label-that-hides.md", lambda: _front("label: [public, restricted]"), (BROKEN, STORED)),
    Hostile("front-without-end.md", lambda: b"---\n" + b"key: value\n" * 50_000, (STORED, BROKEN)),
    Hostile("number-without-end.md", lambda: b"+++\nsize = " + b"9" * 100_000 + b"\n+++\nText.", (STORED, BROKEN)),
    Hostile("nested-toml.md", lambda: b"+++\na = " + b"[" * 50_000 + b"\n+++\nText.", (BROKEN,)),
    Hostile("hashes.md", lambda: b"#" * 1_000_000 + b" heading\n\ntext", (STORED,)),
    Hostile("emphasis.md", lambda: b"# " + b"*" * 20_000 + b"[" * 20_000 + b"\n\ntext", (STORED,)),
    Hostile("deep.jsonl", lambda: b'{"doc_id": "deep", "text": "t", "meta": ' + b"[" * 100_000, (BROKEN,)),
    Hostile("deep-closed.jsonl", lambda: _deep(50_000), (BROKEN,)),
    Hostile("surrogate.jsonl", lambda: b'{"doc_id": "s", "text": "\\ud800 half"}', (BROKEN,)),
    Hostile("nul.jsonl", lambda: b'{"doc_id": "n", "text": "a\\u0000b"}', (BROKEN,)),
    Hostile("numbers.jsonl", lambda: b'{"doc_id": "e", "text": "t", "meta": {"n": 1e999999999}}', (STORED, BROKEN)),
    Hostile("nan.jsonl", lambda: b'{"doc_id": "n", "text": "t", "meta": {"n": NaN}}', (BROKEN,)),
    Hostile("twice.jsonl", lambda: b'{"doc_id": "hostile-twice", "text": "t"}\n' * 2, (STORED, BROKEN)),
    Hostile("bomb.jsonl.gz", _gzip_bomb, (LARGE,)),
    Hostile("cut.jsonl.gz", lambda: gzip.compress(b'{"doc_id": "c", "text": "t"}')[:-9], (BROKEN,)),
    Hostile("no-gzip.jsonl.gz", lambda: b"\x1f\x8b\x08\x00junk", (BROKEN,)),
    Hostile("columns.csv", lambda: b",".join(b"%d" % n for n in range(100_000)) + b"\n1,2\n", (LARGE,)),
    Hostile("delimiters.csv", lambda: b"," * 2_000_000, (LARGE, NO_TEXT)),
    Hostile("cell.csv", lambda: b'a,b\n"' + b"x" * 2_000_000 + b'",1\n', (LARGE,)),
    Hostile("quotes.csv", lambda: b'a,b\nx,"y\n' * 100_000, (BROKEN,)),
    Hostile("all-quotes.csv", lambda: b'"' * 100_001, (LARGE, BROKEN, STORED)),
    Hostile("formulas.csv", lambda: b"name,sum\n=cmd|' /C calc'!A0,@SUM(1)\n+1,-1\n", (STORED,)),
    Hostile("numbers-that-are-none.csv", lambda: (b"1" + b" " * 120_000 + b"x,y\n") * 20, (STORED,)),
    Hostile(
        "quotes-over-lines.csv", lambda: b'a,"' + b'b","c\n' * 20_000 + b'"x"y,z\n' * 20_000, (STORED, BROKEN, LARGE)
    ),
    Hostile("heads.csv", lambda: _repeated_heads(), (LARGE,)),
    Hostile("rows.tsv", lambda: b"\t\n" * 1_000_000, (NO_TEXT,)),
    Hostile("nul.csv", lambda: b"a,b\n1,\x002\n", (UNSUPPORTED, BROKEN)),
    Hostile("deep.html", lambda: b"<div>" * 200_000 + b"text", (LARGE,)),
    Hostile("tables.html", lambda: b"<table><tr><td>" * 20_000 + b"text", (LARGE,)),
    Hostile("spans.html", lambda: b"<table><tr><td colspan=99999999 rowspan=99999999>x<td>y" * 300, (STORED, LARGE)),
    Hostile("attributes.html", lambda: b"<p " + b"a=b " * 300_000 + b">text</p>", (STORED, LARGE, BROKEN)),
    Hostile("script.html", lambda: b"<script>alert('only this')</script>", (NO_TEXT,)),
    Hostile("entities.html", lambda: _html_entities(), (STORED, BROKEN)),
    Hostile("charset.html", lambda: b"<meta charset=klingon><p>text in ASCII</p>", (STORED,)),
    Hostile("charset-that-lies.html", lambda: b"<meta charset=utf-16><p>text in ASCII</p>", (STORED,)),
    Hostile("comment.html", lambda: b"<!--" + b"-" * 1_000_000, (NO_TEXT, BROKEN)),
    Hostile("picture.md", lambda: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), (UNSUPPORTED,)),
    Hostile("program.txt", lambda: b"\x7fELF\x02\x01\x01" + bytes(64), (UNSUPPORTED,)),
    Hostile("database.txt", lambda: b"SQLite format 3\x00" + bytes(range(256)), (UNSUPPORTED,)),
    Hostile("unknown.zzz", lambda: b"text", (UNSUPPORTED,)),
)


def _front(entries: str) -> bytes:
    return f"---\n{entries}\n---\n\nText behind the front matter.\n".encode()


def _deep(levels: int) -> bytes:
    return b'{"doc_id": "deep", "text": "t", "meta": {"a": ' + b"[" * levels + b"]" * levels + b"}}"


def _repeated_heads() -> bytes:
    heads = ",".join(f"a head that is as long as a head may well be {number:05}" for number in range(4000))
    return (heads + "\n" + (",".join("1" * 4000) + "\n") * 200).encode()


def _html_entities() -> bytes:
    names = "abcdefghijkl"
    lines = [f'<!ENTITY {names[n]} "{f"&{names[n - 1]};" * 10}">' for n in range(1, len(names))]
    return ('<!DOCTYPE html [<!ENTITY a "ha">' + "".join(lines) + "]><p>before &l; behind</p>").encode()
