"""Hostile messages: nested, cut off, with headers and names without end."""

from __future__ import annotations

from email.message import EmailMessage

from tests.hostile.case import BROKEN, ENCRYPTED, LARGE, NO_TEXT, STORED, Hostile

__all__ = ["MESSAGES"]

_MIXED = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"


def _good() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "A good message", "a@example.com"
    message.set_content("Its body.\n")
    message.add_attachment("a,b\n1,2\n", subtype="csv", filename="t.csv")
    return message.as_bytes()


def _nested(levels: int, kind: str) -> bytes:
    head = b"Subject: nested\nFrom: a@b.jp\n"
    if kind == "multipart":
        return head + b"".join(_MIXED % (n, n) for n in range(levels)) + b"\ninnermost"
    return head + b"Content-Type: message/rfc822\n\nSubject: inner\n" * levels + b"\ninnermost"


def _lines_and_containers() -> bytes:
    inner = b"".join(_MIXED % (n, n) for n in range(190))
    return b"Subject: slow\n" + inner + b"\n" + b"a line\n" * 400_000


MESSAGES = (
    Hostile("empty.eml", lambda: b"", (BROKEN, NO_TEXT)),
    Hostile("no-headers.eml", lambda: b"\n\nonly a body", (BROKEN,)),
    Hostile("binary.eml", lambda: bytes(range(256)) * 100, (BROKEN,)),
    Hostile("recursive.eml", lambda: _nested(150, "message"), (STORED,)),
    Hostile("recursive-without-end.eml", lambda: _nested(10_000, "message"), (LARGE,)),
    Hostile("multipart.eml", lambda: _nested(150, "multipart"), (STORED, BROKEN)),
    Hostile("multipart-without-end.eml", lambda: _nested(10_000, "multipart"), (LARGE,)),
    Hostile("multipart-and-lines.eml", _lines_and_containers, (LARGE,)),
    Hostile("header.eml", lambda: b"Subject: " + b"x" * 5_000_000 + b"\n\nbody", (STORED,)),
    Hostile("headers.eml", lambda: b"X-A: b\n" * 200_000 + b"Subject: x\n\nbody", (STORED,)),
    Hostile("folded.eml", lambda: b"Subject: x" + b"\n y" * 100_000 + b"\n\nbody", (STORED,)),
    Hostile("words.eml", lambda: b"Subject: " + b"=?utf-8?B?5LyK?= " * 50_000 + b"\n\nbody", (STORED,)),
    Hostile("words-without-end.eml", lambda: b"Subject: " + b"=?a?q?" * 50_000 + b"\n\nbody", (STORED,)),
    Hostile("blanks.eml", lambda: b"Subject: x\n\n" + b" " * 2_000_000 + b"\n\nbody", (STORED,)),
    Hostile("comments.eml", lambda: b"Date: " + b"(" * 100_000 + b"\nFrom: " + b"(" * 100_000 + b"\n\nbody", (STORED,)),
    Hostile("addresses.eml", lambda: b"To: " + b'"a,b" <a@b.jp>, ' * 50_000 + b"\nSubject: x\n\nbody", (STORED,)),
    Hostile("no-boundary.eml", lambda: b"Subject: x\nContent-Type: multipart/mixed\n\nbody", (STORED, BROKEN)),
    Hostile("same-boundary.eml", lambda: b"Subject: x\n" + (_MIXED % (1, 1)) * 100 + b"\nbody", (STORED, BROKEN)),
    Hostile(
        "parameters.eml",
        lambda: (
            b"Subject: x\nContent-Type: text/plain; "
            + b"".join(b"name*%d=a; " % n for n in range(20_000))
            + b"\n\nbody"
        ),
        (STORED,),
    ),
    Hostile(
        "base64.eml", lambda: b"Subject: x\nContent-Transfer-Encoding: base64\n\n====A====\x80\xff", (STORED, BROKEN)
    ),
    Hostile("encoding.eml", lambda: b"Subject: x\nContent-Transfer-Encoding: rot13\n\nbody", (STORED,)),
    Hostile("charset.eml", lambda: b'Subject: x\nContent-Type: text/plain; charset="\x00kl"\n\nbody', (STORED,)),
    Hostile(
        "name.eml",
        lambda: b'Subject: x\nContent-Disposition: attachment; filename="../../etc/passwd"\n\nbody',
        (STORED,),
    ),
    Hostile("line-in-name.eml", lambda: b"Subject: =?utf-8?Q?a=0D=0AX-Injected:_1=00?=\n\nbody", (STORED,)),
    Hostile("deep-html.eml", lambda: b"Subject: x\nContent-Type: text/html\n\n" + b"<div>" * 100_000, (LARGE,)),
    Hostile(
        "encrypted.eml", lambda: b"Subject: x\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n", (ENCRYPTED,)
    ),
    Hostile("cut.eml", lambda: _good()[:-60], (STORED,)),
    Hostile("cut-in-header.eml", lambda: _good()[:20], (STORED, BROKEN, NO_TEXT)),
)
