"""All hostile files, and good ones of every kind to stand beside them."""

from __future__ import annotations

from email.message import EmailMessage

from tests.hostile.case import Hostile
from tests.hostile.messages import MESSAGES
from tests.hostile.packed import PACKED, good_docx, good_epub, good_pptx, good_xlsx
from tests.hostile.pdfs import PDFS, good_pdf
from tests.hostile.texts import TEXTS

__all__ = ["CORPUS", "GROUPS", "good_files"]

GROUPS: tuple[tuple[Hostile, ...], ...] = (TEXTS, PACKED, MESSAGES, PDFS)
CORPUS: tuple[Hostile, ...] = tuple(case for group in GROUPS for case in group)


def good_files() -> dict[str, bytes]:
    """One good file of each kind that is read."""
    message = EmailMessage()
    message["Subject"], message["From"] = "A good message", "a@example.com"
    message.set_content("Its body is good.\n")
    return {
        "good.txt": b"A good text.\n",
        "good.md": b"# Good\n\nA good page.\n",
        "good.jsonl": b'{"doc_id": "good-line", "text": "A good line."}\n',
        "good.csv": b"Region,Q1\nEMEA,12\n",
        "good.xlsx": good_xlsx(),
        "good.html": b"<h1>Good</h1><p>A good page of the web.</p>",
        "good.pdf": good_pdf(),
        "good.docx": good_docx(),
        "good.pptx": good_pptx(),
        "good.epub": good_epub(),
        "good.eml": message.as_bytes(),
    }
