"""A process that takes in files of figures part by part, and is killed at a named point.

python -m tests.ingest.dying_facts FOLDER POINT before|after CALL
"""

from __future__ import annotations

import sys
from pathlib import Path

from groundwire_server.ingest import Ack, FactIngest, IngestEvent, RowsRejected
from tests.ingest.fact_stream import FILES, LIMITS, opened_facts, parts_of
from tests.ingest.support import make_library
from tests.library.dying_writer import arm, say

PARTS = parts_of(FILES, [700])

__all__ = ["PARTS", "send_rest"]


def send_rest(ingest: FactIngest, events: list[IngestEvent]) -> None:
    """Send what is not durable yet and finish."""
    for seq, (head, content, last) in enumerate(PARTS, 1):
        if seq > ingest.durable_seq:
            events += ingest.feed_file(seq, head, content, last)
            report(events)
    events += ingest.finish(len(PARTS))


def report(events: list[IngestEvent]) -> None:
    """Tell the other process what is acknowledged and refused."""
    for event in events:
        if isinstance(event, Ack):
            say(f"ack {event.durable_seq}")
        elif isinstance(event, RowsRejected):
            for row in event.rows:
                say(f"row {row.seq} {row.row} {row.column}")
    events.clear()


def main() -> None:
    folder, point, moment, call = sys.argv[1:]
    library = make_library(Path(folder))
    arm(point, moment, int(call))
    with opened_facts(library, LIMITS) as (ingest, events):
        send_rest(ingest, events)
        report(events)
    say("survived")


if __name__ == "__main__":
    main()
