"""How questions are answered: defaults of retrieval and ingest, the embedder, the language model, the gate."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from groundwire_server.settings.section import SWITCH_OFF, Section, split, word

__all__ = ["EmbeddingSettings", "GateSettings", "IngestSettings", "LlmSettings", "RetrievalSettings"]

_EMBEDDER_WORDS = {"minilm": "onnx", "fastembed": "onnx", "": "auto"}
_MODE_WORDS = {"economy": "lexical", "bm25": "lexical", "": "auto"}
_CHUNKER_WORDS = {"": "paragraph", "small_to_big": "parent_child"}
_EXTRACTOR_WORDS = {"": "none", "off": "none", "cooccurrence": "co_occurrence", "co-occurrence": "co_occurrence"}
_TRANSFORM_WORDS = {"": "none", "off": "none", "rag-fusion": "rag_fusion", "step-back": "step_back"}
_SWITCH_RULES = {"": "learned", "none": "rules", "off": "rules"}
_SWITCH_WORDS = {"": "false", "none": "false"}


def _on_or_off(on: str) -> dict[str, str]:
    """Words for a stage that is off, or on in the way that asks no model."""
    return {
        **SWITCH_OFF,
        **dict.fromkeys(("false", "0", "no"), "none"),
        **dict.fromkeys(("true", "1", "yes", "on", "heuristic", "deterministic"), on),
    }


class EmbeddingSettings(Section):
    """The embedder and its background work."""

    backend: Annotated[Literal["auto", "onnx", "none", "deterministic"], word(_EMBEDDER_WORDS)] = Field(
        default="auto",
        description="auto: the local model where it is prepared; onnx: it must be; none: lexical only; "
        "deterministic: hashes instead of a model, for tests only.",
    )
    workers: int = Field(default=0, ge=0, le=256, description="Threads that embed what was ingested; 0: one a core.")


class RetrievalSettings(Section):
    """Defaults of a retrieval."""

    mode: Annotated[Literal["auto", "hybrid", "vector", "lexical"], word(_MODE_WORDS)] = Field(
        default="auto", description="Legs to search where the call does not say."
    )
    query_transform: Annotated[Literal["hyde", "none", "rag_fusion", "step_back"], word(_TRANSFORM_WORDS)] = Field(
        default="none",
        description="What the language model makes of questions to libraries that are made from now on, to search with "
        "beside them.",
    )
    decomposition: Annotated[Literal["llm", "none", "rules"], word(SWITCH_OFF)] = Field(
        default="none",
        description="What cuts questions to libraries that are made from now on into several: the language model, or "
        "rules.",
    )
    adaptive: Annotated[Literal["llm", "none", "rules"], word(_on_or_off("rules"))] = Field(
        default="none",
        description="Who says which questions need several steps: rules, or the language model; libraries that are "
        "made from now on have only these cut. none: they have all cut, and rules say it where a call asks.",
    )
    filter_extractor: Annotated[Literal["glossary", "llm", "none"], word(SWITCH_OFF)] = Field(
        default="none",
        description="What reads hints out of questions to libraries that are made from now on: the glossary, or the "
        "language model.",
    )
    corrective: Annotated[Literal["llm", "none", "words"], word(_on_or_off("words"))] = Field(
        default="none",
        description="Who judges what libraries that are made from now on find, so that it is searched again or refused "
        "where it is weak: words, or the language model.",
    )
    route_classifier: Annotated[Literal["learned", "llm", "rules"], word(_SWITCH_RULES)] = Field(
        default="learned",
        description="Who weighs whether a question needs figures, text or both where the rules are not sure: learned, "
        "a small model that comes with the server; llm, the language model; or rules, these alone.",
    )
    library_router: str = Field(
        default="keyword",
        min_length=1,
        max_length=63,
        description="Who picks libraries for a question that names none: keyword; none, all are searched; or a router "
        "of another package, by its name.",
    )
    library_router_seconds: float = Field(
        default=2.0, gt=0, le=600, description="How long a library router may take; then all libraries are searched."
    )


class IngestSettings(Section):
    """Defaults of what comes in."""

    chunker: Annotated[
        Literal["book", "laws", "layout", "paragraph", "parent_child", "qa", "semantic", "sentence_window", "whole"],
        word(_CHUNKER_WORDS),
    ] = Field(default="paragraph", description="Chunker of libraries that are made from now on.")
    contextual: Annotated[bool, word(_SWITCH_WORDS)] = Field(
        default=False,
        description="Whether libraries that are made from now on index title, entity, period and heading before each "
        "chunk.",
    )
    relation_extractor: Annotated[Literal["co_occurrence", "llm", "none"], word(_EXTRACTOR_WORDS)] = Field(
        default="none", description="Who finds relations in the texts of libraries that are made from now on."
    )


class GateSettings(Section):
    """The security gate (semantics 6)."""

    outside_names: Annotated[tuple[str, ...], BeforeValidator(split)] = Field(
        default=(), description="Names that this deployment does not answer about; with commas in the environment."
    )


class LlmSettings(Section):
    """The language model, for what asks one."""

    provider: Annotated[Literal["none", "openai", "anthropic"], word(SWITCH_OFF)] = Field(
        default="none",
        description="none; openai, and all who speak its protocol (vLLM, Ollama, llama.cpp); or anthropic.",
    )
    base_url: str = Field(default="", max_length=2048, description="Where it answers; empty: the provider's own place.")
    model: str = Field(default="", max_length=256, description="The model, as the provider calls it.")
    api_key_env: str = Field(
        default="",
        max_length=256,
        description="Name of the environment variable that holds the key; empty: the provider's usual one.",
    )
    clearance: Annotated[Literal["public", "internal", "confidential"], word({})] = Field(
        default="internal", description="Highest label of what the model may be shown."
    )
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="How long one try may take.")
    retries: int = Field(default=2, ge=0, le=10, description="Tries beyond the first.")
    max_tokens: int = Field(default=4096, ge=1, le=1_000_000, description="Longest reply.")
    temperature: float = Field(default=0.0, ge=-1, le=2, description="Of the model; below 0: none is sent.")
    json_form: Annotated[Literal["schema", "object", "none"], word({})] = Field(
        default="object",
        description="How a server with the protocol of OpenAI is bound to answer JSON: by schema, to any object, or by "
        "the prompt alone.",
    )
    parallel: int = Field(default=4, ge=1, le=64, description="Calls of the model at a time.")
    prompt_price: Decimal = Field(
        default=Decimal(0), ge=0, le=1_000_000, description="What a million tokens of prompts cost, for the accounts."
    )
    reply_price: Decimal = Field(
        default=Decimal(0), ge=0, le=1_000_000, description="What a million tokens of replies cost."
    )
