"""What comes in: documents and figures, made durable before they are acknowledged, and embedded in the background."""

from groundwire_server.ingest.desk import IngestDesk, is_uuid
from groundwire_server.ingest.document_ingest import DocumentIngest
from groundwire_server.ingest.documents import (
    DocumentRules,
    PreparedDocument,
    RefusedDocument,
    prepare_documents,
    read_period,
)
from groundwire_server.ingest.embed_jobs import Embeddable, EmbedJobs, missing_vectors
from groundwire_server.ingest.embedding import EmbeddingState, EmbeddingTarget, EmbeddingWorker
from groundwire_server.ingest.events import (
    Accepted,
    Ack,
    DocumentOutcome,
    IngestEvent,
    IngestSummary,
    RejectedRow,
    RowsRejected,
)
from groundwire_server.ingest.fact_files import FACT_FILE_FORMS, FactIngestRules, what_is_lacking
from groundwire_server.ingest.fact_ingest import FactIngest
from groundwire_server.ingest.fact_proposal import propose_mapping
from groundwire_server.ingest.facts import FactFields, FactRules
from groundwire_server.ingest.folder import SIDECAR_SUFFIX, FolderFault, FolderFile, load_sidecar, walk_folder
from groundwire_server.ingest.head import DocumentHead, FactFileHead
from groundwire_server.ingest.path_pattern import PathPatterns
from groundwire_server.ingest.path_rules import PathRules
from groundwire_server.ingest.recut import documents_to_recut, recut
from groundwire_server.ingest.relate import ExtractorOf, documents_to_relate, relate
from groundwire_server.ingest.relations import RelationFields, RelationRules
from groundwire_server.ingest.stream import IngestLimits, IngestOpening, IngestTarget

__all__ = [
    "FACT_FILE_FORMS",
    "SIDECAR_SUFFIX",
    "Accepted",
    "Ack",
    "DocumentHead",
    "DocumentIngest",
    "DocumentOutcome",
    "DocumentRules",
    "EmbedJobs",
    "Embeddable",
    "EmbeddingState",
    "EmbeddingTarget",
    "EmbeddingWorker",
    "ExtractorOf",
    "FactFields",
    "FactFileHead",
    "FactIngest",
    "FactIngestRules",
    "FactRules",
    "FolderFault",
    "FolderFile",
    "IngestDesk",
    "IngestEvent",
    "IngestLimits",
    "IngestOpening",
    "IngestSummary",
    "IngestTarget",
    "PathPatterns",
    "PathRules",
    "PreparedDocument",
    "RefusedDocument",
    "RejectedRow",
    "RelationFields",
    "RelationRules",
    "RowsRejected",
    "documents_to_recut",
    "documents_to_relate",
    "is_uuid",
    "load_sidecar",
    "missing_vectors",
    "prepare_documents",
    "propose_mapping",
    "read_period",
    "recut",
    "relate",
    "walk_folder",
    "what_is_lacking",
]
