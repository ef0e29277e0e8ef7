"""`canonical(stream)`: the bytes that promise 4 is about (formats.md, "Same bytes, snapshots, time").

Left out is what may differ between two runs that answer the same: request_id, server_version, timings, ingested_at,
cursor tokens, and progress, which is a clock too. Batches are joined: where they are cut is no part of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message

__all__ = ["canonical", "canonical_message"]

# Message type -> fields that are left out wherever it stands.
_LEFT_OUT = {
    "groundwire.v1.StreamHeader": ("request_id", "server_version"),
    "groundwire.v1.StreamSummary": ("timings", "next"),
    "groundwire.v1.Lineage": ("ingested_at",),
    "groundwire.v1.SnippetBatch": ("after",),
    "groundwire.v1.MetricOutcomes": ("after",),
    "groundwire.v1.ListJobsResponse": ("next_page_token",),  # it names a job, by an id that is drawn
    "groundwire.v1.Progress": ("units_per_second", "remaining"),
    "groundwire.v1.Job": ("job_id", "create_time", "update_time", "end_time"),
}


def canonical(frames: Iterable[Message]) -> bytes:
    """The canonical bytes of a stream of response frames, of any streaming read."""
    parts: list[bytes] = []
    for frame in frames:
        kind = frame.WhichOneof("frame")
        if kind is None or kind == "progress":
            continue
        branch = getattr(frame, "sub_call_index", 0)
        content = getattr(frame, kind)
        members = content.snippets if kind == "batch" else [content]
        parts.extend(f"{kind} {branch} ".encode() + canonical_message(member) for member in members)
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def canonical_message(message: Any) -> bytes:
    """The same of one message, the answer of a call that streams nothing."""
    kept = type(message)()
    kept.CopyFrom(message)
    _strip(kept)
    data: bytes = kept.SerializeToString(deterministic=True)
    return data


def _strip(message: Message) -> None:
    for name in _LEFT_OUT.get(message.DESCRIPTOR.full_name, ()):
        message.ClearField(name)
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for member in [value] if isinstance(value, Message) else value:
            _strip(member)
