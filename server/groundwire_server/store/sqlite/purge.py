"""Revisions whose contents are erased. Their bare rows stay: no number and no chunk row is given twice."""

from __future__ import annotations

import sqlite3

from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.evidence import Label
from groundwire_server.store.rows import PurgePolicy
from groundwire_server.store.sqlite.codec import encode_optional_instant
from groundwire_server.store.sqlite.transaction import Transaction

__all__ = ["count_purgeable", "purge_batch", "purged_meanwhile", "was_purged_since"]

# Counted over what the reader may read: what is hidden takes the place of no revision that is kept.
_PICKED = """
WITH retired AS (
    SELECT revision_row, doc_id, label, first_row, chunks, event, died,
        row_number() OVER (PARTITION BY doc_id ORDER BY revision DESC) AS place
    FROM document_revision
    WHERE label <= :label AND died <= :until AND purged IS NULL AND (:doc = '' OR doc_id = :doc)
)
SELECT {columns} FROM retired
WHERE place > :keep
    AND (:before IS NULL OR (SELECT committed_at FROM generation WHERE generation = died) < :before)
"""


def purged_meanwhile() -> Aborted:
    """The error of a call that reads on at a state of which something was purged."""
    return Aborted(
        ErrorReason.RESUME_SNAPSHOT_GONE,
        "A revision that this call was reading has been purged meanwhile.",
        hint="Ask anew.",
    )


def count_purgeable(
    connection: sqlite3.Connection, generation: int, policy: PurgePolicy, strictest: int
) -> list[tuple[Label, int]]:
    """How many revisions up to a label a policy names at a generation, by label."""
    statement = f"{_PICKED.format(columns='label, count(*)')} GROUP BY label"
    named = _named(policy, strictest) | {"until": min(policy.until, generation)}
    return [(Label(label), count) for label, count in connection.execute(statement, named).fetchall()]


def was_purged_since(connection: sqlite3.Connection, generation: int, strictest: int) -> bool:
    """See `StoreReader.purged_since`. When a revision had ended before it was purged is not known any more."""
    found = connection.execute(
        "SELECT 1 FROM document_revision WHERE label <= ? AND born <= ? AND purged > ? LIMIT 1",
        (strictest, generation, generation),
    )
    return found.fetchone() is not None


def purge_batch(transaction: Transaction, policy: PurgePolicy, strictest: int, limit: int) -> dict[Label, int]:
    """See `StoreWriter.purge`; the oldest go first."""
    connection = transaction.connection
    picked = _PICKED.format(columns="revision_row, doc_id, label, first_row, chunks, event")
    statement = f"{picked} ORDER BY revision_row LIMIT :limit"
    rows = connection.execute(statement, _named(policy, strictest) | {"limit": limit}).fetchall()
    counts: dict[Label, int] = {}
    hashes: set[bytes] = set()
    for revision_row, _, label, first_row, chunks, event in rows:
        chunk_rows = (first_row, first_row + chunks - 1)
        found = connection.execute("SELECT index_sha256 FROM chunk WHERE chunk_row BETWEEN ? AND ?", chunk_rows)
        hashes.update(sha256 for (sha256,) in found)
        connection.execute(
            "UPDATE chunk SET span_start = 0, span_end = 0, parent_start = NULL, parent_end = NULL,"
            " index_sha256 = x'', locator = '', heading = '', parent_id = '', parent_locator = '', header = '',"
            " text = '' WHERE chunk_row BETWEEN ? AND ?",
            chunk_rows,
        )
        connection.execute("DELETE FROM source_text WHERE revision_row = ?", (revision_row,))
        connection.execute("DELETE FROM revision_places WHERE revision_row = ?", (revision_row,))
        connection.execute(
            "UPDATE document_revision SET purged = ?, died = born, valid_as_of = NULL, event = x'',"
            " content_sha256 = x'', raw_sha256 = x'', raw_bytes = 0, text_chars = 0, title = '', media_type = '',"
            " chunker = '', attributes = '[]' WHERE revision_row = ?",
            (transaction.generation, revision_row),
        )
        transaction.purged(Label(label), event)
        counts[Label(label)] = counts.get(Label(label), 0) + 1
    # A vector goes with the last chunk that may use it, which is of its label or a stricter one.
    connection.executemany(
        "DELETE FROM embedding WHERE index_sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM chunk"
        " JOIN document_revision AS held USING (revision_row)"
        " WHERE chunk.index_sha256 = ?1 AND held.label >= embedding.label AND held.label < 4)",
        [(sha256,) for sha256 in hashes],
    )
    # So do the relations that were found in what is gone; those that were given stay, as figures do.
    connection.executemany(_FOUND_IN_NOTHING, {(doc_id,) for _, doc_id, *_ in rows})
    return counts


_FOUND_IN_NOTHING = """
DELETE FROM edge WHERE source_doc = ?1 AND died IS NOT NULL AND extractor NOT IN ('file', 'facts', 'glossary')
    AND NOT EXISTS (
        SELECT 1 FROM document_revision AS held WHERE held.doc_id = ?1 AND held.purged IS NULL
            AND held.born < edge.died AND (held.died IS NULL OR held.died > edge.born)
    )
"""


def _named(policy: PurgePolicy, strictest: int) -> dict[str, object]:
    return {
        "label": strictest,
        "until": policy.until,
        "doc": policy.doc_id,
        "keep": policy.keep_last,
        "before": encode_optional_instant(policy.retired_before),
    }
