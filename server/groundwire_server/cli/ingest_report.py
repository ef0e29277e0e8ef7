"""What `groundwire ingest` tells: a line of progress, what was refused, and a summary; every document when asked."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import click

from groundwire import Cause, CauseDetail, DocumentOutcome, IngestEvent, IngestSummary, Reconnecting
from groundwire_server.cli.output import show_json
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.streams import note, say
from groundwire_server.readers import can_read
from groundwire_server.store.folder_record import KnownDocument

__all__ = ["FolderSummary", "IngestReport", "Vanished"]

_ENDINGS_TOLD = 3
_CHARSET = CauseDetail("field", "charset")


@dataclass(frozen=True, slots=True)
class Vanished:
    """A document whose file is gone from the folder. withdrawn: it was taken out of every answer."""

    doc_id: str
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """What a run did, or with `dry_run` would do: documents by what became of them, with `refused` also files."""

    new: int
    changed: int
    unchanged: int
    refused: int
    vanished: int
    withdrawn: int
    dry_run: bool


class IngestReport:
    """Tells what happens, for people or programs. Used by the thread that sends and by the one that listens.

    Args:
        verbose: a line for every document that is stored or withdrawn.
    """

    def __init__(self, *, as_json: bool, verbose: bool, dry_run: bool) -> None:
        self.refused = 0
        self.told = 0
        self._as_json, self._verbose, self._dry_run = as_json, verbose, dry_run
        self._telling = threading.Lock()
        self._no_text: set[str] = set()  # endings of files that no reader takes
        self._untold_charset = ""  # the first file whose charset nobody could tell
        self._choices: set[str] = set()
        self._refusals: dict[str, str] = {}  # of the passes before: what was refused, and why
        self._line: ProgressLine | None = None
        self._begin()

    def begin_pass(self) -> None:
        """Another pass over the same folders: counts begin anew, and what was refused is not told again."""
        with self._telling:
            self._begin()

    def _begin(self) -> None:
        self.refused = self.told = 0
        self._new = self._changed = self._unchanged = self._vanished = self._withdrawn = 0
        self._files = 0

    def expect(self, files: int) -> None:
        """How many files there are: on a terminal there is a line of progress from now on."""
        drawn = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        if files and drawn and not self._as_json and not self._verbose:
            self._line = ProgressLine("reading", "files", files)
            self._line.update(0)

    def file_done(self) -> None:
        """A file is done with, one way or another."""
        with self._telling:
            self._files += 1
            if self._line is not None:
                self._line.update(self._files)

    def end_progress(self) -> None:
        """No more files."""
        with self._telling:
            if self._line is not None:
                self._line.finish(self._files)
                self._line = None

    def refuse(self, doc_id: str, error: Cause) -> None:
        """A file that is not sent at all."""
        self.take(DocumentOutcome(doc_id, 0, error=error))

    def keep(self, documents: Iterable[KnownDocument]) -> None:
        """Documents of a file that need not be sent."""
        for each in documents:
            self.take(DocumentOutcome(each.doc_id, 0, each.revision, each.chunks, unchanged=True))

    def take(self, event: IngestEvent) -> None:
        """An event, as it comes."""
        with self._telling:
            if self._as_json and not isinstance(event, IngestSummary):
                show_json(event)
            match event:
                case DocumentOutcome():
                    self._count(event)
                    if not self._as_json:
                        self._tell(event)
                case IngestSummary() if self._as_json:
                    show_json(event)
                case Reconnecting(attempt=attempt, delay_seconds=delay):
                    self._note(f"connection lost, attempt {attempt} in {delay:.1f} s")

    def vanish(self, doc_id: str, *, withdrawn: bool) -> None:
        """A document that is gone from the folder, and whether it is out of every answer now."""
        with self._telling:
            self._vanished += 1
            self._withdrawn += withdrawn
            if self._as_json:
                show_json(Vanished(doc_id, withdrawn))
            elif self._verbose:
                say(f"{doc_id} withdrawn" if withdrawn else f"{doc_id} is gone from the folder")

    def note(self, line: str) -> None:
        """A word for people, on standard error."""
        with self._telling:
            self._note(line)

    def sum_up(self, where: str) -> None:
        """Counts of the whole, and a word when there was nothing at all."""
        if not self.told and not self._vanished:
            note(f"nothing to store: no file in {where} that is asked for")
        if self._as_json:
            counts = (self._new, self._changed, self._unchanged, self.refused, self._vanished, self._withdrawn)
            show_json(FolderSummary(*counts, self._dry_run))
        else:
            say(self._sentence())
        if endings := sorted(self._no_text - {""}):
            passed_over = " ".join(f"--exclude '*{ending}'" for ending in endings[:_ENDINGS_TOLD])
            note(f"files that are no documents are passed over with {passed_over}")
        if self._untold_charset:
            note(f"the charset of a text is said with --charset-for {shlex.quote(f'{self._untold_charset}=CHARSET')}")

    def _sentence(self) -> str:
        stored = self._new + self._changed
        rest = f"{self._unchanged} unchanged, {self.refused} refused"
        if not self._dry_run:
            return f"{stored} stored, {rest}" + (f", {self._withdrawn} withdrawn" if self._withdrawn else "")
        kinds = f" ({self._new} new, {self._changed} changed)" if stored else ""
        vanished = f", {self._vanished} vanished" if self._vanished else ""
        return f"{stored} would be stored{kinds}, {rest}{vanished}"

    def _count(self, outcome: DocumentOutcome) -> None:
        self.told += 1
        if outcome.error is not None:
            self.refused += 1
            if not can_read(outcome.doc_id):
                self._no_text.add(PurePosixPath(outcome.doc_id).suffix)
            elif _wants_charset(outcome.error):
                self._untold_charset = self._untold_charset or outcome.doc_id
        elif outcome.unchanged:
            self._unchanged += 1
        elif outcome.revision == 1:
            self._new += 1
        else:
            self._changed += 1

    def _tell(self, outcome: DocumentOutcome) -> None:
        if outcome.error is not None:
            message = outcome.error.message
            if self._refusals.get(outcome.doc_id) == message:
                return
            self._refusals[outcome.doc_id] = message
            where = "" if message.startswith(outcome.doc_id) else f"{outcome.doc_id}: "
            self._note(f"refused {where}{self._short(message)} ({outcome.error.reason.name})")
            return
        self._refusals.pop(outcome.doc_id, None)
        if self._verbose and not outcome.unchanged:
            say(f"{outcome.doc_id} revision {outcome.revision}, {outcome.chunks} chunks")
        for warning in outcome.warnings:
            self._note(f"  look at {warning.locator}: {warning.message}")

    def _note(self, line: str) -> None:
        if self._line is not None:
            click.echo("\r\033[K", nl=False, err=True)  # the line of progress is drawn anew below
        note(line)

    def _short(self, message: str) -> str:
        """The message; what is read instead is told once and not with each of a folder's files."""
        what, others, choices = message.partition("; those read are ")
        if choices not in self._choices:
            self._choices.add(choices)
            return message
        return f"{what}." if others else message


def _wants_charset(error: Cause) -> bool:
    """Whether a file is refused as a text in a charset that has to be said: it is told then which ones can be."""
    return _CHARSET in error.details and any(each.name == "valid" for each in error.details)
