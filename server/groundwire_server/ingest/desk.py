"""Where ingests are opened: it knows which are open, so that no two connections write the same one."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from groundwire_server.errors import Aborted, ErrorReason, InvalidRequest, Unavailable
from groundwire_server.ingest.document_ingest import DocumentIngest
from groundwire_server.ingest.documents import DocumentRules
from groundwire_server.ingest.fact_files import FactIngestRules
from groundwire_server.ingest.fact_ingest import FactIngest
from groundwire_server.ingest.stream import IngestLimits, IngestOpening, IngestTarget

__all__ = ["IngestDesk", "is_uuid"]

_TIDY_EVERY = timedelta(hours=1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID as people write it, with hyphens and nothing around it."""
    return _UUID.fullmatch(text) is not None


def _utc_now() -> datetime:
    return datetime.now(UTC)


class IngestDesk:
    """One a server. Thread-safe.

    Args:
        targets: gives the libraries that there are: an ingest belongs to one of them for good.
        limits: bounds of every stream.
        now: clock by which old ingests are forgotten.
    """

    def __init__(
        self,
        targets: Callable[[], Iterable[IngestTarget]],
        limits: IngestLimits | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._targets = targets
        self._limits = limits or IngestLimits()
        self._now = now
        self._tidied: dict[str, datetime] = {}
        self._open: dict[str, object] = {}
        self._lock = threading.Lock()

    def open_documents(
        self, target: IngestTarget, opening: IngestOpening, rules: Callable[[], DocumentRules]
    ) -> DocumentIngest:
        """Open a stream of documents, or open it again; leave it with `with` or `close()`.

        Args:
            rules: gives the rules of the moment; each document is stored by those that hold when it is stored.

        Raises:
            InvalidRequest: ingest_id is no UUID, or resume_after_seq lies behind what is known.
            Aborted: INGEST_ID_IN_USE, when it is open elsewhere or belongs to another library or kind.
        """
        opening = replace(opening, ingest_id=opening.ingest_id.lower())
        release = self._take(target, opening, DocumentIngest.kind)
        try:
            return DocumentIngest(target, opening, rules, self._limits, release)
        except BaseException:
            release()
            raise

    def open_facts(
        self, target: IngestTarget, opening: IngestOpening, rules: Callable[[], FactIngestRules]
    ) -> FactIngest:
        """Open a stream of figures and relations, or open it again; raises as `open_documents` does.

        Args:
            rules: gives the rules of the moment; each part and each file is read by those that hold when it is whole.
        """
        opening = replace(opening, ingest_id=opening.ingest_id.lower())
        release = self._take(target, opening, FactIngest.kind)
        try:
            return FactIngest(target, opening, rules, self._limits, release)
        except BaseException:
            release()
            raise

    def _take(self, target: IngestTarget, opening: IngestOpening, kind: str) -> Callable[[], None]:
        """Hold an id. What is returned lets go of this hold alone, however often it is called."""
        ingest_id = opening.ingest_id
        if not is_uuid(ingest_id):
            reason = ErrorReason.VALUE_MALFORMED if ingest_id else ErrorReason.VALUE_REQUIRED
            raise InvalidRequest.one("start.ingest_id", reason, f"{ingest_id[:64]!r} is no UUID")
        hold, ingest_id = object(), opening.key
        with self._lock:
            if ingest_id in self._open:
                raise _in_use(opening.ingest_id, "is open on another connection", "Wait until that one has ended.")
            self._open[ingest_id] = hold
        try:
            self._forget_old(target)
            self._refuse_foreign(target, opening, kind)
        except BaseException:
            self._release(ingest_id, hold)
            raise
        return lambda: self._release(ingest_id, hold)

    def _forget_old(self, target: IngestTarget) -> None:
        """Now and then, drop the ledger and spool of ingests that nobody went on with."""
        now = self._now()
        with self._lock:
            if now - self._tidied.get(target.library_id, _LONG_AGO) < _TIDY_EVERY:
                return
            self._tidied[target.library_id] = now
        with target.writing() as writer:
            writer.forget_ingests(now - self._limits.resume_window)

    def _refuse_foreign(self, target: IngestTarget, opening: IngestOpening, kind: str) -> None:
        ingest_id, shown = opening.key, opening.ingest_id
        state = target.store.reader().ingest(ingest_id)
        if state is not None and state.kind != kind:
            raise _in_use(shown, f"belongs to an ingest of {state.kind}", "Make a new one.")
        if state is not None and opening.validate_only:
            raise _in_use(shown, "belongs to an ingest that stores what comes", "Make a new one.")
        for other in () if state is not None else self._targets():
            if other.library_id != target.library_id and _knows(other, ingest_id):
                raise _in_use(shown, "belongs to another library", "Make a new one.")

    def _release(self, ingest_id: str, hold: object) -> None:
        with self._lock:
            if self._open.get(ingest_id) is hold:
                del self._open[ingest_id]


def _knows(target: IngestTarget, ingest_id: str) -> bool:
    """Whether a library has an ingest. One that does not answer can go on with none, and stops none of the others."""
    try:
        return target.store.reader().ingest(ingest_id) is not None
    except Unavailable:
        return False


def _in_use(ingest_id: str, why: str, hint: str) -> Aborted:
    return Aborted(ErrorReason.INGEST_ID_IN_USE, f"The ingest_id {why}.", hint=hint, details={"ingest_id": ingest_id})
