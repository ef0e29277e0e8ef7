"""A process that takes in parts, says what is acknowledged, and is killed at a named point.

python -m tests.ingest.dying_ingest FOLDER POINT before|after CALL
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from groundwire_server.ingest import Ack, DocumentHead, DocumentIngest, DocumentOutcome, IngestEvent, IngestLimits
from tests.ingest.support import make_library, opened
from tests.library.dying_writer import arm, say

FILES = {
    "one.txt": b"one\n" * 400,
    "two.md": "# 題\n\n売上高は増えた。\n".encode() * 60,
    "bad.txt": b"",
    "lines.jsonl": b"\n".join(b'{"doc_id": "line %d", "text": "x"}' % number for number in range(20)),
    "three.txt": b"three",
}
PART = 100
LIMITS = IngestLimits(group_parts=4)


def parts() -> list[tuple[DocumentHead | None, bytes, bool]]:
    """Head, content and whether it is the last one of each part."""
    cut: list[tuple[DocumentHead | None, bytes, bool]] = []
    for doc_id, raw in FILES.items():
        starts = range(0, max(1, len(raw)), PART)
        cut += [
            (DocumentHead(doc_id) if start == 0 else None, raw[start : start + PART], start == starts[-1])
            for start in starts
        ]
    return cut


def send_rest(ingest: DocumentIngest, events: list[IngestEvent]) -> None:
    """Send what is not durable yet and finish; `events` grows with all that is told."""
    for seq, (head, content, last) in enumerate(parts(), 1):
        if seq > ingest.durable_seq:
            events += ingest.feed(seq, head, content, last)
            report(events)
    events += ingest.finish(len(parts()))


def report(events: list[IngestEvent]) -> None:
    """Tell the other process, line by line, and forget."""
    for event in events:
        if isinstance(event, Ack):
            say(f"ack {event.durable_seq}")
        elif isinstance(event, DocumentOutcome):
            say(f"outcome {json.dumps([event.seq, event.doc_id, event.revision, event.chunks, event.error is None])}")
    events.clear()


def main() -> None:
    folder, point, moment, call = sys.argv[1:]
    library = make_library(Path(folder))
    arm(point, moment, int(call))
    with opened(library, limits=LIMITS) as (ingest, events):
        send_rest(ingest, events)
        report(events)
    say("survived")


if __name__ == "__main__":
    main()
