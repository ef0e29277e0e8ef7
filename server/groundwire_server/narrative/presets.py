"""Sets of stages by name: what a call says of one stage goes before them, and they before a library's settings."""

from __future__ import annotations

from dataclasses import fields, replace

from groundwire_server.narrative.request import PRESETS, RetrievalMode, RetrievalTuning

__all__ = ["mode_of_preset", "with_preset"]

_STAGES: dict[str, RetrievalTuning] = {
    "economy": RetrievalTuning(
        query_transform="none", filter_extractor="none", corrective=False, graph=False, decomposition="none"
    ),
    "balanced": RetrievalTuning(
        query_transform="none", glossary_variants=True, filter_extractor="glossary", corrective=False, graph=False
    ),
    "quality": RetrievalTuning(glossary_variants=True, filter_extractor="glossary", corrective=True, graph=True),
}
assert tuple(sorted(_STAGES)) == PRESETS


def with_preset(tuning: RetrievalTuning) -> RetrievalTuning:
    """The stages that a call asks for once its preset, which has been checked, is spelled out.

    >>> with_preset(RetrievalTuning(preset="quality", graph=False)).graph
    False
    """
    if tuning.preset not in _STAGES:
        return tuning
    preset, unset = _STAGES[tuning.preset], RetrievalTuning()
    said = {
        each.name: getattr(tuning, each.name)
        for each in fields(tuning)
        if getattr(tuning, each.name) != getattr(unset, each.name)
    }
    return replace(preset, **{**said, "preset": ""})


def mode_of_preset(preset: str, default: RetrievalMode) -> RetrievalMode:
    """Which legs to search where the call does not say: economy searches by words alone.

    Args:
        default: the server's, which the others leave as it is.
    """
    return RetrievalMode.LEXICAL if preset == "economy" else default
