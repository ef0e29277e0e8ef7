"""One line of the doctor: a check, how it stands, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "fail", "ok", "warn"]

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """status: ok, warn (works, and less well than it could), fail. advice: what to do; empty where nothing is to do."""

    status: Status
    check: str
    message: str
    advice: str = ""


def ok(check: str, message: str) -> Finding:
    """All is well."""
    return Finding("ok", check, message)


def warn(check: str, message: str, advice: str) -> Finding:
    """It works, and less well than it could."""
    return Finding("warn", check, message, advice)


def fail(check: str, message: str, advice: str) -> Finding:
    """It does not work."""
    return Finding("fail", check, message, advice)
