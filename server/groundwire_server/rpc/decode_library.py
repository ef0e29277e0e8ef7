"""Settings of a library from the wire: its index, its tuning, and further ones under their own names."""

from __future__ import annotations

from dataclasses import replace

from groundwire.v1 import admin_pb2
from groundwire_server.chunking import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS
from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.library import LibraryConfig
from groundwire_server.narrative import FUSIONS, check_tuning
from groundwire_server.rpc.decode_narrative import decode_tuning
from groundwire_server.rpc.findings import Findings
from groundwire_server.text import TOKENIZER_ID

__all__ = ["decode_library_config"]

_NUMBERS = {"k1": float, "b": float, "vector_depth": int}
_TEXTS = ("ambiguous", "default_label")
_OUTPUT_ONLY = ("snapshot_id", "documents", "active_chunks", "facts", "relations")
_OF_INDEX = ("chunker", "chunk_chars", "overlap_chars", "embedder")
_OFF = ("", "none")
# On unless a library says otherwise, and no library can yet: to be told to leave them out is a setting, too.
_ALWAYS_ON = frozenset({"glossary_variants"})


def decode_library_config(
    message: admin_pb2.Library, default_chunker: str, embedder: str, findings: Findings
) -> LibraryConfig:
    """The settings that a library message holds; what it leaves out has the server's default.

    Args:
        embedder: the one that is there, as NAME@VERSION; a version that is asked for must be its own.
    """
    findings.required("library.library_id", message.library_id)
    for name in _OUTPUT_ONLY:
        if getattr(message, name):
            findings.add(f"library.{name}", ErrorReason.CONTRADICTION, "is for output only")
    if message.HasField("embedding_coverage"):
        findings.add("library.embedding_coverage", ErrorReason.CONTRADICTION, "is for output only")
    if message.attributes:
        findings.uses("library.attributes")
    index = message.index
    _check_index(index, embedder, findings)
    tuning = decode_tuning(message.tuning, findings)
    for fault in check_tuning(tuning):
        findings.add(f"library.{fault.field}", fault.reason, fault.description)
    if _stages_set(message) - {"fusion"}:
        findings.uses("library.tuning")
    values: dict[str, object] = {
        "description": message.description,
        "chunker": index.chunker or default_chunker,
        "chunk_chars": index.chunk_chars if index.HasField("chunk_chars") else DEFAULT_CHUNK_CHARS,
        "overlap_chars": index.overlap_chars if index.HasField("overlap_chars") else DEFAULT_OVERLAP_CHARS,
        "embedder": _embedder(index.embedder, embedder),
    }
    if tuning.fusion in FUSIONS:
        values["fusion"] = tuning.fusion
    values.update(_settings(message, findings))
    try:
        return LibraryConfig.from_mapping(values, "library.")
    except InvalidRequest as error:
        places = {f"library.{each.name}": f"library.settings[{n}].value" for n, each in enumerate(message.settings)}
        places |= {f"library.{name}": f"library.index.{name}" for name in _OF_INDEX}
        findings.extend(replace(each, field=places.get(each.field, each.field)) for each in error.violations)
        return LibraryConfig()


def _embedder(asked: str, there: str) -> str:
    """The setting: the embedder that is there, by the name that a library is shown with, is what auto takes."""
    name = asked.partition("@")[0]
    return "auto" if not name or name == there.partition("@")[0] else name


def _stages_set(message: admin_pb2.Library) -> set[str]:
    """Stages that the tuning switches on."""
    return {
        field.name
        for field, value in message.tuning.ListFields()
        if (value is not False or field.name in _ALWAYS_ON)
        and value not in _OFF
        and list(value if field.is_repeated else [value]) != ["none"]
    }


def _check_index(index: admin_pb2.IndexSettings, embedder: str, findings: Findings) -> None:
    if index.tokenizer not in ("", TOKENIZER_ID):
        findings.add(
            "library.index.tokenizer", ErrorReason.UNKNOWN_NAME, f"{index.tokenizer[:80]!r} is not {TOKENIZER_ID}"
        )
    if "@" in index.embedder and index.embedder != embedder:
        why = f"{index.embedder[:160]!r} is not {embedder or 'there'}; without a version the name alone counts"
        findings.add("library.index.embedder", ErrorReason.UNKNOWN_NAME, why)
    if index.contextual_header:
        findings.uses("index.contextual_header")
    if any(name not in _OFF for name in index.representations):
        findings.uses("index.representations")
    if index.tree_builder not in _OFF:
        findings.uses("index.tree")
    if index.relation_extractor not in _OFF:
        findings.uses("index.relation_extractor")


def _settings(message: admin_pb2.Library, findings: Findings) -> dict[str, object]:
    """Further settings; each name once, numbers in their own type."""
    values: dict[str, object] = {}
    known = sorted((*_NUMBERS, *_TEXTS))
    for place, setting in enumerate(message.settings):
        path = f"library.settings[{place}]"
        if setting.name not in known:
            why = f"{setting.name[:80]!r} is no setting of a library; valid: {', '.join(known)}"
            findings.add(f"{path}.name", ErrorReason.UNKNOWN_NAME, why)
        elif setting.name in values:
            findings.add(f"{path}.name", ErrorReason.CONTRADICTION, f"{setting.name} stands twice")
        elif setting.origin not in ("", "library"):
            findings.add(f"{path}.origin", ErrorReason.CONTRADICTION, "a setting of a library has the origin library")
        elif setting.name in _TEXTS:
            values[setting.name] = setting.value
        else:
            try:
                values[setting.name] = _NUMBERS[setting.name](setting.value)
            except ValueError:
                why = f"{setting.value[:80]!r} is no number"
                findings.add(f"{path}.value", ErrorReason.VALUE_MALFORMED, why)
    return values
