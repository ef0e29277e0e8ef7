"""How a command ends: one clear line, and an exit code that scripts can rely on."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

import click

from groundwire_server.cli.interrupt import INTERRUPTED
from groundwire_server.cli.streams import let_go_of_output, note
from groundwire_server.errors import GroundwireError

__all__ = ["BROKEN_PIPE", "DONE", "EXIT_CODES", "FAILED", "SOME_REFUSED", "USAGE", "OutputClosed", "end"]

DONE = 0
FAILED = 1
USAGE = 2
SOME_REFUSED = 3
BROKEN_PIPE = 141

_NOTHING_HINT = "Nothing has been stored yet in this data folder; --data names another, `groundwire ingest` begins."
_LIBRARY_HINT = "`groundwire libraries list` shows those that there are, `groundwire libraries create` makes one."

_TOKEN_HINT = "GROUNDWIRE_TOKEN or --token-from FILE brings a token, --cert and --key a certificate."

EXIT_CODES = """\
Exit codes:
    0  done; a question that has no answer is answered too
    1  failed, and the line on standard error says why
    2  the command is not written like that
    3  some documents or rows were refused, each is named; the others are stored
  130  interrupted (Ctrl-C); what was acknowledged is kept
  141  nobody read the output to its end (`| head`)"""


class OutputClosed(Exception):
    """Nobody reads our output any more."""


def end(command: Callable[[], object]) -> int:
    """Run a command to its end. Returns its exit code, which the command may give; an error has been told by then."""
    try:
        code = command()
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.UsageError as error:
        _complain(_sentences(_one_line(error.format_message()), _where_to_look(error)))
        return USAGE
    except click.ClickException as error:
        _complain(_one_line(error.format_message()))
        return FAILED
    except GroundwireError as error:
        _complain(f"{_sentences(error.message, error.hint)} ({error.reason.name})")
        return FAILED
    except (KeyboardInterrupt, click.Abort):
        note("stopped")
        return INTERRUPTED
    except (OutputClosed, BrokenPipeError):
        let_go_of_output()
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is None:
            let_go_of_output()  # it was the output that failed, and it would fail again at the end
        _complain(_of_the_system(error))
        return FAILED
    except Exception as error:
        told = _of_the_client(error)
        if sys.flags.dev_mode and not told:
            raise
        _complain(told or _of_ours(error))
        return FAILED


def _complain(line: str) -> None:
    note(f"Error: {line}")


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _where_to_look(error: click.UsageError) -> str:
    return f"`{error.ctx.command_path} --help` shows how." if error.ctx is not None else ""


def _sentences(message: str, hint: str) -> str:
    end = "" if not hint or message.endswith((".", "!", "?")) else "."
    return f"{message}{end} {hint}".rstrip()


def _of_the_client(error: Exception) -> str:
    """The message of an error of the client and its stable reason, for those who look it up; "" for any other error."""
    from groundwire import ErrorReason, GroundwireError  # here: a server that ends well has no use for the client

    if not isinstance(error, GroundwireError):
        return ""
    name = error.status if error.reason is ErrorReason.UNSPECIFIED else error.reason.name
    library = error.details.get("library_id") if error.reason is ErrorReason.UNKNOWN_LIBRARY else None
    hint = "" if library is None else _NOTHING_HINT if library == "default" else _LIBRARY_HINT
    if error.reason is ErrorReason.UNAUTHENTICATED:
        hint = _TOKEN_HINT
    return f"{_sentences(error.message, hint)} ({name})"


def _of_the_system(error: OSError) -> str:
    what = os.strerror(error.errno) if error.errno else type(error).__name__
    return f"{error.filename}: {what}" if error.filename is not None else f"the output cannot be written: {what}"


def _of_ours(error: Exception) -> str:
    """A fault of ours: type and place, never the text of a foreign exception."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"a fault of groundwire: {type(error).__name__} at {os.path.basename(place.filename)}:{place.lineno}; "
        "`python -X dev -m groundwire_server.cli ...` shows more"
    )
