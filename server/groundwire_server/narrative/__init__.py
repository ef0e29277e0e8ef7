"""The narrative channel: from a question to passages that carry their citation."""

from groundwire_server.narrative.budget import TOKEN_COUNTER, EvidenceFrame, count_tokens, prompt_text, within_budgets
from groundwire_server.narrative.concurrent import Failed, run_all
from groundwire_server.narrative.fusion import (
    COSINE_SCALE,
    FUSIONS,
    RRF_K,
    Fusion,
    Legs,
    LinearFusion,
    RrfFusion,
    make_fusion,
    rrf_fuse,
)
from groundwire_server.narrative.hints import suggest_filter
from groundwire_server.narrative.libraries import RouterChoice, Unreachable, choose_libraries, nobody_answers
from groundwire_server.narrative.library_router import (
    NO_ROUTER,
    ROUTER_GROUP,
    KeywordLibraryRouter,
    LibraryRouter,
    library_routers,
    make_library_router,
)
from groundwire_server.narrative.outside import GATE_STEP, gate_for, refuse_outside_names
from groundwire_server.narrative.parts import NoEmbedder, RetrievalParts
from groundwire_server.narrative.presets import mode_of_preset, with_preset
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.request import (
    DEFAULT_TOP_K,
    PRESETS,
    RetrievalLimits,
    RetrievalMode,
    RetrievalTuning,
    RetrieveRequest,
    check_question,
    check_request,
    check_top_k,
    check_tuning,
)
from groundwire_server.narrative.restrict import together
from groundwire_server.narrative.retrieve import retrieve
from groundwire_server.narrative.rewrite import MAX_VARIANTS, glossary_variants
from groundwire_server.narrative.walk import EvidenceWalk, Walked, WalkStart
from groundwire_server.narrative.weights import WordWeights

__all__ = [
    "COSINE_SCALE",
    "DEFAULT_TOP_K",
    "FUSIONS",
    "GATE_STEP",
    "MAX_VARIANTS",
    "NO_ROUTER",
    "PRESETS",
    "ROUTER_GROUP",
    "RRF_K",
    "TOKEN_COUNTER",
    "EvidenceFrame",
    "EvidenceWalk",
    "Failed",
    "Fusion",
    "KeywordLibraryRouter",
    "Legs",
    "LibraryRouter",
    "LinearFusion",
    "NoEmbedder",
    "Reach",
    "RetrievalLimits",
    "RetrievalMode",
    "RetrievalParts",
    "RetrievalTuning",
    "RetrieveRequest",
    "RouterChoice",
    "RrfFusion",
    "Unreachable",
    "WalkStart",
    "Walked",
    "WordWeights",
    "check_question",
    "check_request",
    "check_top_k",
    "check_tuning",
    "choose_libraries",
    "count_tokens",
    "gate_for",
    "glossary_variants",
    "library_routers",
    "make_fusion",
    "make_library_router",
    "mode_of_preset",
    "nobody_answers",
    "prompt_text",
    "refuse_outside_names",
    "retrieve",
    "rrf_fuse",
    "run_all",
    "suggest_filter",
    "together",
    "with_preset",
    "within_budgets",
]
