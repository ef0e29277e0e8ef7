"""Settings of a library from the wire: index, tuning, attributes, and further ones under their own names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from groundwire.v1 import admin_pb2, narrative_pb2
from groundwire_server.chunking import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS
from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import AttributeType
from groundwire_server.library import (
    BUILT_IN_ATTRIBUTES,
    MAX_DECLARED,
    LibraryConfig,
    fault_of_declared,
)
from groundwire_server.narrative import FUSIONS, check_tuning, with_preset
from groundwire_server.query import DECOMPOSERS, TRANSFORMS
from groundwire_server.query.filters import FILTER_EXTRACTORS
from groundwire_server.query.grades import GRADERS
from groundwire_server.rpc.decode_narrative import decode_tuning
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.named_settings import NAMED, default_text
from groundwire_server.settings import IngestSettings
from groundwire_server.text import TOKENIZER_ID

__all__ = ["EmbedderName", "as_in_the_library", "decode_library_config"]

_OUTPUT_ONLY = ("snapshot_id", "documents", "active_chunks", "facts", "relations")
_SET_WHERE_GIVEN = ("embedding_coverage", "fault")
_OF_INDEX = ("chunker", "chunk_chars", "overlap_chars", "embedder", "relation_extractor")
_OFF = ("", "none")


@dataclass(frozen=True, slots=True)
class EmbedderName:
    """The server's embedder, as libraries are shown with it. Empty version: it is not there."""

    name: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else ""


def decode_library_config(
    message: admin_pb2.Library, defaults: IngestSettings, embedder: EmbedderName, findings: Findings
) -> LibraryConfig:
    """The settings that a library message holds; what it leaves out has the server's default.

    Args:
        defaults: of the server.
        embedder: the one that is there; a version that is asked for must be its own.
    """
    findings.required("library.library_id", message.library_id)
    for name in _OUTPUT_ONLY:
        if getattr(message, name):
            findings.add(f"library.{name}", ErrorReason.CONTRADICTION, "is for output only")
    for name in _SET_WHERE_GIVEN:
        if message.HasField(name):  # type: ignore[arg-type]
            findings.add(f"library.{name}", ErrorReason.CONTRADICTION, "is for output only")
    index = message.index
    _check_index(index, embedder, findings)
    values: dict[str, object] = {
        "description": message.description,
        "chunker": index.chunker or defaults.chunker,
        "chunk_chars": index.chunk_chars if index.HasField("chunk_chars") else DEFAULT_CHUNK_CHARS,
        "overlap_chars": index.overlap_chars if index.HasField("overlap_chars") else DEFAULT_OVERLAP_CHARS,
        "embedder": _embedder(index.embedder, embedder),
        "relation_extractor": index.relation_extractor or defaults.relation_extractor,
        "contextual": index.contextual_header if index.HasField("contextual_header") else defaults.contextual,
    }
    values.update(_tuning(message.tuning, findings))
    values.update(_settings(message.settings, values, findings))
    attributes = _attributes(message.attributes, findings)
    try:
        return replace(LibraryConfig.from_mapping(values, "library."), attributes=attributes)
    except InvalidRequest as error:
        findings.extend(as_in_the_library(each, message) for each in error.violations)
        return LibraryConfig()


def as_in_the_library(fault: Violation, message: admin_pb2.Library) -> Violation:
    """A fault of a setting, with its path in the request."""
    places = {
        f"library.attributes.{each.name}": f"library.attributes[{n}]" for n, each in enumerate(message.attributes)
    }
    places |= {f"library.{name}": f"library.index.{name}" for name in _OF_INDEX}
    places |= {f"library.{each.name}": f"library.settings[{n}].value" for n, each in enumerate(message.settings)}
    return replace(fault, field=places.get(fault.field, fault.field))


def _embedder(asked: str, there: EmbedderName) -> str:
    """The setting: the embedder that is there, by the name that a library is shown with, is what auto takes."""
    name = asked.partition("@")[0]
    return "auto" if not name or name == there.name != "none" else name


def _check_index(index: admin_pb2.IndexSettings, embedder: EmbedderName, findings: Findings) -> None:
    if index.tokenizer not in ("", TOKENIZER_ID):
        findings.add(
            "library.index.tokenizer", ErrorReason.UNKNOWN_NAME, f"{index.tokenizer[:80]!r} is not {TOKENIZER_ID}"
        )
    if "@" in index.embedder and index.embedder != str(embedder):
        why = f"{index.embedder[:160]!r} is not {str(embedder) or 'there'}; without a version the name alone counts"
        findings.add("library.index.embedder", ErrorReason.UNKNOWN_NAME, why)
    if any(name not in _OFF for name in index.representations):
        findings.uses("index.representations")
    if index.tree_builder not in _OFF:
        findings.uses("index.tree")


def _tuning(message: narrative_pb2.RetrievalTuning, findings: Findings) -> dict[str, object]:
    """Stages that a library may set. A stage that is not built is refused by its name, unless it is off."""
    tuning = decode_tuning(message, findings)
    for fault in check_tuning(tuning):
        findings.add(f"library.{fault.field}", fault.reason, fault.description)
    if message.library_router:
        why = "it picks among libraries, so that none of them can set it; a call may"
        findings.add("library.tuning.library_router", ErrorReason.CONTRADICTION, why)
    tuning = with_preset(tuning)
    values: dict[str, object] = {}
    if tuning.fusion in FUSIONS:
        values["fusion"] = tuning.fusion
    if tuning.query_transform in ("none", *TRANSFORMS):
        values["query_transform"] = tuning.query_transform
    if tuning.filter_extractor in ("none", *FILTER_EXTRACTORS):
        values["filter_extractor"] = tuning.filter_extractor
    if tuning.corrective is not None:
        values["corrective"] = tuning.corrective
    if tuning.corrective_judge in GRADERS:
        values["corrective_judge"] = tuning.corrective_judge
    if tuning.decomposition in ("none", *DECOMPOSERS):
        values["decomposition"] = tuning.decomposition
    if tuning.adaptive is not None:
        values["adaptive"] = tuning.adaptive
    if tuning.glossary_variants is not None:
        values["glossary_variants"] = tuning.glossary_variants
    if tuning.graph is not None:
        values["graph"] = tuning.graph
    return values


def _attributes(
    messages: Iterable[admin_pb2.AttributeSpec], findings: Findings
) -> tuple[tuple[str, AttributeType], ...]:
    """Declared attributes by name. Built-in ones stand in every library that is read; they are passed over."""
    declared: dict[str, AttributeType] = {}
    for place, each in enumerate(messages):
        path = f"library.attributes[{place}]"
        enum = admin_pb2.AttributeType.DESCRIPTOR
        if not findings.known(f"{path}.value_type", each.value_type, enum, required=True):
            continue
        kind = AttributeType(each.value_type)
        if each.name in BUILT_IN_ATTRIBUTES and kind.family is BUILT_IN_ATTRIBUTES[each.name]:
            continue
        fault = fault_of_declared(each.name, kind)
        if fault is not None:
            findings.add(path, *fault)
        elif each.name in declared:
            findings.add(f"{path}.name", ErrorReason.CONTRADICTION, f"{each.name} stands twice")
        else:
            declared[each.name] = kind
    if len(declared) > MAX_DECLARED:
        why = f"{len(declared)} attributes, at most {MAX_DECLARED}"
        findings.add("library.attributes", ErrorReason.VALUE_OUT_OF_RANGE, why)
    return tuple(sorted(declared.items()))


def _settings(
    messages: Iterable[admin_pb2.Setting], so_far: dict[str, object], findings: Findings
) -> dict[str, object]:
    """Further settings; each name once, in its own type. One that is shown as a default stays one."""
    values: dict[str, object] = {}
    seen: set[str] = set()
    for place, setting in enumerate(messages):
        path, name = f"library.settings[{place}]", setting.name
        if name not in NAMED:
            why = f"{name[:80]!r} is no setting of a library; valid: {', '.join(NAMED)}"
            findings.add(f"{path}.name", ErrorReason.UNKNOWN_NAME, why)
        elif name in seen:
            findings.add(f"{path}.name", ErrorReason.CONTRADICTION, f"{name} stands twice")
        elif setting.origin == "default":
            if setting.value not in ("", default_text(name)):
                why = f"{setting.value[:80]!r} is not the default, {default_text(name)}; leave the origin out to set it"
                findings.add(f"{path}.origin", ErrorReason.CONTRADICTION, why)
        elif setting.origin not in ("", "library"):
            why = f"{setting.origin[:80]!r} is neither library nor default"
            findings.add(f"{path}.origin", ErrorReason.CONTRADICTION, why)
        else:
            read, form = NAMED[name]
            try:
                values[name] = read(setting.value)
            except (ValueError, KeyError):
                why = f"{setting.value[:80]!r} is no {form}" if form != "true or false" else f"must be {form}"
                findings.add(f"{path}.value", ErrorReason.VALUE_MALFORMED, why)
            if name in so_far and name in values and values[name] != so_far[name]:
                why = f"tuning.{name} says {str(so_far[name]).lower()}"
                findings.add(f"{path}.value", ErrorReason.CONTRADICTION, why)
        seen.add(name)
    return values
