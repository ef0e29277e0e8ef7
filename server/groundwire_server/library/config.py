"""Settings of one library: `library.toml`, which people may write (formats.md)."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from groundwire_server.chunking import BUDGET_UNITS, CHUNKERS, chunker_name, cut_spec
from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import AttributeType, Label
from groundwire_server.library.attributes import BUILT_IN_ATTRIBUTES
from groundwire_server.library.cut import Cut

__all__ = ["AMBIGUOUS", "EMBEDDERS", "MAX_DECLARED", "LibraryConfig", "fault_of_declared"]

AMBIGUOUS = ("refuse", "report")
DERIVED_FROM = ("facts", "glossary", "metadata")
"""What relations can be derived from."""
EMBEDDERS = ("auto", "deterministic", "none", "onnx")
# Those that other rooms have, which this one does not know; tests hold them together.
_FUSIONS = ("linear", "rrf")
_EXTRACTORS = ("co_occurrence", "llm", "none")
_DECOMPOSERS = ("llm", "none", "rules")
_FILTER_EXTRACTORS = ("glossary", "llm", "none")
_JUDGES = ("llm", "words")
_TRANSFORMS = ("hyde", "none", "rag_fusion", "step_back")
_MAX_DESCRIPTION = 4096
MAX_DECLARED = 1000
"""Attributes that a library may declare."""
_ATTRIBUTE_NAME = re.compile(r"[a-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True)
class LibraryConfig:
    """How a library's text becomes an index, and its defaults of retrieval.

    Attributes:
        description: what is in it, for people and for the library router.
        chunker, chunk_chars, overlap_chars: how documents that come in are cut.
        budget_unit: what chunk_chars and overlap_chars count, "characters" or the embedder's "tokens".
        contextual: whether title, entity, period and heading go before each chunk in what is indexed and embedded.
        embedder: "auto", "onnx", "none", or "deterministic" (tests only).
        fusion: how lexical and dense lists are put together, by name.
        k1, b: of BM25.
        vector_depth: where the dense list is cut before fusion.
        ambiguous: "refuse" a glossary in which two terms share a synonym, or "report" it with each answer.
        default_label: of what comes in without one.
        glossary_variants: whether the glossary's variants of a query are searched where the call does not say.
        filter_extractor: what reads a hint out of a query where the call does not say, or "none".
        corrective: whether what was found is judged where the call does not say, and searched again or refused.
        corrective_judge: who judges it, "words" or "llm".
        query_transform: what makes other texts of a query to search where the call does not say, or "none".
        decomposition: what cuts a question of Ask into several where the call does not say, or "none".
        adaptive: whether only questions that need several steps are cut where the call does not say.
        graph: whether relations are followed from what a search finds where the call does not say.
        relation_extractor: who finds relations in the texts of documents, by name.
        relations_from: what relations are derived from: "none", or some of facts, glossary, metadata, with commas.
        attributes: names and types of attributes that are fixed before their first use, by name. Settings are for
            everybody who reads the library, so these names show to all of them.
    """

    description: str = ""
    chunker: str = "paragraph"
    chunk_chars: int = 480
    overlap_chars: int = 80
    budget_unit: str = "characters"
    contextual: bool = False
    embedder: str = "auto"
    fusion: str = "linear"
    k1: float = 1.5
    b: float = 0.75
    vector_depth: int = 200
    ambiguous: Literal["refuse", "report"] = "refuse"
    default_label: Label = Label.INTERNAL
    glossary_variants: bool = True
    query_transform: str = "none"
    filter_extractor: str = "none"
    corrective: bool = False
    corrective_judge: str = "words"
    decomposition: str = "none"
    adaptive: bool = False
    graph: bool = False
    relation_extractor: str = "none"
    relations_from: str = "glossary,metadata"
    attributes: tuple[tuple[str, AttributeType], ...] = ()

    @property
    def derived_relations(self) -> frozenset[str]:
        """What relations are derived from."""
        return frozenset(_listed(self.relations_from)) - {"none"}

    @property
    def cut(self) -> str:
        """How documents are cut, as the chunker says it of itself; budgets that cut alike have it in common."""
        spec = cut_spec(self.chunker, self.chunk_chars, self.overlap_chars, self.budget_unit)
        return str(Cut(spec, self.contextual))

    def cuts_like(self, other: LibraryConfig) -> bool:
        """Whether all documents, also those that come with a chunker of their own, are cut as by other settings."""
        mine, its = (
            (each.chunker, each.chunk_chars, each.overlap_chars, each.budget_unit, each.contextual)
            for each in (self, other)
        )
        return mine == its

    def check(self, path: str = "") -> None:
        """Raises InvalidRequest that names every value out of bounds; `path` goes before the names."""
        found = [
            Violation(f"{path}{name}", ErrorReason.VALUE_OUT_OF_RANGE, f"{value} is not {bounds}")
            for name, value, holds, bounds in (
                ("chunk_chars", self.chunk_chars, self.chunk_chars > 0, "above 0"),
                ("overlap_chars", self.overlap_chars, self.overlap_chars >= 0, "0 or more"),
                ("k1", self.k1, 0 <= self.k1 <= 100, "in 0..100"),
                ("b", self.b, 0 <= self.b <= 1, "in 0..1"),
                ("vector_depth", self.vector_depth, 1 <= self.vector_depth <= 100_000, "in 1..100000"),
            )
            if not holds
        ]
        if 0 < self.chunk_chars <= self.overlap_chars:
            why = f"{self.overlap_chars} is not below chunk_chars, {self.chunk_chars}"
            found.append(Violation(f"{path}overlap_chars", ErrorReason.CONTRADICTION, why))
        if len(self.description) > _MAX_DESCRIPTION:
            why = f"{len(self.description)} code points, at most {_MAX_DESCRIPTION}"
            found.append(Violation(f"{path}description", ErrorReason.VALUE_OUT_OF_RANGE, why))
        for name, choices in (
            ("chunker", CHUNKERS),
            ("budget_unit", BUDGET_UNITS),
            ("embedder", EMBEDDERS),
            ("fusion", _FUSIONS),
            ("query_transform", _TRANSFORMS),
            ("filter_extractor", _FILTER_EXTRACTORS),
            ("corrective_judge", _JUDGES),
            ("decomposition", _DECOMPOSERS),
            ("relation_extractor", _EXTRACTORS),
            ("ambiguous", AMBIGUOUS),
        ):
            value = getattr(self, name)
            if value not in choices:
                why = f"{value[:80]!r} is none of {', '.join(choices)}"
                found.append(Violation(f"{path}{name}", ErrorReason.UNKNOWN_NAME, why))
        sources = _listed(self.relations_from)
        if sources != ["none"] and (not sources or any(source not in DERIVED_FROM for source in sources)):
            why = f"{self.relations_from[:80]!r} is neither none nor some of {', '.join(DERIVED_FROM)}"
            found.append(Violation(f"{path}relations_from", ErrorReason.UNKNOWN_NAME, why))
        if len(self.attributes) > MAX_DECLARED:
            why = f"{len(self.attributes)} attributes, at most {MAX_DECLARED}"
            found.append(Violation(f"{path}attributes", ErrorReason.VALUE_OUT_OF_RANGE, why))
        for name, declared in self.attributes:
            if (fault := fault_of_declared(name, declared)) is not None:
                found.append(Violation(f"{path}attributes.{name[:64]}", *fault))
        if found:
            raise InvalidRequest(found)

    def to_toml(self) -> str:
        """The file's content: every setting, in a fixed order; declared attributes as a table at its end.

        >>> LibraryConfig.from_toml(LibraryConfig(description='"quoted"').to_toml()).description
        '"quoted"'
        """
        plain = [field.name for field in fields(self) if field.name != "attributes"]
        lines = [f"{name} = {_literal(getattr(self, name))}\n" for name in plain]
        declared = [f'{name} = "{kind.name.lower()}"\n' for name, kind in sorted(self.attributes)]
        return "".join([*lines, *(["\n[attributes]\n", *declared] if declared else [])])

    @classmethod
    def from_toml(cls, text: str, path: str = "library.toml") -> LibraryConfig:
        """Read a file's content; what it leaves out has its default.

        Raises:
            InvalidRequest: it is no TOML, or settings are unknown, of another type or out of bounds: all named.
        """
        try:
            given = tomllib.loads(text)
        except (ValueError, RecursionError):
            raise InvalidRequest.one(path, ErrorReason.VALUE_MALFORMED, "is no TOML") from None
        return cls.from_mapping(given, f"{path}: ")

    @classmethod
    def from_mapping(cls, given: Mapping[str, object], path: str = "") -> LibraryConfig:
        """The same from names and values. Raises InvalidRequest as `from_toml` does."""
        defaults = {field.name: getattr(cls(), field.name) for field in fields(cls)}
        found: list[Violation] = []
        values: dict[str, object] = {}
        for name, value in given.items():
            if name not in defaults:
                why = f"is no setting of a library; valid: {', '.join(sorted(defaults))}"
                found.append(Violation(f"{path}{name[:80]}", ErrorReason.UNKNOWN_NAME, why))
                continue
            try:
                values[name] = _as_type(value, defaults[name])
            except (TypeError, ValueError) as error:
                found.append(Violation(f"{path}{name}", ErrorReason.VALUE_MALFORMED, str(error)))
        if isinstance(named := values.get("chunker"), str):
            values["chunker"] = chunker_name(named)
        config = cls(**values)  # type: ignore[arg-type]
        try:
            config.check(path)
        except InvalidRequest as error:
            # What cannot be read stands at its default here, so that it contradicts nothing.
            found += [each for each in error.violations if not found or each.reason is not ErrorReason.CONTRADICTION]
        if found:
            raise InvalidRequest(found)
        return config


def _listed(names: str) -> list[str]:
    return sorted({name.strip().casefold() for name in names.split(",") if name.strip()})


def fault_of_declared(name: str, declared: AttributeType) -> tuple[ErrorReason, str] | None:
    """Why an attribute cannot be declared so; None when it can."""
    if not _ATTRIBUTE_NAME.fullmatch(name):
        return ErrorReason.VALUE_MALFORMED, f"{name[:64]!r} is not 1 to 64 of a-z, 0-9, underscore"
    if name in BUILT_IN_ATTRIBUTES:
        return ErrorReason.CONTRADICTION, f"{name} is built in and cannot be declared"
    if declared is AttributeType.TIME:
        return ErrorReason.CONTRADICTION, "time is for the built-in valid_as_of and ingested_at only"
    return None


def _literal(value: object) -> str:
    """A TOML value. A JSON string is a TOML basic string, but for DEL, which TOML wants escaped."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Label):
        return f'"{value.name}"'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _as_type(value: object, default: object) -> object:
    """The value in the type of its default. Raises ValueError with a sentence for people."""
    if isinstance(default, Label):
        names = {label.name: label for label in Label}
        name = unicodedata.normalize("NFKC", value).strip().upper() if isinstance(value, str) else ""
        if name not in names:
            raise ValueError(f"is none of {', '.join(names)}")
        return names[name]
    if isinstance(default, tuple):
        return _declared(value)
    wanted = type(default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        kinds = {str: "text", int: "whole number", float: "number", bool: "truth value"}
        raise ValueError(f"must be a {kinds[wanted]}")
    return value


def _declared(value: object) -> tuple[tuple[str, AttributeType], ...]:
    """The table of declared attributes, by name. Raises ValueError with a sentence for people."""
    types = {kind.name.lower(): kind for kind in AttributeType}
    if not isinstance(value, dict):
        raise ValueError("must be a table of names and types")
    for name, kind in value.items():
        if not isinstance(kind, str) or kind not in types:
            raise ValueError(f"the type of {name[:64]!r} is none of {', '.join(types)}")
    return tuple(sorted((name, types[kind]) for name, kind in value.items()))
