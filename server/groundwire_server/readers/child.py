"""The process that reads one file after the other for `isolation`, on its own memory and time.

Requests come on standard input and answers go to standard output, each as two lengths, a head in JSON and a body. It
ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields
from typing import IO, Any

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.document import ReadOptions, Source
from groundwire_server.readers.document_codec import encode_outputs, encode_refusal

try:
    import resource
except ImportError:  # Windows knows no limits of this kind; the parent's clock stays
    resource = None  # type: ignore[assignment]

__all__ = ["PLAIN_OPTIONS", "limit", "main", "read_frame", "write_frame"]

# What of the options travels; a parser of periods does not.
PLAIN_OPTIONS = tuple(field.name for field in fields(ReadOptions) if field.name != "parse_period")
_LENGTHS = 12


def main() -> int:
    """Answer requests until the input ends. Returns the exit code."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not run into an answer
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while (request := read_frame(requests)) is not None:
        kind, body, goes_on = _answer(*request)
        write_frame(answers, {"kind": kind}, body)
        if not goes_on:
            break
    return 0


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """A head and a body; None at the end of the stream, also in the middle of them."""
    lengths = stream.read(_LENGTHS)
    if len(lengths) < _LENGTHS:
        return None
    head_length, body_length = int.from_bytes(lengths[:4], "big"), int.from_bytes(lengths[4:], "big")
    head, body = stream.read(head_length), stream.read(body_length)
    if len(head) < head_length or len(body) < body_length:
        return None
    return json.loads(head), body


def write_frame(stream: IO[bytes], head: dict[str, Any], body: bytes) -> None:
    """Send a head and a body."""
    packed = json.dumps(head).encode()
    stream.write(len(packed).to_bytes(4, "big") + len(body).to_bytes(8, "big") + packed)
    stream.write(body)
    stream.flush()


def _answer(head: dict[str, Any], raw: bytes) -> tuple[str, bytes, bool]:
    """Kind and body of an answer, and whether the process may go on."""
    from groundwire_server.readers.registry import READERS

    options = ReadOptions(**{name: head["options"][name] for name in PLAIN_OPTIONS})
    reader = next(reader for reader in READERS if reader.media_type == head["media_type"])
    try:
        limit(options)
        return "outputs", encode_outputs(reader.read(Source(head["doc_id"], raw, head["charset"], options))), True
    except DocumentRefused as error:
        return "refused", encode_refusal(error), True
    except MemoryError:
        return "memory", b"", False
    except Exception as error:  # noqa: BLE001 - libraries raise whatever comes to them on a damaged file
        refusal = DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{head['doc_id']}: the file is damaged, or uses something that is not read.",
            hint="Open it in the program that it is for, save it anew and send that.",
            details={"fault": type(error).__name__},
        )
        return "refused", encode_refusal(refusal), True


def limit(options: ReadOptions) -> None:
    """Memory of this process as a whole, and processor time from now on; the system ends it where it goes over."""
    if resource is None:
        return
    _lower(resource.RLIMIT_AS, options.max_memory_bytes)
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + options.max_seconds) + 1)


def _lower(kind: int, soft: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
