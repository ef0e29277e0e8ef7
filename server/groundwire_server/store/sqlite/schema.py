"""The tables, as ordered migrations whose names a table keeps. A released migration is never changed, only followed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["MIGRATIONS", "Migration", "apply_migrations", "check_migrations"]

Migration = Callable[[sqlite3.Connection], None]

# born and died are generations (rows.py). event is the digest event of the birth, so that a death can name it.
# Long texts stand last in their rows or in a table of their own: scans of the columns before them stay short.
_FIRST = """
CREATE TABLE generation (
    generation INTEGER PRIMARY KEY,
    committed_at INTEGER NOT NULL
);
CREATE INDEX generation_by_time ON generation (committed_at, generation);

CREATE TABLE digest (
    label INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (label, generation)
) WITHOUT ROWID;

CREATE TABLE meta (
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name, generation)
) WITHOUT ROWID;

CREATE TABLE attribute_family (
    name TEXT NOT NULL,
    label INTEGER NOT NULL,
    family TEXT NOT NULL,
    born INTEGER NOT NULL,
    PRIMARY KEY (name, label)
) WITHOUT ROWID;

CREATE TABLE document_revision (
    revision_row INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    label INTEGER NOT NULL,
    born INTEGER NOT NULL,
    died INTEGER,
    first_row INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    valid_as_of INTEGER,
    event BLOB NOT NULL,
    content_sha256 BLOB NOT NULL,
    raw_sha256 BLOB NOT NULL,
    raw_bytes INTEGER NOT NULL,
    text_chars INTEGER NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    chunker TEXT NOT NULL,
    attributes TEXT NOT NULL,
    UNIQUE (doc_id, revision)
);
CREATE INDEX revision_by_first_row ON document_revision (first_row);
CREATE INDEX revision_by_death ON document_revision (died) WHERE died IS NOT NULL;

CREATE TABLE source_text (
    revision_row INTEGER PRIMARY KEY REFERENCES document_revision (revision_row),
    text TEXT NOT NULL
);

CREATE TABLE chunk (
    chunk_row INTEGER PRIMARY KEY AUTOINCREMENT,
    revision_row INTEGER NOT NULL REFERENCES document_revision (revision_row),
    seq INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    parent_start INTEGER,
    parent_end INTEGER,
    index_sha256 BLOB NOT NULL,
    locator TEXT NOT NULL,
    heading TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    parent_locator TEXT NOT NULL,
    header TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunk_by_index_text ON chunk (index_sha256);

CREATE TABLE fact (
    fact_row INTEGER PRIMARY KEY AUTOINCREMENT,
    fact_id TEXT NOT NULL,
    label INTEGER NOT NULL,
    born INTEGER NOT NULL,
    died INTEGER,
    event BLOB NOT NULL,
    metric TEXT NOT NULL,
    entity TEXT NOT NULL,
    period TEXT NOT NULL,
    period_first TEXT NOT NULL,
    period_last TEXT NOT NULL,
    channel TEXT NOT NULL,
    dimensions TEXT NOT NULL,
    value TEXT NOT NULL,
    unit TEXT NOT NULL,
    source TEXT NOT NULL,
    source_doc TEXT NOT NULL,
    locator TEXT NOT NULL,
    decimals INTEGER,
    as_written TEXT NOT NULL,
    valid_as_of INTEGER,
    filed_at INTEGER,
    review_status INTEGER NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    attributes TEXT NOT NULL
);
CREATE INDEX fact_by_id ON fact (fact_id);
CREATE INDEX fact_by_key ON fact (metric, entity, period_first, period_last);
CREATE INDEX fact_by_entity ON fact (entity, metric);
CREATE INDEX fact_by_source_doc ON fact (source_doc);

CREATE TABLE edge (
    edge_row INTEGER PRIMARY KEY AUTOINCREMENT,
    edge_id TEXT NOT NULL,
    label INTEGER NOT NULL,
    born INTEGER NOT NULL,
    died INTEGER,
    event BLOB NOT NULL,
    source_kind TEXT NOT NULL,
    source TEXT NOT NULL,
    relation TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    extractor TEXT NOT NULL,
    source_doc TEXT NOT NULL,
    locator TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_to TEXT NOT NULL,
    attributes TEXT NOT NULL
);
CREATE INDEX edge_by_id ON edge (edge_id, source_doc, locator);
CREATE INDEX edge_by_source ON edge (source_kind, source);
CREATE INDEX edge_by_target ON edge (target_kind, target);
CREATE INDEX edge_by_source_doc ON edge (source_doc);

CREATE TABLE embedding_model (
    model INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE embedding (
    embedding_row INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES embedding_model (model),
    index_sha256 BLOB NOT NULL,
    label INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, index_sha256, label)
);

CREATE TABLE ingest (
    ingest_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    durable_seq INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    head BLOB NOT NULL,
    touched_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE ingest_outcome (
    outcome_row INTEGER PRIMARY KEY AUTOINCREMENT,
    ingest_id TEXT NOT NULL REFERENCES ingest (ingest_id) ON DELETE CASCADE,
    outcome BLOB NOT NULL
);
CREATE INDEX outcome_by_ingest ON ingest_outcome (ingest_id, outcome_row);
CREATE TABLE ingest_spool (
    ingest_id TEXT NOT NULL REFERENCES ingest (ingest_id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (ingest_id, seq)
);
"""


def _run_script(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit the transaction that the migration runs in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _lay_tables(connection: sqlite3.Connection) -> None:
    _run_script(connection, _FIRST)


# number_1 to number_3: the number that a revision has for who reads up to PUBLIC, INTERNAL or CONFIDENTIAL; revision is
# the one among all. The indexes of lists begin with the label: what is hidden from a reader takes no time of its own.
_LISTS = """
ALTER TABLE document_revision ADD COLUMN number_1 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE document_revision ADD COLUMN number_2 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE document_revision ADD COLUMN number_3 INTEGER NOT NULL DEFAULT 0;
UPDATE document_revision SET number_1 = counted.number_1, number_2 = counted.number_2, number_3 = counted.number_3
FROM (
    SELECT revision_row AS counted_row,
        sum(label <= 1) OVER history AS number_1,
        sum(label <= 2) OVER history AS number_2,
        sum(label <= 3) OVER history AS number_3
    FROM document_revision
    WINDOW history AS (PARTITION BY doc_id ORDER BY revision)
) AS counted
WHERE revision_row = counted.counted_row;
CREATE INDEX revision_by_label ON document_revision (label, doc_id, born, died);
CREATE INDEX fact_by_label ON fact (label, metric, entity, period_first, period_last);
CREATE INDEX fact_by_label_and_source ON fact (label, source_doc, metric, entity, period_first, period_last);
CREATE INDEX edge_by_label ON edge (label, relation, source_kind, source, target_kind, target, edge_id);
CREATE INDEX edge_by_label_and_source ON edge
    (label, source_doc, relation, source_kind, source, target_kind, target, edge_id);
"""


def _prepare_lists(connection: sqlite3.Connection) -> None:
    _run_script(connection, _LISTS)


# Of texts whose places do not follow from them (pages, slides); a text without a row here tells its places itself.
_PLACES = """
CREATE TABLE revision_places (
    revision_row INTEGER PRIMARY KEY REFERENCES document_revision (revision_row),
    places BLOB NOT NULL
);
"""


def _keep_places(connection: sqlite3.Connection) -> None:
    _run_script(connection, _PLACES)


# purged: the generation that erased what the revision held; its row and those of its chunks stay, empty, so that no
# number is given twice. It died when it was born then: no generation has it.
_PURGE = """
ALTER TABLE document_revision ADD COLUMN purged INTEGER;
CREATE INDEX revision_by_purge ON document_revision (purged) WHERE purged IS NOT NULL;
"""


def _mark_purged(connection: sqlite3.Connection) -> None:
    _run_script(connection, _PURGE)


# By what a question names, days before entity: the figures of one measure and span lie side by side for every entity.
_FACT_DAYS = """
CREATE INDEX fact_by_days ON fact (metric, period_first, period_last, channel, entity);
DROP INDEX fact_by_key;
"""


def _order_facts_by_days(connection: sqlite3.Connection) -> None:
    _run_script(connection, _FACT_DAYS)


# The adjacency asks what died since it was made.
_EDGE_DEATHS = """
CREATE INDEX edge_by_death ON edge (died) WHERE died IS NOT NULL;
"""


def _index_edge_deaths(connection: sqlite3.Connection) -> None:
    _run_script(connection, _EDGE_DEATHS)


# Codes on an axis are told by a walk from one to the next. Most figures are of the whole and have no further axis.
_FACT_AXES = """
CREATE INDEX fact_by_channel ON fact (channel) WHERE channel <> 'TOTAL';
CREATE INDEX fact_by_dimensions ON fact (dimensions) WHERE dimensions <> '[]';
"""


def _index_fact_axes(connection: sqlite3.Connection) -> None:
    _run_script(connection, _FACT_AXES)


MIGRATIONS: tuple[tuple[str, Migration], ...] = (
    ("0001_lay_tables", _lay_tables),
    ("0002_prepare_lists", _prepare_lists),
    ("0003_keep_places", _keep_places),
    ("0004_mark_purged", _mark_purged),
    ("0005_order_facts_by_days", _order_facts_by_days),
    ("0006_index_edge_deaths", _index_edge_deaths),
    ("0007_index_fact_axes", _index_fact_axes),
)


def check_migrations(applied: Sequence[str], migrations: Sequence[tuple[str, Migration]] = MIGRATIONS) -> int:
    """How many of the migrations are applied.

    Raises:
        FailedPrecondition: STORE_VERSION, when the store holds one that this version does not know.
    """
    known = [name for name, _ in migrations]
    if list(applied) != known[: len(applied)]:
        raise FailedPrecondition(
            ErrorReason.STORE_VERSION,
            f"The store was written by another version: it is at step {len(applied)}, this one knows {len(known)}.",
            hint="Start the version that wrote it, or a newer one.",
            details={"stored": str(len(applied)), "known": str(len(known))},
        )
    return len(applied)


def apply_migrations(connection: sqlite3.Connection, migrations: Sequence[tuple[str, Migration]] = MIGRATIONS) -> None:
    """Bring a store up to date: all missing steps in one transaction, or none.

    Raises:
        FailedPrecondition: STORE_VERSION, for a store of a newer version; it is left as it was.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration"
            " (place INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
        applied = [name for (name,) in connection.execute("SELECT name FROM migration ORDER BY place")]
        for name, migrate in migrations[check_migrations(applied, migrations) :]:
            migrate(connection)
            connection.execute(
                "INSERT INTO migration (name, applied_at) VALUES (?, ?)", (name, datetime.now(UTC).isoformat())
            )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
