from __future__ import annotations

import hashlib

import pytest
from hypothesis import given

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Span
from groundwire_server.readers import Document, MarkdownReader, Source
from groundwire_server.readers.headings import heading_paths
from groundwire_server.readers.markdown import find_headings
from tests.support.hostile_text import hostile_text

FILE = """\
---
label: confidential
topic: results
---
Before any heading.

# Report *2024*

Intro.

## Sales #

```python
# no heading
```

### Japan

売上高は増えた。

Costs
-----

They fell.
"""


def read(text: str, doc_id: str = "a/notes.md") -> Document:
    (document,) = MarkdownReader().read(Source(doc_id, text.encode()))
    assert isinstance(document, Document)
    return document


def heading_at(document: Document, words: str) -> str:
    start = document.text.index(words)
    return document.places.heading(Span(start, start + len(words)))


def test_a_file_with_everything() -> None:
    document = read(FILE)
    assert document.text == FILE
    assert document.raw_sha256 == hashlib.sha256(FILE.encode()).digest()
    assert (document.title, document.label) == ("Report 2024", Label.CONFIDENTIAL)
    assert document.attributes == (Attribute("topic", "results"),)
    assert document.text[document.body.start :].startswith("Before")
    assert heading_at(document, "Before") == ""
    assert heading_at(document, "Intro") == "Report 2024"
    assert heading_at(document, "# no heading") == "Report 2024 > Sales"
    assert heading_at(document, "売上高") == "Report 2024 > Sales > Japan"
    assert heading_at(document, "They fell") == "Report 2024 > Costs"
    start = document.text.index("売上高")
    assert document.places.locate(Span(start, start + 3)) == (("line", "19"),)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A", [(1, "A")]),
        ("####### A", []),
        ("#A", []),
        ("#", [(1, "")]),
        ("# A ##", [(1, "A")]),
        ("# A#", [(1, "A#")]),
        ("   ## A", [(2, "A")]),
        ("    # A", []),
        ("A\n=", [(1, "A")]),
        ("A\nB\n---", [(2, "A B")]),
        ("A\n\n---", []),
        ("- A\n---", []),
        ("| a |\n|---|", []),
        ("# **A** `b` [c](http://d)", [(1, "A b c")]),
        ("# snake_case_name", [(1, "snake_case_name")]),
        ("~~~\n# A\n```\n# B\n~~~\n# C", [(1, "C")]),
        ("```\n# A", []),
        ("# A\r\n## B\r# C", [(1, "A"), (2, "B"), (1, "C")]),
        ("# 売上高 😀", [(1, "売上高 😀")]),
        ("1. Numbered\n---", []),
        ("1.5 times as much\n---", [(2, "1.5 times as much")]),
    ],
)
def test_headings(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(heading.level, heading.title) for heading in find_headings(text)] == headings


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading", "From front matter"),
        ("text\n## Heading", "Heading"),
        ("#\ntext", "notes"),
        ("text", "notes"),
    ],
)
def test_the_title(text: str, title: str) -> None:
    assert read(text).title == title


def test_a_file_with_front_matter_alone_holds_no_text() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read("---\ntitle: x\n---\n \n")
    assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT


def test_warnings_name_the_file() -> None:
    (warning,) = read("---\nnested:\n  a: 1\n---\ntext").warnings
    assert warning.locator == "a/notes.md"
    assert "nested" in warning.message


@given(hostile_text())
def test_headings_come_in_order_and_start_lines(text: str) -> None:
    starts = [heading.start for heading in find_headings(text)]
    assert starts == sorted(set(starts))
    assert all(start == 0 or text[start - 1] in "\r\n" for start in starts)
    assert len(list(heading_paths(list(find_headings(text))))) == len(starts)


def test_hostile_titles_take_no_time() -> None:
    for title in ("[" * 5000, "*" * 5000, "[](" * 2000, "`_*" * 2000, "_a" * 3000):
        list(find_headings(f"# {title}\n{title}\n==="))
