"""Snippets onto the wire. The third exit: what the caller may not read is never serialized (semantics 6)."""

from __future__ import annotations

from groundwire.v1 import evidence_pb2
from groundwire_server.errors import ErrorReason, GroundwireError
from groundwire_server.evidence import (
    DerivedFigure,
    FactVersion,
    GraphCommunity,
    GraphEdge,
    GraphNode,
    GraphPath,
    Lineage,
    MetricFact,
    MetricKey,
    Principal,
    Scores,
    Snippet,
    TextPassage,
)
from groundwire_server.rpc.encode_value import (
    encode_dimensions,
    encode_time,
    fill_attributes,
    fill_span,
    fill_time,
    wire_text,
)

__all__ = [
    "MAX_MEMBERS",
    "HiddenSnippet",
    "encode_edge",
    "encode_key",
    "encode_lineage",
    "encode_version",
    "fill_snippet",
]

MAX_MEMBERS = 100
# Of all members of one snippet together: a frame has 1 MiB, and there is more in it.
MAX_MEMBER_BYTES = 512 << 10
# Of the edges of one path with their sources, which stand in the members once more.
MAX_PATH_BYTES = 400 << 10
MAX_SNIPPET_BYTES = 960 << 10
MAX_HIGHLIGHTS = 1000  # a long passage of nothing but the query's words would not fit into a message with all of them
_MAX_OPERANDS = 10_000
_MAX_MISSING = 1000
_MAX_MISSING_BYTES = 64 << 10


class HiddenSnippet(GroundwireError):
    """A snippet that the caller may not read has come as far as the encoder: a fault of an earlier exit."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.INTERNAL, "The server made a mistake.")


def fill_snippet(message: evidence_pb2.Snippet, snippet: Snippet, principal: Principal) -> None:
    """The snippet, when the principal may read it; into a message of a batch, as a copy would cost as much again.

    Raises:
        HiddenSnippet: it may not; nothing of the snippet stands in the error.
    """
    if not principal.may_read(snippet.label):
        raise HiddenSnippet
    message.snippet_id = snippet.snippet_id
    message.rank = snippet.rank
    message.trust = evidence_pb2.Trust.ValueType(snippet.trust)
    _fill_lineage(message.lineage, snippet.lineage)
    if snippet.scores is not None:
        _fill_scores(message.scores, snippet.scores)
    match snippet.payload:
        case TextPassage() as passage:
            _fill_text(message.text, passage)
        case MetricFact() as fact:
            _fill_fact(message.fact, fact)
        case DerivedFigure() as figure:
            _fill_derived(message.derived, figure)
        case GraphEdge() as edge:
            _fill_edge(message.edge, edge)
        case GraphPath() as path:
            _fill_path(message.path, path)
            while message.lineage.members and message.ByteSize() > MAX_SNIPPET_BYTES:
                del message.lineage.members[-1]
                message.lineage.members_omitted += 1
        case GraphCommunity() as community:
            _fill_community(message.community, community)


def encode_lineage(lineage: Lineage) -> evidence_pb2.Lineage:
    """Lineage with at most 100 members; the others are counted."""
    message = evidence_pb2.Lineage()
    _fill_lineage(message, lineage)
    return message


def _fill_lineage(message: evidence_pb2.Lineage, lineage: Lineage) -> None:
    """Into a message that is there: a copy of each would cost as much as filling it. Empty fields are left alone.

    Field by field without a loop over names: this runs for each snippet of each answer.
    """
    message.library_id = lineage.library_id
    message.revision = lineage.revision
    message.text_sha256 = lineage.text_sha256
    if text := lineage.doc_id:
        message.doc_id = wire_text(text)
    if text := lineage.title:
        message.title = wire_text(text)
    if text := lineage.chunk_id:
        message.chunk_id = wire_text(text)
    if text := lineage.source_locator:
        message.source_locator = wire_text(text)
    if text := lineage.heading:
        message.heading = wire_text(text)
    if text := lineage.parent_id:
        message.parent_id = wire_text(text)
    if text := lineage.parent_locator:
        message.parent_locator = wire_text(text)
    if (span := lineage.span) is not None:
        fill_span(message.span, span)
    if lineage.valid_as_of is not None:
        fill_time(message.valid_as_of, lineage.valid_as_of)
    if lineage.ingested_at is not None:
        fill_time(message.ingested_at, lineage.ingested_at)
    if lineage.members or lineage.members_omitted:
        _fill_members(message, lineage)
    if lineage.attributes:
        fill_attributes(message.attributes, lineage.attributes)


def _fill_members(message: evidence_pb2.Lineage, lineage: Lineage) -> None:
    """As many members as are allowed and fit into a frame; the others are counted."""
    size = 0
    for member in lineage.members[:MAX_MEMBERS]:
        added = message.members.add()
        _fill_lineage(added, member)
        size += added.ByteSize()
        if size > MAX_MEMBER_BYTES:
            del message.members[-1]
            break
    message.members_omitted = lineage.members_omitted + len(lineage.members) - len(message.members)


def _fill_scores(message: evidence_pb2.Scores, scores: Scores) -> None:
    """Only what was computed is set: absent is not zero."""
    if (score := scores.fused) is not None:
        message.fused = score
    if (score := scores.bm25) is not None:
        message.bm25 = score
    if (score := scores.vector) is not None:
        message.vector = score
    if (score := scores.rerank) is not None:
        message.rerank = score
    if (rank := scores.bm25_rank) is not None:
        message.bm25_rank = rank
    if (rank := scores.vector_rank) is not None:
        message.vector_rank = rank
    if (score := scores.graph) is not None:
        message.graph = score
    if (rank := scores.graph_rank) is not None:
        message.graph_rank = rank


def _fill_text(message: evidence_pb2.TextPassage, passage: TextPassage) -> None:
    message.text = wire_text(passage.text)
    if passage.prompt_text:
        message.prompt_text = wire_text(passage.prompt_text)
    add = message.highlights.add
    for span in passage.highlights[:MAX_HIGHLIGHTS]:
        fill_span(add(), span)


def _fill_fact(message: evidence_pb2.MetricFact, fact: MetricFact) -> None:
    message.metric = fact.key.metric
    message.entity = fact.key.entity
    message.period = fact.key.period
    message.channel = fact.key.channel
    message.dimensions.extend(encode_dimensions(fact.key.dimensions))
    message.value = fact.value
    message.unit = fact.unit
    message.statement = fact.statement
    message.fact_id = fact.fact_id
    message.review_status = evidence_pb2.ReviewStatus.ValueType(fact.review_status)
    message.conflicting = fact.conflicting
    if fact.decimals is not None:
        message.decimals = fact.decimals
    message.as_written = wire_text(fact.as_written)
    if fact.version is not None:
        message.version.CopyFrom(encode_version(fact.version))


def encode_version(version: FactVersion) -> evidence_pb2.FactVersion:
    """Which of several figures that a source has given."""
    message = evidence_pb2.FactVersion(
        version=version.version,
        latest_version=version.latest_version,
        author=wire_text(version.author),
        reason=wire_text(version.reason),
    )
    if version.filed_at is not None:
        message.filed_at.CopyFrom(encode_time(version.filed_at))
    return message


def _fill_derived(message: evidence_pb2.DerivedFigure, figure: DerivedFigure) -> None:
    message.operation = evidence_pb2.Operation.ValueType(figure.operation)
    message.expression = figure.expression
    message.value = figure.value
    message.unit = figure.unit
    message.rounded = figure.rounded
    message.statement = figure.statement
    message.key.CopyFrom(encode_key(figure.key))
    message.operand_ids.extend(figure.operand_ids[:_MAX_OPERANDS])
    message.operands_omitted = max(0, len(figure.operand_ids) - _MAX_OPERANDS)
    message.partial = figure.partial
    message.unlike_days = figure.unlike_days
    _fill_missing(message, figure)


def _fill_missing(message: evidence_pb2.DerivedFigure, figure: DerivedFigure) -> None:
    """As many missing operands as are allowed and fit into a frame; the others are counted."""
    size = 0
    for operand in figure.missing[:_MAX_MISSING]:
        added = message.missing.add(reason=evidence_pb2.MissingReason.ValueType(operand.reason))
        added.key.CopyFrom(encode_key(operand.key))
        size += added.ByteSize()
        if size > _MAX_MISSING_BYTES:
            del message.missing[-1]
            break
    message.missing_omitted = len(figure.missing) - len(message.missing)


def _fill_community(message: evidence_pb2.GraphCommunity, community: GraphCommunity) -> None:
    message.community_id = community.community_id
    message.size = community.size
    message.summary = wire_text(community.summary)
    for node in community.nodes:
        message.nodes.append(_node(node))


def _fill_path(message: evidence_pb2.GraphPath, path: GraphPath) -> None:
    """Edges and nodes. Of a path that would not fit into a frame each edge keeps one source, or none beside members."""
    message.edges.extend(encode_edge(edge) for edge in path.edges)
    message.node_ids.extend(wire_text(node_id) for node_id in path.node_ids)
    if message.ByteSize() > MAX_PATH_BYTES:
        for edge in message.edges:
            del edge.sources[1:]
            for source in edge.sources:
                source.ClearField("attributes")
    if message.ByteSize() > MAX_PATH_BYTES:
        for edge in message.edges:
            edge.ClearField("sources")
            edge.ClearField("attributes")


def encode_key(key: MetricKey) -> evidence_pb2.MetricKey:
    """The key of a figure in controlled codes."""
    return evidence_pb2.MetricKey(
        metric=wire_text(key.metric),
        entity=wire_text(key.entity),
        period=wire_text(key.period),
        channel=wire_text(key.channel),
        dimensions=encode_dimensions(key.dimensions),
    )


def encode_edge(edge: GraphEdge) -> evidence_pb2.GraphEdge:
    """A relation; its sources only inside a path."""
    message = evidence_pb2.GraphEdge()
    _fill_edge(message, edge)
    return message


def _fill_edge(message: evidence_pb2.GraphEdge, edge: GraphEdge) -> None:
    """Into a message that is there, as with `_fill_lineage`."""
    message.edge_id = edge.edge_id
    _fill_node(message.source, edge.source)
    _fill_node(message.target, edge.target)
    message.relation = wire_text(edge.relation)
    message.extractor = wire_text(edge.extractor)
    if day := edge.valid_from:
        message.valid_from = day
    if day := edge.valid_to:
        message.valid_to = day
    for source in edge.sources:
        _fill_lineage(message.sources.add(), source)
    if edge.attributes:
        fill_attributes(message.attributes, edge.attributes)


def _fill_node(message: evidence_pb2.GraphNode, node: GraphNode) -> None:
    message.node_id = wire_text(node.node_id)
    message.kind = node.kind
    message.label = wire_text(node.label)


def _node(node: GraphNode) -> evidence_pb2.GraphNode:
    return evidence_pb2.GraphNode(node_id=wire_text(node.node_id), kind=node.kind, label=wire_text(node.label))
