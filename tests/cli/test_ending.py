"""Every way that a command can end has its exit code and its one line."""

from __future__ import annotations

import errno

import click
import pytest

from groundwire import ErrorReason as ClientReason
from groundwire import GroundwireError as ClientError
from groundwire_server.cli.ending import OutputClosed, end
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest


def _raise(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (click.ClickException("two\n  lines"), 1, "Error: two lines"),
        (click.UsageError("not like that"), 2, "Error: not like that"),
        (
            FailedPrecondition(ErrorReason.NO_MODEL, "There is none", hint="Fetch it."),
            1,
            "Error: There is none. Fetch it. (NO_MODEL)",
        ),
        (
            InvalidRequest.one("top_k", ErrorReason.VALUE_OUT_OF_RANGE, "too much"),
            1,
            "Error: top_k: too much (INVALID_REQUEST)",
        ),
        (
            ClientError("no such thing", reason=ClientReason.UNKNOWN_LIBRARY, status="NOT_FOUND"),
            1,
            "Error: no such thing (UNKNOWN_LIBRARY)",
        ),
        (ClientError("gone", status="UNAVAILABLE"), 1, "Error: gone (UNAVAILABLE)"),
        (KeyboardInterrupt(), 130, "stopped"),
        (click.Abort(), 130, "stopped"),
        (OutputClosed(), 141, ""),
        (BrokenPipeError(), 141, ""),
        (FileNotFoundError(errno.ENOENT, "x", "a\nb"), 1, "Error: a\\nb: No such file or directory"),
        (OSError(errno.ENOSPC, "x"), 1, "Error: the output cannot be written: No space left on device"),
    ],
)
def test_an_error_is_one_line_and_a_code(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert end(lambda: _raise(error)) == code
    assert capsys.readouterr() == ("", f"{line}\n" if line else "")


def test_a_fault_of_ours_tells_type_and_place_and_no_foreign_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert end(lambda: _raise(KeyError("secret words"))) == 1
    said = capsys.readouterr().err
    assert "KeyError at test_ending.py:" in said
    assert "secret" not in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(("answer", "code"), [(None, 0), (0, 0), (3, 3), ("text", 0)])
def test_a_command_may_give_its_code(answer: object, code: int) -> None:
    assert end(lambda: answer) == code
