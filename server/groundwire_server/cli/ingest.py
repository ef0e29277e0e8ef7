"""`groundwire ingest`."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from groundwire import Client, DocumentOutcome, GroundwireError, IngestWarningKind, Label
from groundwire_server.chunking import CHUNKERS
from groundwire_server.cli.embeddings import await_embeddings
from groundwire_server.cli.ending import SOME_REFUSED
from groundwire_server.cli.folder_sync import FolderSync, SentFile, SyncRules
from groundwire_server.cli.ingest_report import IngestReport
from groundwire_server.cli.options import WORDS, json_option, label_option, library_option, server_options
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note
from groundwire_server.ingest import PathRules
from groundwire_server.store.folder_record import FolderRecord

__all__ = ["await_vectors", "command"]

_NAMED_AT_MOST = 10
_WARNINGS = [each.name for each in IngestWarningKind if each.name not in ("UNSPECIFIED", "MORE")]
# What editors leave beside a file while they write it: with --watch it would come and go as a document.
_KEPT = "what was acknowledged is stored; the same command goes on from there"
_PASSING = ("*~", "*.tmp", "*.swp", "#*#")


@click.command(name="ingest")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@library_option
@click.option("--sync", is_flag=True, help="Withdraw what this folder has put in and does not hold any more.")
@click.option("--watch", is_flag=True, help="Go on with every change until Ctrl-C; with --sync.")
@click.option("--chunker", type=WORDS, metavar="CHUNKER", default="", help=f"{', '.join(CHUNKERS)}. [the library's]")
@label_option
@click.option("--include", type=WORDS, multiple=True, metavar="PATTERN", help="Only files like this, e.g. '*.md'.")
@click.option("--exclude", type=WORDS, multiple=True, metavar="PATTERN", help="No files like this.")
@click.option(
    "--attributes-from",
    type=WORDS,
    multiple=True,
    metavar="PATTERN",
    help="Attributes out of paths, e.g. 'reports/{year:int}/{company}/*'.",
)
@click.option("--label-for", type=WORDS, multiple=True, metavar="PATTERN=LABEL", help="E.g. 'secret/**=CONFIDENTIAL'.")
@click.option(
    "--charset-for", type=WORDS, multiple=True, metavar="PATTERN=CHARSET", help="E.g. 'old/*.txt=windows-1252'."
)
@click.option("--lower-labels", is_flag=True, help="Let a document become less sensitive than it was stored.")
@click.option(
    "--refuse-warning",
    "refuse",
    type=click.Choice(_WARNINGS, case_sensitive=False),
    multiple=True,
    metavar="KIND",
    help=f"Refuse a document with a warning of this kind: {', '.join(_WARNINGS)}.",
)
@click.option("--verify", is_flag=True, help="Read and send every file again, whatever is known of it.")
@click.option("--yes", is_flag=True, help="Withdraw also more than half of the folder's documents.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until everything has its vector.")
@click.option("--verbose", is_flag=True, help="A line for each document.")
@json_option
@server_options
@click.pass_obj
def command(
    session: Session,
    paths: tuple[Path, ...],
    library: str,
    sync: bool,
    watch: bool,
    chunker: str,
    label: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    attributes_from: tuple[str, ...],
    label_for: tuple[str, ...],
    charset_for: tuple[str, ...],
    lower_labels: bool,
    refuse: tuple[str, ...],
    verify: bool,
    yes: bool,
    dry_run: bool,
    wait: bool,
    verbose: bool,
    as_json: bool,
) -> int | None:
    """Store the documents of PATHS, files or folders, under their paths relative to what was given.

    \b
    groundwire ingest ./reports --include '*.md'
    groundwire ingest ./reports --sync --watch
    groundwire ingest ./minutes --library minutes --dry-run

    Only what is new or changed is read and sent; a file that cannot be read is named and the others go on. With --sync,
    what a folder has put in and does not hold any more is withdrawn. Exit code 3 when some were refused.
    """
    if watch and dry_run:
        raise click.UsageError("--watch goes on, --dry-run changes nothing: they do not go together.")
    if (sync or watch) and not all(path.is_dir() for path in paths):
        raise click.UsageError("--sync and --watch are for folders.")
    rules = SyncRules(
        chunker,
        Label.read(label) if label else Label.UNSPECIFIED,
        PathRules(attributes_from, label_for, charset_for),
        include,
        (*exclude, *_PASSING) if watch else exclude,
        verify,
        lower_labels,
        tuple(kind.upper() for kind in refuse),
    )
    report = IngestReport(as_json=as_json, verbose=verbose, dry_run=dry_run)
    with session.client(embedder=True) as client, ExitStack() as stack:
        run = _Run(session, client, paths, library, rules, report, sync=sync or watch, yes=yes, dry_run=dry_run)
        try:
            run.open(stack)
            if watch:
                _watch(run, report)
                return None
            run.once()
            if wait and not dry_run:
                await_vectors(client, library)
        except KeyboardInterrupt:
            report.end_progress()
            if not dry_run:
                note(_KEPT)
            raise
        except GroundwireError as error:
            report.end_progress()
            if error.status == "UNAVAILABLE" and report.told and not dry_run:
                note(_KEPT)
            raise
    return SOME_REFUSED if report.refused else None


def await_vectors(client: Client, library: str) -> None:
    """Wait for the vectors of what is stored by now. Raises ClickException when the server goes away meanwhile."""
    try:
        await_embeddings(client, library)
    except GroundwireError as error:
        if error.status != "UNAVAILABLE":
            raise
        raise click.ClickException(
            "the server has stopped. What was named is stored; the vectors are made on once it runs again: "
            "`groundwire jobs watch`"
        ) from None


class _Run:
    """The folders of one command."""

    def __init__(
        self,
        session: Session,
        client: Client,
        paths: tuple[Path, ...],
        library: str,
        rules: SyncRules,
        report: IngestReport,
        *,
        sync: bool,
        yes: bool,
        dry_run: bool,
    ) -> None:
        self.paths, self.data = paths, Path(session.settings().data)
        self._remote = session.address or os.environ.get("GROUNDWIRE_ADDRESS") or ""
        self._client, self._library, self._report = client, library, report
        info = client.server_info()
        most = info.limits.max_document_bytes if info.limits else 0
        self._rules = _with_server(rules, info.server_version, most)
        self._sync, self._yes, self._dry_run = sync, yes, dry_run
        self._syncs: list[FolderSync] = []

    def open(self, stack: ExitStack) -> None:
        """Open the records of all folders. Raises ClickException when another command is at work on one of them."""
        self._claimed: dict[str, Path] | None = {} if len(self.paths) > 1 else None
        for path in dict.fromkeys(self.paths):
            record = stack.enter_context(self._record(path))
            if record.was_damaged:
                note(f"the record of {path} was damaged and begins anew: every file is read once more")
            self._syncs.append(
                FolderSync(
                    self._client, path, self._library, self._rules, record, self._report, self.data, self._claimed
                )
            )

    def once(self) -> None:
        """One pass over everything. Raises ClickException when too much would be withdrawn."""
        if self._claimed is not None:
            self._claimed.clear()
        for each in self._syncs:
            each.look()
        if self._sync:
            self._announce()
        self._send()
        for each in self._syncs:
            self._end(each)
        self._report.sum_up(", ".join(map(str, self.paths)))

    def _record(self, path: Path) -> FolderRecord:
        if not path.is_dir():
            return FolderRecord(None)
        name = "\0".join((os.fsdecode(path.resolve()), self._library, self._remote)).encode("utf-8", "surrogateescape")
        file = self._records() / f"{hashlib.sha256(name).hexdigest()[:32]}.sqlite"
        if self._dry_run and not file.exists():
            return FolderRecord(None)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return FolderRecord(file, keep=not self._dry_run)
        except BlockingIOError:
            raise click.ClickException(f"another `groundwire ingest` is at work on {path}") from None

    def _records(self) -> Path:
        """Beside the library where that is ours; what a server elsewhere has is noted in the user's own folder."""
        if not self._remote:
            return self.data / "folders"
        state = os.environ.get("XDG_STATE_HOME", "")
        return Path(state) / "groundwire/folders" if state else Path.home() / ".local/state/groundwire/folders"

    def _announce(self) -> None:
        """Say what goes before anything does."""
        for each in self._syncs:
            count = each.record.vanished_count()
            self._guard(each, count)
            if count and not self._dry_run:
                names = [known.doc_id for known in each.record.vanished(most=_NAMED_AT_MOST)]
                more = f" and {count - len(names)} more" if count > len(names) else ""
                self._report.note(f"gone from {each.root}, to be withdrawn: {', '.join(names)}{more}")

    def _guard(self, sync: FolderSync, count: int) -> None:
        if 2 * count > (own := sync.record.own_count()) and not self._yes and not self._dry_run:
            raise click.ClickException(
                f"{count} of {own} documents of {sync.root} are gone from it, and more than half are not withdrawn "
                "unasked: the folder may be empty or not mounted. --yes withdraws them"
            )

    def _send(self) -> None:
        sent: deque[tuple[FolderSync, SentFile]] = deque()
        files = sum(each.record.count(to_read=True) for each in self._syncs)
        self._report.expect(files)
        flow = _Flow(sent, self._report)
        uploads = (upload for each in self._syncs for upload in each.uploads(sent))
        try:
            with self._client.ingest_documents(
                uploads, library=self._library, validate_only=self._dry_run, refuse_warnings=self._rules.refuse
            ) as events:
                for event in events:
                    if isinstance(event, DocumentOutcome):
                        flow.take(event)
                    self._report.take(event)
            flow.end()
        finally:
            self._report.end_progress()
        if flow.files and not self._dry_run:
            for each in self._syncs:
                each.settle()

    def _end(self, sync: FolderSync) -> None:
        """What is gone: withdrawn, or told."""
        record = sync.record
        if self._sync and not self._dry_run:
            self._guard(sync, record.vanished_count())  # lines may be gone from a file that was read only now
            for doc_id in sync.withdraw_vanished():
                self._report.vanish(doc_id, withdrawn=True)
            for doc_id in record.left_standing():
                self._report.note(f"{doc_id} is gone from {sync.root} and stays: others have put it in, or changed it")
            for doc_id in record.hidden_gone():
                self._report.note(f"{doc_id} is gone from {sync.root} and stays: you may not read it, nor withdraw it")
        else:
            last = ""
            while some := record.vanished(last):
                for known in some:
                    self._report.vanish(known.doc_id, withdrawn=False)
                last = some[-1].doc_id
            if count := record.vanished_count():
                how = "without --dry-run that is withdrawn" if self._sync else "--sync withdraws that"
                which = "1 document is" if count == 1 else f"{count} documents are"
                self._report.note(f"{which} gone from {sync.root}; {how}")


class _Flow:
    """Finds the file that an outcome belongs to: outcomes come in the order in which files were sent."""

    def __init__(self, sent: deque[tuple[FolderSync, SentFile]], report: IngestReport) -> None:
        self.files = 0
        self._sent, self._report = sent, report
        self._seq = 0

    def take(self, outcome: DocumentOutcome) -> None:
        """An outcome; the first one of another part ends the file before."""
        if outcome.seq != self._seq:
            self.end()
            self._seq = outcome.seq
        sync, file = self._sent[0]
        sync.take(file, outcome)

    def end(self) -> None:
        """All outcomes of the present file have come."""
        if self._seq:
            sync, file = self._sent.popleft()
            sync.finish(file)
            self.files += 1
            self._seq = 0
            self._report.file_done()


def _with_server(rules: SyncRules, version: str, max_bytes: int) -> SyncRules:
    return replace(rules, server_version=version, max_bytes=max_bytes or rules.max_bytes)


def _watch(run: _Run, report: IngestReport) -> None:
    """Pass after pass until Ctrl-C, which is the way to end it."""
    from groundwire_server.cli.folder_watch import watch_folders

    first = True
    try:
        for _ in watch_folders(run.paths, run.data):
            report.begin_pass()
            try:
                run.once()
            except click.ClickException as error:
                if first:
                    raise
                note(f"Error: {error.format_message()}")
            if first:
                note(f"watching {', '.join(map(str, run.paths))}; Ctrl-C ends it")
                first = False
    except KeyboardInterrupt:
        note("no longer watching; what was acknowledged is stored")
