"""Files of figures and relations by their form. One form, one reader of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import PurePosixPath

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest, RowRefused
from groundwire_server.ingest.facts import FactRules, read_fact_file
from groundwire_server.ingest.head import FactFileHead, check_doc_id
from groundwire_server.ingest.json_rows import read_json_rows
from groundwire_server.ingest.relation_files import RELATION_FORMS, read_relation_file
from groundwire_server.ingest.relation_names import parse_relation_mapping
from groundwire_server.ingest.relations import RelationRules, TakenBack
from groundwire_server.library import Snapshot
from groundwire_server.readers import ReadOptions
from groundwire_server.store.rows import EdgeRecord, FactRecord

__all__ = ["FACT_FILE_FORMS", "FactFileRow", "FactIngestRules", "form_of", "read_rows", "what_is_lacking"]

_HEADING_BYTES = 64 << 10

FactFileRow = tuple[int, FactRecord | EdgeRecord | TakenBack | RowRefused]


@dataclass(frozen=True, slots=True)
class FactIngestRules:
    """How a library reads figures and relations."""

    facts: FactRules = field(default_factory=FactRules)
    relations: RelationRules = field(default_factory=RelationRules)

    @classmethod
    def of(cls, snapshot: Snapshot) -> FactIngestRules:
        """The rules that a library's glossary and settings make."""
        label, glossary = snapshot.config.default_label, snapshot.glossary
        return cls(FactRules(glossary, label), RelationRules(glossary, glossary.relation_names, label))


def read_rows(
    head: FactFileHead, raw: bytes, rules: FactIngestRules, options: ReadOptions | None = None
) -> Iterator[FactFileRow]:
    """(row from 1, what is stored or why it is not) of each row of a file.

    The file is read before this returns; the rows are used up once.

    Args:
        options: bounds of reading a packed file; None: the defaults.

    Raises:
        DocumentRefused: the file as a whole cannot be read: its name, its form, its mapping, or its content.
    """
    check_doc_id(head.name, "name")
    form = form_of(head, raw)
    try:
        return FACT_FILE_FORMS[form](head, raw, rules, options or ReadOptions())
    except InvalidRequest as error:
        raise DocumentRefused(
            ErrorReason.INVALID_REQUEST, f"{head.name}: {error.message}.", details={"field": "mapping_toml"}
        ) from None


def form_of(head: FactFileHead, raw: bytes) -> str:
    """The form that the head says; else that of the name; JSON lines with `subject` and `relation` are relations.

    Raises:
        DocumentRefused: DOCUMENT_UNSUPPORTED, with the forms that are read.
    """
    known = ", ".join(sorted(FACT_FILE_FORMS))
    said = head.form.strip().casefold()
    if said and said not in FACT_FILE_FORMS:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{head.name}: form {said[:80]!r} is none of {known}.",
            details={"field": "form"},
        )
    if said:
        return said
    suffix = PurePosixPath(head.name).suffix.casefold()
    form = _FORM_OF_SUFFIX.get(suffix)
    if form is None:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{head.name}: no form is known for {suffix[:40]!r}; those read are {known}.",
            hint="Say the form in the head.",
            details={"field": "form"},
        )
    if form == "jsonl" and _holds_relations(raw):
        return "relations_jsonl"
    return "relations_csv" if form == "csv" and _heads_relations(raw, head.mapping_toml) else form


def _holds_relations(raw: bytes) -> bool:
    for _, row in read_json_rows(raw):
        if isinstance(row, dict):
            return "subject" in row and "relation" in row
    return False


def _heads_relations(raw: bytes, mapping_toml: str) -> bool:
    """Whether the heading of a table, or what a mapping makes of it, is that of relations."""
    heading = raw[:_HEADING_BYTES].split(b"\n")[0].decode("utf-8", "replace").casefold()
    words = set(re.findall(r"[a-z_]+", heading))
    if "metric" in words or "value" in words:
        return False
    try:
        mapping = parse_relation_mapping(mapping_toml)
    except InvalidRequest:
        return False
    said = {*words, *mapping.columns, *mapping.constants}
    return {"subject", "relation", "object"} <= said


_Reader = Callable[[FactFileHead, bytes, FactIngestRules, ReadOptions], Iterator[FactFileRow]]


def _facts(form: str) -> _Reader:
    def read(head: FactFileHead, raw: bytes, rules: FactIngestRules, options: ReadOptions) -> Iterator[FactFileRow]:
        of_file = rules.facts if head.label is None else replace(rules.facts, default_label=head.label)
        return read_fact_file(head.name, form, raw, head.mapping_toml, of_file, options)

    return read


def _relations(form: str) -> _Reader:
    def read(head: FactFileHead, raw: bytes, rules: FactIngestRules, options: ReadOptions) -> Iterator[FactFileRow]:
        mapping = parse_relation_mapping(head.mapping_toml)
        of_file = rules.relations if head.label is None else replace(rules.relations, default_label=head.label)
        return iter(list(read_relation_file(head.name, raw, of_file, mapping, form=form)))

    return read


FACT_FILE_FORMS: dict[str, _Reader] = {
    "csv": _facts("csv"),
    "jsonl": _facts("jsonl"),
    "parquet": _facts("parquet"),
    "xbrl_json": _facts("xbrl_json"),
    "xlsx": _facts("xlsx"),
    **{form: _relations(form) for form in RELATION_FORMS},
}


def what_is_lacking(form: str) -> str:
    """Why files of a form cannot be read on this machine; empty: they can."""
    if form == "parquet" and find_spec("pyarrow") is None:
        return "pyarrow is not installed: groundwire-server[parquet]"
    return ""


_FORM_OF_SUFFIX = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".graphml": "graphml", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "xbrl_json", ".parquet": "parquet", ".xlsm": "xlsx", ".xlsx": "xlsx",
}  # fmt: skip
