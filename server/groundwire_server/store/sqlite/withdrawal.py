"""A document taken out of every answer, with the facts and edges that it states."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, UnknownResource
from groundwire_server.evidence import Label
from groundwire_server.store.rows import Withdrawn
from groundwire_server.store.sqlite import documents, edges, facts
from groundwire_server.store.sqlite.transaction import Transaction

__all__ = ["withdraw_document"]

# What of a source can be seen: revisions, facts and edges that were ever there, those that live, and whether the
# document lives beyond what can be seen.
_SEEN = """
WITH seen AS (
    SELECT died FROM document_revision WHERE doc_id = :doc AND label <= :label AND purged IS NULL
    UNION ALL SELECT died FROM fact WHERE source_doc = :doc AND label <= :label
    UNION ALL SELECT died FROM edge WHERE source_doc = :doc AND label <= :label AND extractor <> 'glossary'
)
SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM seen WHERE died IS NULL),
    EXISTS (SELECT 1 FROM document_revision WHERE doc_id = :doc AND label > :label AND died IS NULL)
"""


def withdraw_document(transaction: Transaction, doc_id: str, strictest: int) -> Withdrawn:
    """See `StoreWriter.withdraw_document`; labels up to `strictest` are seen. Raises UnknownResource."""
    connection = transaction.connection
    ever, living, stays = connection.execute(_SEEN, {"doc": doc_id, "label": strictest}).fetchone()
    if not ever:
        raise UnknownResource(ErrorReason.UNKNOWN_DOCUMENT, "There is no such document.", details={"doc_id": doc_id})
    revision = documents.last_revision(connection, doc_id, strictest)
    if not living:
        return Withdrawn(revision, withdrawn_now=False)
    if not stays:
        documents.retire_revision(transaction, doc_id)
    facts.retire_facts_of(transaction, doc_id, strictest if stays else int(Label.RESTRICTED))
    edges.retire_edges_of(transaction, doc_id, strictest if stays else int(Label.RESTRICTED))
    return Withdrawn(revision, withdrawn_now=True)
