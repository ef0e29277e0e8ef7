"""What is fuzzed: each takes any bytes, and raises only when something is wrong with the code.

A target runs without a server: what a message goes through before anything is looked up, the tokens that come back to
us, names and texts. Hypothesis (`test_targets.py`) and atheris (`fuzz.py`) feed the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import admin_pb2, filter_pb2, narrative_pb2
from groundwire_server.chunking import ParagraphChunker
from groundwire_server.errors import GroundwireError, InvalidRequest
from groundwire_server.evidence import (
    Call,
    ChunkId,
    Label,
    Locator,
    Pin,
    Position,
    Principal,
    Resume,
    check_filter,
    decode_id,
    encode_id,
    family_of,
    matches,
    parse_node_id,
)
from groundwire_server.glossary import PeriodError, find_periods, parse_period
from groundwire_server.graph import TraceLimits
from groundwire_server.graph import check_request as check_walk
from groundwire_server.narrative import RetrievalLimits, RetrievalMode, check_request
from groundwire_server.rpc.cursor import BoundKey, Cursor, CursorKey
from groundwire_server.rpc.decode_citation import decode_verify
from groundwire_server.rpc.decode_filter import decode_filter
from groundwire_server.rpc.decode_glossary import decode_term_names, decode_terms
from groundwire_server.rpc.decode_graph import decode_trace
from groundwire_server.rpc.decode_ingest import (
    decode_document_head,
    decode_facts,
    decode_opening,
    decode_relations,
)
from groundwire_server.rpc.decode_job import decode_job_state, decode_parts
from groundwire_server.rpc.decode_library import EmbedderName, decode_library_config
from groundwire_server.rpc.decode_metric import decode_metric_request
from groundwire_server.rpc.decode_narrative import decode_retrieve
from groundwire_server.rpc.decode_options import decode_options
from groundwire_server.rpc.decode_record import decode_fact_wish, decode_relation_wish
from groundwire_server.rpc.decode_router import decode_ask, decode_history
from groundwire_server.rpc.encode_value import encode_filter
from groundwire_server.rpc.errors import MAX_DETAILS_BYTES, MAX_MESSAGE_BYTES, to_status
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.guard import parse_request, unknown_fields
from groundwire_server.rpc.methods import contract_methods
from groundwire_server.rpc.paging import Pager
from groundwire_server.settings import IngestSettings
from groundwire_server.text import Highlighter, normalize, sentence_spans, tokenize

__all__ = ["METHODS", "SEALED", "TARGETS", "sealed_cursor"]

DAY = date(2025, 6, 30)
ME = Principal("fuzz", Label.INTERNAL)
KEY = CursorKey(b"secret of a fuzzed server", 3600.0, now=lambda: 1_750_000_000)
PAGER = Pager(b"secret of a fuzzed server")
EMBEDDER = EmbedderName("small", "f" * 64)

METHODS = sorted(contract_methods())
"""The methods of the contract; the first byte of a request picks one."""


# ---- requests ------------------------------------------------------------------------------------------------------


def _options(message: Any, findings: Findings) -> None:
    decode_options(message.options, findings, request_id="q")


def _narrative(message: Any, findings: Findings) -> None:
    _options(message, findings)
    findings.extend(check_request(decode_retrieve(message, findings, RetrievalMode.AUTO), RetrievalLimits()))


def _ask(message: Any, findings: Findings) -> None:
    _options(message, findings)
    decode_ask(message, findings, RetrievalMode.AUTO)


def _route(message: Any, findings: Findings) -> None:
    _options(message, findings)
    decode_history(message.history, findings)


def _metric(message: Any, findings: Findings) -> None:
    _options(message, findings)
    decode_metric_request(message, 1000, findings)


def _trace(message: Any, findings: Findings) -> None:
    options = decode_options(message.options, findings, request_id="q")
    findings.extend(check_walk(decode_trace(message, findings), Call(ME, options), TraceLimits()))


def _library(message: Any, findings: Findings) -> None:
    decode_library_config(message.library, IngestSettings(), EMBEDDER, findings)


def _terms(message: Any, findings: Findings) -> None:
    decode_terms(message.put, "put", findings)
    decode_term_names(message.remove, "remove", findings)


def _ingest(message: Any, findings: Findings) -> None:
    decode_opening(message.start, ME, findings, has_warnings="head" in message.part.DESCRIPTOR.fields_by_name)
    if isinstance(message.part.DESCRIPTOR.fields_by_name.get("head"), type(None)):
        decode_facts(message.part.records.facts)
        decode_relations(message.part.records.relations)
    else:
        decode_document_head(message.part.head)


def _wish(decode: Callable[[Any, Findings], object]) -> Callable[[Any, Findings], None]:
    def decoded(message: Any, findings: Findings) -> None:
        decode(message, findings)
        PAGER.begin(message, ME, findings)

    return decoded


def _jobs(message: Any, findings: Findings) -> None:
    decode_job_state(message.state, findings)
    PAGER.begin(message, ME, findings)


def _reindex(message: Any, findings: Findings) -> None:
    decode_parts(message.parts, findings)


_DECODED: dict[str, Callable[[Any, Findings], object]] = {
    "NarrativeRetrieve": _narrative,
    "Ask": _ask,
    "Route": _route,
    "QueryMetric": _metric,
    "GraphTrace": _trace,
    "VerifyCitation": decode_verify,
    "SaveLibrary": _library,
    "UpdateGlossary": _terms,
    "IngestDocuments": _ingest,
    "IngestFacts": _ingest,
    "ListFacts": _wish(decode_fact_wish),
    "ListRelations": _wish(decode_relation_wish),
    "ListJobs": _jobs,
    "StartReindex": _reindex,
}


def fuzz_request(data: bytes) -> None:
    """The bytes of any request: decoded, or refused with a status that fits."""
    name = METHODS[data[0] % len(METHODS)] if data else METHODS[0]
    kind: Any = GetMessageClass(contract_methods()[name].input_type)
    try:
        message: Message = parse_request(kind.FromString, data[1:])
        findings = Findings()
        findings.extend(unknown_fields(message))
        findings.all_known(message)
        _DECODED.get(name.rpartition("/")[2], lambda *_: None)(message, findings)
        findings.settle()
    except GroundwireError as error:
        _check_status(error)


def _check_status(error: GroundwireError) -> None:
    status = to_status(error, "q")
    assert len(status.message.encode()) <= MAX_MESSAGE_BYTES
    assert len(status.details) <= MAX_DETAILS_BYTES
    assert error.status in ("INVALID_ARGUMENT", "UNIMPLEMENTED"), error
    if isinstance(error, InvalidRequest):
        assert all(each.field is not None and each.description for each in error.violations)


# ---- filters -------------------------------------------------------------------------------------------------------

_ROW: dict[str, Any] = {
    "n": 5,
    "d": Decimal("3.50"),
    "text": "売上 e\u0301",
    "day": DAY,
    "at": datetime(2025, 6, 30, tzinfo=UTC),
    "flag": True,
    "period": parse_period("2024", reference=DAY),
    "tags": ("a", "b"),
}
_SCHEMA = {name: family_of(value) for name, value in _ROW.items()}


def fuzz_filter(data: bytes) -> None:
    """Any filter: refused, or checked, decided for a row, and the same again after it was sent back."""
    try:
        message = parse_request(filter_pb2.Filter.FromString, data)
    except InvalidRequest:
        return
    findings = Findings()
    tree = decode_filter(message, "options.filter", findings, DAY)
    if findings.violations or tree is None:
        assert findings.violations
        _check_status(InvalidRequest(findings.violations))
        return
    again = Findings()
    assert decode_filter(encode_filter(tree), "options.filter", again, DAY) == tree
    assert not again.violations
    if not check_filter(tree, _SCHEMA):
        assert matches(tree, _ROW) in (True, False)
        assert matches(tree, {}) in (True, False)


# ---- tokens --------------------------------------------------------------------------------------------------------

_ASKED = narrative_pb2.NarrativeRetrieveRequest(query="rivers")


def sealed_cursor() -> bytes:
    """A cursor that this house has given out."""
    pins = (Pin("shelf-one", 7, "ab" * 16, "cd" * 16), Pin("shelf-two"))
    resume = Resume(pins, Position(1, 2, 3), Position(0, 0, 1), 2, by_meaning=True)
    return KEY.bound_to("m", _ASKED, ME).seal(Cursor(resume, DAY, b"d" * 24))


SEALED = sealed_cursor()
"""One for this process."""


def fuzz_cursor(data: bytes) -> None:
    """Any bytes as a cursor: it opens only where nothing was changed; otherwise it is refused, all in one way."""
    bound = KEY.bound_to("m", _ASKED, ME)
    sealed = SEALED
    bent = bytes(a ^ b for a, b in zip(sealed, data.ljust(len(sealed), b"\0")[: len(sealed)], strict=True))
    for token in (data, bent, sealed + data, sealed[: len(data)]):
        if token == sealed:
            assert bound.open(token).resume.position == Position(1, 2, 3)
            continue
        refusal = _refusal(bound, token)
        assert refusal.reason.name == "RESUME_MISMATCH"
        assert not any(each in str(refusal) for each in ("shelf-one", "shelf-two"))
        _check_status(refusal)


def _refusal(bound: BoundKey, token: bytes) -> GroundwireError:
    try:
        bound.open(token)
    except GroundwireError as error:
        return error
    raise AssertionError("a cursor that was changed opens")


def fuzz_page_token(data: bytes) -> None:
    """Any text as the token of a page: refused as a field."""
    token = data.decode("utf-8", "replace")
    findings = Findings()
    page = PAGER.begin(admin_pb2.ListFactsRequest(page_token=token), ME, findings)
    assert page.after is None
    assert bool(findings.violations) == bool(token)


# ---- names and texts -----------------------------------------------------------------------------------------------


def fuzz_locator(data: bytes) -> None:
    """Any text as a locator, an id of a chunk or of a node: refused, or the same again when it is written."""
    text = data.decode("utf-8", "replace")
    assert decode_id(encode_id(text)) == text
    for kind in (Locator, ChunkId):
        with suppress(ValueError):
            read = kind.parse(text)
            assert kind.parse(str(read)) == read
    with suppress(ValueError):
        parse_node_id(text)


def fuzz_period(data: bytes) -> None:
    """Any text as a period, and periods in any text."""
    text = data.decode("utf-8", "replace")[:300]
    with suppress(PeriodError):
        period = parse_period(text, reference=DAY)
        assert period.first <= period.last
    for span, _ in find_periods(text, reference=DAY):
        assert 0 <= span.start < span.end <= len(text)


def fuzz_text(data: bytes) -> None:
    """Any text: cut, marked and told apart, always within itself."""
    text = data.decode("utf-8", "replace")
    tokens = tokenize(text)
    assert normalize(normalize(text)) == normalize(text)
    spans = sentence_spans(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    for draft in ParagraphChunker(40, 10).chunk(text):
        assert text[draft.span.start : draft.span.end] == draft.text
    marked = Highlighter(tokens[:5]).spans(text)
    assert all(0 <= one.start < one.end <= len(text) for one in marked)
    assert all(one.end <= other.start for one, other in pairwise(marked))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "request": fuzz_request,
    "filter": fuzz_filter,
    "cursor": fuzz_cursor,
    "page_token": fuzz_page_token,
    "locator": fuzz_locator,
    "period": fuzz_period,
    "text": fuzz_text,
}
"""The targets by name."""
