"""Who was cancelled: the caller's task, or only the call."""

from __future__ import annotations

import asyncio

from groundwire._errors import GroundwireError

__all__ = ["call_cancelled", "task_is_cancelled"]


def task_is_cancelled() -> bool:
    """Whether an asyncio.CancelledError that was just caught is meant for the task: then it is never swallowed.

    grpc.aio raises the same error for a call that `cancel` or `close` has ended.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def call_cancelled() -> GroundwireError:
    """The error of a call that was ended on this side."""
    return GroundwireError("the call was cancelled on this side", status="CANCELLED")
