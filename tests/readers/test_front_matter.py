from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Label
from groundwire_server.readers import ReadOptions
from groundwire_server.readers.front_matter import parse_simple_yaml, split_front_matter
from tests.support.hostile_text import hostile_text
from tests.support.refusals import reason_of

OPTIONS = ReadOptions()


def yaml(text: str) -> dict[str, object]:
    return parse_simple_yaml("a.md", text.split("\n"))[0]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: plain text", "plain text"),
        ("a: it's 5 o'clock", "it's 5 o'clock"),
        ("a: http://x.example/#top", "http://x.example/#top"),
        ("a: x # note", "x"),
        ('a: "quoted # text" # note', "quoted # text"),
        (r'a: "tab\tand \"quote\""', 'tab\tand "quote"'),
        ("a: 'it''s'", "it's"),
        ("a:", None),
        ("a: ~", None),
        ("a: true", True),
        ("a: False", False),
        ("a: 12", 12),
        ("a: -3", -3),
        ("a: 007", "007"),
        ("a: 1.50", Decimal("1.50")),
        ("a: 1e5", "1e5"),
        ("a: 2024-03-31", date(2024, 3, 31)),
        ("a: 2024-13-31", "2024-13-31"),
        ("a: []", []),
        ("a: [x, 'y, z', 2024]", ["x", "y, z", "2024"]),
        ("a:\n  - x\n  - y # note", ["x", "y"]),
        ("a:\n- x\n- 'y: z'", ["x", "y: z"]),
        ('"a b": x', "x"),
        ("地域: 東京", "東京"),
    ],
)
def test_simple_values(line: str, value: object) -> None:
    (read,) = yaml(line).values()
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    "entry",
    [
        "a: |\n  text",
        "a: >",
        "a: {b: c}",
        "a:\n  b: c",
        "a: &x y",
        "a: *x",
        "a: !!str y",
        "a: [x, [y]]",
        "a: [x",
        'a: "x',
    ],
)
def test_yaml_beyond_key_and_value_is_passed_over_with_a_warning(entry: str) -> None:
    mapping, warnings = parse_simple_yaml("a.md", [*entry.split("\n"), "b: 1"], first_line=2)
    assert mapping == {"b": 1}
    assert len(warnings) == 1
    assert "line 2" in warnings[0]


@pytest.mark.parametrize("key", ["label", "sensitivity", "title", "valid_as_of", "Label"])
def test_a_label_that_cannot_be_read_refuses_the_document(key: str) -> None:
    with pytest.raises(DocumentRefused, match="line 1") as refused:
        yaml(f"{key}: {{a: b}}")
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


@pytest.mark.parametrize("text", ["a: 1\nno entry", "a: 1\na: 2"])
def test_a_line_that_is_no_entry_refuses_the_document(text: str) -> None:
    with pytest.raises(DocumentRefused, match="line 2"):
        yaml(text)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\nlabel: public\n---\nBody", "Body"),
        ("---\r\nlabel: public\r\n---\r\nBody", "Body"),
        ("---\nlabel: public\n...\nBody", "Body"),
        ("---\n# note\n\nlabel: public\n---", ""),
        ('+++\nlabel = "public"\n+++\nBody', "Body"),
        ('+++ \nlabel = "public"\n+++ \nBody', "Body"),
    ],
)
def test_the_body_begins_behind_the_front_matter(text: str, body: str) -> None:
    front = split_front_matter("a.md", text, OPTIONS)
    assert text[front.body_start :] == body
    assert front.metadata.label is Label.PUBLIC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Body",
        "---\nA rule and then text\n---\nBody",
        "---\nnot closed: 1\n",
        "+++\nx = 1",
        " ---\na: 1\n---\n",
        "----\n",
    ],
)
def test_what_is_no_front_matter_stays_in_the_body(text: str) -> None:
    assert split_front_matter("a.md", text, OPTIONS).body_start == 0


@given(hostile_text())
def test_any_text_is_split_or_refused(text: str) -> None:
    reason = reason_of(lambda: split_front_matter("a.md", text, OPTIONS))
    assert reason in (None, ErrorReason.DOCUMENT_BROKEN)
    assert reason or 0 <= split_front_matter("a.md", text, OPTIONS).body_start <= len(text)


@given(hostile_text(30))
def test_any_lines_between_the_fences_are_read_or_refused(inside: str) -> None:
    texts = [f"{fence}\nkey: x\n{inside}\n{fence}\nBody" for fence in ("---", "+++")]
    reasons = {reason_of(lambda text=text: split_front_matter("a.md", text, OPTIONS)) for text in texts}  # type: ignore[misc]
    assert reasons <= {None, ErrorReason.DOCUMENT_BROKEN}
