"""Rows of workbooks and Parquet files, read in a process of their own and handed over as they come.

A file that crashes, hangs or swells what reads it ends that process and nothing else. Rows wait in a pipe: neither side
holds more than a batch of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import groundwire_server
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.cells import SheetRow, decode_row, encode_row
from groundwire_server.readers.child import PLAIN_OPTIONS, limit, read_frame, write_frame
from groundwire_server.readers.document import ReadOptions, Source
from groundwire_server.readers.document_codec import decode_refusal, encode_refusal
from groundwire_server.readers.isolation import ENVIRONMENT
from groundwire_server.readers.parquet_cells import read_parquet_rows
from groundwire_server.readers.xlsx_cells import read_workbook_rows

__all__ = ["main", "stream_rows"]

_BATCH_ROWS = 256
_CLOCK_FACTOR = 20


def stream_rows(kind: str, source: Source, sheets: Sequence[str] = ()) -> Iterator[SheetRow]:
    """Rows in order; one that is closed early ends the process.

    Args:
        kind: "xlsx" or "parquet". sheets: of a workbook; empty: all that people see.

    Raises:
        DocumentRefused: what the reader raises; DOCUMENT_TOO_LARGE over the bounds of time or memory; DOCUMENT_BROKEN
            when the process breaks down.
    """
    home = str(Path(groundwire_server.__file__).parent.parent)
    environ = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    environ |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "groundwire_server.readers.cell_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )
    timed_out = threading.Event()
    timer = threading.Timer(source.options.max_seconds * _CLOCK_FACTOR, _time_out, (process, timed_out))
    timer.daemon = True
    timer.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        options = {name: getattr(source.options, name) for name in PLAIN_OPTIONS}
        head = {"kind": kind, "doc_id": source.doc_id, "sheets": list(sheets), "options": options}
        with contextlib.suppress(OSError):
            write_frame(process.stdin, head, source.raw)
            process.stdin.close()
        yield from _answers(process.stdout, process, source, timed_out)
    finally:
        timer.cancel()
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


def _time_out(process: subprocess.Popen[bytes], timed_out: threading.Event) -> None:
    timed_out.set()
    process.kill()


def _answers(
    stream: IO[bytes], process: subprocess.Popen[bytes], source: Source, timed_out: threading.Event
) -> Iterator[SheetRow]:
    options = source.options
    while True:
        answer = read_frame(stream)
        if answer is None:
            over_time = process.wait() == -getattr(signal, "SIGXCPU", 0) or timed_out.is_set()
            raise _over_time(source) if over_time else _broke_down(source)
        head, body = answer
        match head.get("kind"):
            case "rows":
                yield from map(decode_row, json.loads(body))
            case "end":
                return
            case "refused":
                raise decode_refusal(body)
            case _:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_TOO_LARGE,
                    f"{source.doc_id}: reading it takes more memory than the limit of {options.max_memory_bytes} "
                    "bytes.",
                    hint="Split the file, or raise limits.max_read_memory_bytes.",
                    details={"max_read_memory_bytes": str(options.max_memory_bytes)},
                )


def _over_time(source: Source) -> DocumentRefused:
    seconds = source.options.max_seconds
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{source.doc_id}: reading it takes longer than the limit of {seconds:g} seconds.",
        hint="Split the file, or raise limits.max_read_seconds.",
        details={"max_read_seconds": f"{seconds:g}"},
    )


def _broke_down(source: Source) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{source.doc_id}: the reader broke down on the file; nothing else was touched.",
        hint="Open it in the program that it is for, save it anew and send that.",
    )


def main() -> int:
    """The other side: one request on standard input, its rows on standard output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not run into an answer
    request = read_frame(requests)
    if request is None:
        return 1
    head, raw = request
    options = ReadOptions(**{name: head["options"][name] for name in PLAIN_OPTIONS})
    source = Source(head["doc_id"], raw, options=options)
    try:
        limit(options)
        rows = read_workbook_rows(source, head["sheets"]) if head["kind"] == "xlsx" else read_parquet_rows(source)
        batch: list[object] = []
        for row in rows:
            batch.append(encode_row(row))
            if len(batch) >= _BATCH_ROWS:
                write_frame(answers, {"kind": "rows"}, json.dumps(batch, ensure_ascii=False).encode("utf-8", "replace"))
                batch.clear()
        write_frame(answers, {"kind": "rows"}, json.dumps(batch, ensure_ascii=False).encode("utf-8", "replace"))
        write_frame(answers, {"kind": "end"}, b"")
    except DocumentRefused as error:
        write_frame(answers, {"kind": "refused"}, encode_refusal(error))
    except MemoryError:
        write_frame(answers, {"kind": "memory"}, b"")
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - libraries raise whatever comes to them on a damaged file
        refusal = DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{head['doc_id']}: the file is damaged, or uses something that is not read.",
            hint="Open it in the program that it is for, save it anew and send that.",
            details={"fault": type(error).__name__},
        )
        write_frame(answers, {"kind": "refused"}, encode_refusal(refusal))
    return 0


if __name__ == "__main__":
    sys.exit(main())
