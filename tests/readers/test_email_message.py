from __future__ import annotations

import datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, Source, WarningKind
from groundwire_server.readers.email_message import EmailReader
from tests.support.hostile_text import hostile_text
from tests.support.refusals import reason_of


def read(raw: bytes | EmailMessage) -> Document:
    content = raw.as_bytes() if isinstance(raw, EmailMessage) else raw
    (document,) = EmailReader().read(Source("mail.eml", content))
    assert isinstance(document, Document)
    return document


def place_of(document: Document, text: str) -> dict[str, str]:
    start = document.text.index(text)
    return dict(document.places.locate(Span(start, start + len(text))))


def message(subject: str = "四半期の報告 Q1", body: str = "Dear all,\n\nsales rose.\n> quoted\n") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = subject, "伊藤 R <Ito@example.jp>"
    mail["To"], mail["Date"] = 'a@example.com, "B, b" <b@example.com>', "Sun, 31 Mar 2024 09:00:00 +0900"
    mail["Message-ID"] = "<x1@example.jp>"
    mail.set_content(body)
    return mail


def test_headers_are_text_and_attributes_and_the_body_has_its_paragraphs() -> None:
    document = read(message())
    assert document.text == (
        "Subject: 四半期の報告 Q1\nFrom: 伊藤 R <Ito@example.jp>\n"
        'To: a@example.com, "B, b" <b@example.com>\nDate: Sun, 31 Mar 2024 09:00:00 +0900\n'
        "\nDear all,\n\nsales rose.\n> quoted"
    )
    assert document.title == "四半期の報告 Q1"
    assert place_of(document, "From:") == {"part": "headers", "para": "1"}
    assert place_of(document, "sales rose") == {"part": "body", "para": "2"}
    assert {each.name: each.value for each in document.attributes} == {
        "mail_date": datetime.date(2024, 3, 31),
        "mail_from": "ito@example.jp",
        "mail_id": "x1@example.jp",
        "mail_to": ("a@example.com", "b@example.com"),
    }


def test_a_plain_form_that_only_stands_in_for_the_page_is_not_all_that_is_read() -> None:
    mail = message(body="This message needs HTML.\n")
    mail.add_alternative(f"<html><body><p>{'売上高は増えた。' * 40}</p></body></html>", subtype="html")
    document = read(mail)
    assert "売上高は増えた。" in document.text
    assert "needs HTML" not in document.text
    assert [warning.kind for warning in document.warnings] == [WarningKind.PART_SKIPPED]


def test_what_hangs_on_the_form_that_is_not_read_is_read_or_told_of() -> None:
    """As Apple's program sends it: the page and the attached files are one alternative together."""
    rich = EmailMessage()
    rich.set_content("<p>rich body</p>", subtype="html")
    rich.add_related(b"GIF89a", maintype="image", subtype="gif", cid="<1>")
    rich.add_attachment(b"Week,People\n10,23500\n", maintype="text", subtype="csv", filename="march.csv")
    rich.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="plan.pdf")
    mail = message(body="plain body\n")
    mail.make_alternative()
    mail.attach(rich)
    document = read(mail)
    assert "plain body" in document.text
    assert "rich body" not in document.text
    assert place_of(document, "Week: 10; People: 23500") == {"part": "march.csv", "row": "2"}
    assert [warning.locator for warning in document.warnings] == ["mail.eml#part=plan.pdf"]


def test_of_alternatives_the_plain_one_is_read_unless_it_is_blank() -> None:
    mail = message(body="plain body\n")
    mail.add_alternative("<html><body><p>rich body</p></body></html>", subtype="html")
    assert "plain body" in read(mail).text
    assert "rich body" not in read(mail).text
    mail = message(body="\n")
    mail.add_alternative(
        "<h1>題</h1><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", subtype="html"
    )
    document = read(mail)
    assert place_of(document, "A: 1; B: 2") == {"part": "body", "para": "3", "table": "1", "row": "2"}
    assert document.places.heading(Span(document.text.index("A: 1"), len(document.text))) == "題"


def test_attached_texts_are_read_and_others_named() -> None:
    mail = message()
    mail.add_attachment("Region,Q1\nEMEA,12\n", subtype="csv", filename="sales.csv")
    mail.add_attachment("売上は増えた。\n".encode("cp932"), maintype="text", subtype="plain", filename="注.txt")
    mail.add_attachment("again\n", filename="注.txt")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="../x/報告.pdf")
    mail.add_attachment(b"a,b\n1,2\n", maintype="application", subtype="octet-stream", filename="t.csv")
    document = read(mail)
    assert place_of(document, "Region: EMEA; Q1: 12") == {"part": "sales.csv", "row": "2"}
    assert place_of(document, "売上は増えた。") == {"part": "注.txt", "para": "1"}
    assert place_of(document, "again") == {"part": "注.txt (2)", "para": "1"}
    assert place_of(document, "a: 1; b: 2") == {"part": "t.csv", "row": "2"}
    assert [(each.locator, each.kind) for each in document.warnings] == [
        ("mail.eml#part=報告.pdf", WarningKind.PART_SKIPPED)
    ]
    assert "application/pdf, 8 bytes" in document.warnings[0].message


def test_a_message_within_has_its_own_headers_and_parts() -> None:
    mail, inner = message(), message("中の件名", "inner body\n")
    inner.add_attachment("deep note\n", filename="note.txt")
    mail.add_attachment(inner)
    document = read(mail)
    assert place_of(document, "中の件名") == {"part": "message 1/headers", "para": "1"}
    assert place_of(document, "inner body") == {"part": "message 1/body", "para": "1"}
    assert place_of(document, "deep note") == {"part": "message 1/note.txt", "para": "1"}


def test_messages_within_messages_end_at_a_depth() -> None:
    mail = message(body="innermost\n")
    for depth in range(15):
        outer = message(f"level {depth}", f"body {depth}\n")
        outer.add_attachment(mail)
        mail = outer
    document = read(mail)
    assert "innermost" not in document.text
    assert "body 14" in document.text
    assert [each.kind for each in document.warnings] == [WarningKind.PART_SKIPPED]
    assert "within 10 others" in document.warnings[0].message


@pytest.mark.parametrize("codec", ["utf_8", "cp932", "euc_jp", "iso2022_jp"])
@pytest.mark.parametrize("said", ["", "klingon", "us-ascii", "right"])
def test_the_charset_of_a_part_is_the_one_that_fits(codec: str, said: str) -> None:
    text = "当社の売上高は前年度から増えた。海外での販売が好調だったためである。"
    charset = {"right": codec.replace("iso2022_jp", "iso-2022-jp")}.get(said, said)
    head = f"; charset={charset}" if charset else ""
    raw = f"Subject: x\r\nContent-Type: text/plain{head}\r\n\r\n".encode() + text.encode(codec)
    if codec == "iso2022_jp" and said != "right":
        return  # ASCII with escapes: without its charset said it is only what it looks like
    assert read(raw).text == f"Subject: x\n\n{text}"


def test_headers_in_raw_bytes_and_broken_words_are_read_as_far_as_they_go() -> None:
    raw = (
        "Subject: 年次報告\r\n".encode("cp932") + b"From: =?utf-8?B?5LyK?= =?klingon?Q?x?= <a@b.jp>\r\n"
        b"To: =?utf-8?B?broken\r\nDate: yesterday\r\n\r\nbody text\r\n"
    )
    document = read(raw)
    assert "年次報告" in document.text
    assert "伊" in document.text
    assert "=?utf-8?B?broken" in document.text
    assert [each.name for each in document.attributes] == ["mail_from"]


def test_a_header_without_end_is_cut_and_told() -> None:
    document = read(b"Subject: " + b"x" * 1_000_000 + b"\r\nFrom: a@b.jp\r\n\r\nbody\r\n")
    assert len(document.text) < 20_000
    assert "Subject is very long" in document.warnings[0].message


def test_a_message_that_is_cut_off_is_read_and_told() -> None:
    mail = message()
    mail.add_attachment("Region,Q1\nEMEA,12\n", subtype="csv", filename="sales.csv")
    raw = mail.as_bytes()
    document = read(raw[: raw.index(b"EMEA")])
    assert "sales rose" in document.text
    assert {each.kind for each in document.warnings} == {WarningKind.TEXT_UNCERTAIN}
    assert "damaged" in document.warnings[0].message


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", ErrorReason.DOCUMENT_BROKEN),
        (b"just a text\n\nwithout headers", ErrorReason.DOCUMENT_BROKEN),
        (b"X-Mine: 1\n\nbody", ErrorReason.DOCUMENT_BROKEN),
        (b"Received: from a\n\n \n", ErrorReason.DOCUMENT_NO_TEXT),
        (b"Subject: x\nContent-Type: multipart/encrypted; boundary=b\n\n--b--\n", ErrorReason.DOCUMENT_ENCRYPTED),
        (b"To: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped\n\nA", ErrorReason.DOCUMENT_ENCRYPTED),
        (b"Subject: x\n" + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 201, ErrorReason.DOCUMENT_TOO_LARGE),
        (b"To: x\nContent-Type: multipart/mixed; boundary=b\n" + b"\n--b\n\nx" * 2001, ErrorReason.DOCUMENT_TOO_LARGE),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(raw: bytes, reason: ErrorReason) -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(raw)
    assert refused.value.reason is reason
    assert refused.value.message.startswith("mail.eml: ")


@given(
    st.binary(max_size=300),
    st.sampled_from((b"", b"Subject: x\n", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n")),
)
def test_any_bytes_end_as_text_or_as_a_typed_refusal(raw: bytes, head: bytes) -> None:
    assert reason_of(lambda: read(head + raw)) in (None, *ErrorReason)


@given(hostile_text())
def test_any_body_keeps_its_lines_with_content(text: str) -> None:
    raw = b"Subject: x\nContent-Type: text/plain; charset=utf-8\n\n" + text.encode()
    if reason_of(lambda: read(raw)) is not None:
        return
    document = read(raw)
    if any(each.kind is WarningKind.PART_SKIPPED for each in document.warnings):
        return  # NUL and the like: no text
    assert document.text[document.body.start : document.body.end] == document.text
    for line in text.replace("\r", "\n").split("\n"):
        words = "".join(char for char in line if char.isalnum())
        assert words in "".join(char for char in document.text if char.isalnum())
