"""The SQLite store passes every check, and no check is idle: mutants of the store are caught by the ones named."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groundwire_server.evidence import Label
from groundwire_server.store import WriteCounts, make_fact_id
from groundwire_server.store.conformance import ALL_CHECKS, Check, run_checks
from groundwire_server.store.sqlite import SqliteStore
from groundwire_server.store.sqlite.codec import encode_attributes
from groundwire_server.store.sqlite.edges import put_edges, replace_edges
from groundwire_server.store.sqlite.reader import SqliteReader
from tests.store.places import sqlite_places


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.name)
def test_sqlite_passes(tmp_path: Path, check: Check) -> None:
    failures = run_checks(sqlite_places(tmp_path), [check])
    assert [failure.reason for failure in failures] == []


def test_each_check_says_what_it_holds() -> None:
    assert len({check.name for check in ALL_CHECKS}) == len(ALL_CHECKS)
    assert all(check.sentence.endswith(".") for check in ALL_CHECKS)


def _caught(tmp_path: Path, names: set[str]) -> set[str]:
    checks = [check for check in ALL_CHECKS if check.name in names]
    return {failure.check.name for failure in run_checks(sqlite_places(tmp_path), checks)}


def _commit_instead(store: Any) -> None:
    store._connection.execute("COMMIT")


_reader = SqliteStore.reader


def _any_generation(store: Any, generation: int | None = None) -> SqliteReader:
    return _reader(store) if generation is None else SqliteReader(store._pool, generation)


def _chained(book: Any, label: Label, event: bytes) -> None:
    book._sums[label] = (book._sums.get(label, 1) * 31 + int.from_bytes(event, "big")) % 2**256


# What is put in the place of what, and the checks that must see it.
FUNCTIONS: list[tuple[str, Any, set[str]]] = [
    ("generations.write_meta", lambda *_: True, {"only_what_changed_makes_a_generation"}),
    ("store.threading", SimpleNamespace(Lock=nullcontext), {"one_writer_at_a_time"}),
    ("connection._connect_reader", sqlite3.connect, {"any_thread_may_read"}),
    ("store.SqliteStore.reader", _any_generation, {"no_reader_of_the_future"}),
    ("documents._content_sha256", lambda document, attributes: os.urandom(32), {"equal_content_makes_no_revision"}),
    ("documents._check_spans", lambda document: None, {"a_chunk_lies_in_its_text"}),
    ("reader.matches", lambda tree, attributes: True, {"chunks_are_picked_by_equal_attributes"}),
    ("facts.decode_dimensions", lambda raw: (), {"a_fact_comes_out_as_it_went_in"}),
    ("facts._says_the_same", lambda version, columns: False, {"a_label_can_be_lowered"}),
    ("facts._says_the_same", lambda version, columns: True, {"another_value_is_another_version"}),
    ("facts._with_label_kept", lambda transaction, record, strictest: record, {"a_figure_can_be_taken_back"}),
    ("facts._is_read_again", lambda version, record: False, {"what_is_approved_is_not_read_back"}),
    ("facts._in_force", lambda undated: undated[-1:], {"what_waits_stands_between_nothing"}),
    ("facts.make_fact_id", lambda record: make_fact_id(record) + record.unit, {"units_and_periods_make_the_key"}),
    ("facts._VALUE", re.compile(r"[^x]*"), {"a_bad_figure_is_refused"}),
    ("edges.encode_attributes", lambda attributes: encode_attributes(()), {"an_edge_comes_out_as_it_went_in"}),
    ("edges.read_retired_edges", lambda *_: [], {"rows_of_edges_come_as_columns"}),
    ("edges._in_order", list, {"sources_of_one_edge_share_its_id"}),
    ("edges.count_edges", lambda *_: 4, {"rows_of_edges_come_as_columns"}),
    ("edges.read_edge_rows", lambda *_: [], {"rows_of_edges_come_as_columns"}),
    ("edges.has_node", lambda *_: True, {"nodes_are_what_edges_touch"}),
    ("ledger._advance", lambda *_, **__: None, {"parts_go_forward"}),
    ("reader.readable_labels", lambda clearance: 4, {"hidden_rows_do_not_exist", "restricted_never_does"}),
    ("reader.readable_labels", lambda clearance: int(clearance or 4), {"restricted_never_does"}),
    ("documents.retire_revision", lambda transaction, doc_id: 0, {"replacing_is_one_step"}),
    ("documents._content_sha256", lambda document, attributes: b"", {"any_difference_makes_a_revision"}),
    ("documents.is_storable", lambda text: True, {"text_without_utf8_is_refused"}),
    ("documents.prefix_end", lambda prefix: prefix + "z", {"documents_are_listed_in_order"}),
    ("facts.retire_facts_of", lambda *_: 0, {"withdrawing_takes_everything"}),
    (
        "edges.replace_edges",
        lambda transaction, source_doc, extractors, records, start: put_edges(transaction, records, 4),
        {"what_an_extractor_found_is_replaced_whole"},
    ),
    (
        "edges.replace_edges",
        lambda transaction, source_doc, extractors, records, start: replace_edges(
            transaction, source_doc, extractors, records
        ),
        {"the_edges_of_one_node_are_replaced_alone"},
    ),
    ("writer.read_fact_axes", lambda *_: [], {"axes_of_figures_are_told"}),
    ("edges.take_back_edges", lambda *_: WriteCounts(0, 1), {"a_relation_is_taken_back"}),
    ("edges._DERIVED", frozenset(), {"what_is_derived_is_no_content"}),
    ("edges._GLOSSARY", "1", {"what_is_derived_is_no_content"}),
    ("edges.retire_edges_of", lambda *_: 0, {"withdrawing_takes_everything"}),
    ("writer.readable_labels", lambda clearance: 4, {"outcomes_tell_of_nothing_hidden"}),
    (
        "facts._same_version",
        lambda living, columns: None,
        {"repeating_changes_nothing", "the_same_version_is_replaced"},
    ),
    ("facts._history", lambda living, columns: None, {"the_digest_knows_the_order_of_versions"}),
    ("attributes.AttributeBook.fault", lambda *_: "", {"first_use_fixes_a_family", "a_declared_type_binds"}),
    ("documents.recut_document", lambda *_: None, {"cutting_anew_keeps_all_else"}),
    ("digest.DigestBook.add_death", lambda book, label, event: None, {"the_digest_tells_states_apart"}),
    ("digest.DigestBook._add", _chained, {"the_digest_knows_no_order"}),
    ("store.SqliteStore._undo", _commit_instead, {"an_exception_undoes_everything"}),
    ("transaction.Transaction.died", lambda transaction, label, event: None, {"the_digest_tells_states_apart"}),
    (
        "documents.number_column",
        lambda strictest: "revision",
        {
            "revisions_are_counted_as_they_are_seen",
            "a_hidden_revision_leaves_no_trace",
            "the_last_readable_revision_is_listed",
        },
    ),
    ("chunks.number_column", lambda strictest: "revision", {"revisions_are_counted_as_they_are_seen"}),
    ("fact_extents.encode_dimensions", lambda dimensions: "[CLOUD]", {"extents_tell_what_whole_figures_tell"}),
    ("fact_keys.KNOWN", "born <= :g", {"many_keys_are_read_at_once"}),
    ("fact_codes._AXES", ("entity", "metric"), {"every_code_is_told_once"}),
    ("fact_pages._stands_at", lambda fact, place: False, {"figures_are_listed_in_order"}),
    ("edge_pages._is_of", lambda edge, source_doc: True, {"relations_are_listed_in_order"}),
]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # of a check that has threads
@pytest.mark.parametrize(("target", "value", "names"), FUNCTIONS)
def test_a_broken_part_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, value: Any, names: set[str]
) -> None:
    monkeypatch.setattr(f"groundwire_server.store.sqlite.{target}", value)
    assert _caught(tmp_path, names) == names


# The same with statements: what stands in them, what is put there, and the checks that must see it.
STATEMENTS: list[tuple[str, str, set[str]]] = [
    ("valid_as_of, attributes, (SELECT committed_at", "", {"a_document_may_have_no_chunks"}),
    ("died > :after AND died <= :g OR", "died <= :g OR", {"rows_ascend_and_spans_cover_them"}),
    (
        "UNION ALL SELECT died FROM edge WHERE source_doc = :doc AND label <= :label",
        "",
        {"withdrawing_knows_what_was_there"},
    ),
    ("ELSE filed_at <= :known", "ELSE filed_at < :known", {"known_at_goes_by_filing"}),
    (
        "UPDATE document_revision SET died = ?",
        "UPDATE document_revision SET died = ? + 1",
        {"replacing_is_one_step"},
    ),
    ("CASE WHEN died <= :g THEN died END", "died", {"a_reader_stays_as_it_was"}),
    (
        "born <= :g AND (died IS NULL OR died > :g)",
        "died IS NULL",
        {"a_reader_stays_as_it_was", "rows_of_edges_come_as_columns"},
    ),
    ("AND born <= :g ORDER BY edge_row", "ORDER BY edge_row", {"rows_of_edges_come_as_columns"}),
    (
        "born <= :g AND (died IS NULL OR died > :g)",
        "born <= :g",
        {"replacing_is_one_step", "a_changed_source_is_replaced", "rows_of_edges_come_as_columns"},
    ),
    ("ORDER BY name, label DESC", "ORDER BY name, label", {"lower_labels_fix_families"}),
    ("AND revision = ? AND died IS NULL", "AND ?", {"cutting_anew_keeps_all_else"}),
    ("max(?, coalesce(max(committed_at), ?))", "coalesce(?, ?)", {"time_never_goes_back"}),
    ("DELETE FROM ingest_spool WHERE ingest_id = ?", "SELECT ?", {"an_ingest_is_resumed_where_it_was"}),
    (
        "SELECT seq FROM sqlite_sequence WHERE name = ?",
        "SELECT CASE ?1 WHEN 'chunk' THEN 9 ELSE coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0) END",
        {"what_goes_in_comes_out"},
    ),
    ("ORDER BY doc_id LIMIT", "ORDER BY doc_id COLLATE NOCASE LIMIT", {"documents_are_listed_in_order"}),
    ("e.label <= r.label", "1", {"equal_texts_share_a_vector"}),
    ("r.label < :restricted", "1", {"equal_texts_share_a_vector"}),
    (
        "review_status <> :pending",
        "1",
        {"the_same_version_is_replaced", "facts_are_found_by_key", "lines_tell_what_whole_figures_tell"},
    ),
    ("(SELECT committed_at FROM generation WHERE generation = born), ", "0, ", {"a_date_is_added_to_what_had_none"}),
    ("ORDER BY entity, fact_row", "ORDER BY fact_row", {"lines_tell_what_whole_figures_tell"}),
    ("valid_as_of <= :valid", "1", {"lines_tell_what_whole_figures_tell"}),
    ("count(DISTINCT edge_id)", "count(*)", {"an_edge_counts_once"}),
    (
        "FROM document_revision WHERE doc_id = :doc AND label >",
        "FROM document_revision WHERE 0 AND label >",
        {"outcomes_tell_of_nothing_hidden"},
    ),
    ("FROM document_revision WHERE doc_id = ? AND label <= ?", "WHERE ? < ?", {"withdrawing_takes_everything"}),
    ("touched_at < ?", "touched_at > ?", {"old_ingests_are_forgotten"}),
    ("PRIMARY KEY (name, generation)", "PRIMARY KEY (name)", {"named_texts_have_generations"}),
    ("PRIMARY KEY (name, label)", "PRIMARY KEY (name)", {"lower_labels_fix_families"}),
    ("CASE label WHEN 1 THEN number_1", "CASE label WHEN 1 THEN number_3", {"revisions_are_counted_as_they_are_seen"}),
    ("held.label <= :label", "1", {"the_last_readable_revision_is_listed"}),
    ("number_2 < :before", "number_2 <= :before", {"revisions_and_chunks_come_in_pages"}),
    ("BETWEEN first_row + :seq", "BETWEEN first_row + 1 - 1", {"revisions_and_chunks_come_in_pages"}),
    ("CASE WHEN source = '' THEN source_doc ELSE source END", "source_doc", {"figures_are_listed_in_order"}),
    ("CASE dimensions WHEN '[]' THEN '' ELSE dimensions END", "dimensions", {"figures_are_listed_in_order"}),
    ("AND later.label <= :label", "", {"figures_are_listed_in_order"}),
    ("coalesce(filed_at, committed_at) >= :at_stated", "1", {"figures_are_listed_in_order"}),
    ("edge_id) > (", "edge_id) >= (", {"relations_are_listed_in_order", "what_stays_is_listed_once"}),
    ("UNION SELECT DISTINCT relation", "UNION ALL SELECT DISTINCT relation", {"relations_are_listed_in_order"}),
    ("ORDER BY held.revision DESC", "ORDER BY held.revision", {"the_last_readable_revision_is_listed"}),
    ("COMMIT", "ROLLBACK", {"a_transaction_is_whole", "a_commit_outlives_the_store"}),
]


@pytest.mark.parametrize(("there", "instead", "names"), STATEMENTS)
def test_a_broken_statement_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str, instead: str, names: set[str]
) -> None:
    seen: list[str] = []

    class Rewriting(sqlite3.Connection):
        def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
            seen.extend([statement] * (there in statement))
            return super().execute(statement.replace(there, instead), parameters)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Rewriting, **options))
    assert _caught(tmp_path, names) == names
    assert seen


def test_every_check_catches_something() -> None:
    caught = {name for *_, names in (*FUNCTIONS, *STATEMENTS) for name in names}
    assert {check.name for check in ALL_CHECKS} - caught == set()
