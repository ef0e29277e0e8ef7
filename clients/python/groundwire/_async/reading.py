# Made from _sync/reading.py by `make client`; changes belong there.
"""Asking for evidence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Unpack

from groundwire._async.connection import AsyncConnection
from groundwire._async.stream import AsyncStream
from groundwire._model.answer import AnswerWriter
from groundwire._model.glossary import TermDescription, TermKind
from groundwire._model.lineage import Lineage
from groundwire._model.metric import Calculation, MetricProduct, MetricQuery, VersionPolicy
from groundwire._model.options import CallOptions, RetrievalMode, RetrievalTuning
from groundwire._model.relation import Direction, PathChoice, TraceBudget
from groundwire._model.result import Answer, Figures, Retrieval, Trace
from groundwire._model.route import Route, RouteDecision, Turn
from groundwire._model.snippet import Snippet
from groundwire._model.tool import ToolForm, ToolList
from groundwire._model.verification import Verification
from groundwire._operation import citation, reading, server, walks

__all__ = ["AsyncReadingClient"]


class AsyncReadingClient(AsyncConnection):
    """The calls that read evidence."""

    def retrieve(
        self,
        query: str,
        *,
        top_k: int = 0,
        mode: RetrievalMode | str = RetrievalMode.AUTO,
        tuning: RetrievalTuning | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Retrieval]:
        """Passages for a query, best first. top_k 0: the server's default (10)."""
        return self._stream(reading.retrieve(query, top_k, mode, tuning, options), options.get("timeout"))

    def query_metric(
        self,
        queries: MetricQuery | Iterable[MetricQuery] = (),
        *,
        product: MetricProduct | None = None,
        calculations: Iterable[Calculation] = (),
        versions: VersionPolicy | str = VersionPolicy.LATEST,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Figures]:
        """Stored figures, and figures computed from them; exactly one outcome a query."""
        operation = reading.query_metric(queries, product, calculations, versions, options)
        return self._stream(operation, options.get("timeout"))

    def describe_metrics(
        self,
        *,
        libraries: Sequence[str] = (),
        kinds: Iterable[TermKind | str] = (),
        metric: str = "",
        entity: str = "",
        unlisted: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[TermDescription]:
        """Which names exist, what they mean, and for which periods there are figures; by library, kind and code.

        kinds: only terms of these kinds. metric, entity: count only figures of these, by name or code. unlisted: also
        codes that figures carry and no term has.
        """
        return self._rows(reading.describe_metrics(libraries, kinds, metric, entity, unlisted), timeout)

    async def route(
        self, question: str, *, history: Sequence[Turn] = (), **options: Unpack[CallOptions]
    ) -> RouteDecision:
        """Decide what kind of evidence a question needs; retrieves nothing."""
        return await self._value(reading.route(question, history, options), options.get("timeout"))

    def ask(
        self,
        question: str,
        *,
        route: Route | str = Route.UNSPECIFIED,
        top_k: int = 0,
        history: Sequence[Turn] = (),
        mode: RetrievalMode | str = RetrievalMode.AUTO,
        tuning: RetrievalTuning | None = None,
        writer: AnswerWriter | str = AnswerWriter.UNSPECIFIED,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Answer]:
        """An answer that stands on what it cites. Without a route the server decides."""
        operation = reading.ask(question, route, top_k, history, mode, tuning, writer, options)
        return self._stream(operation, options.get("timeout"))

    def neighborhood(
        self,
        nodes: Sequence[str],
        *,
        relations: Sequence[str] = (),
        direction: Direction | str = Direction.BOTH,
        max_hops: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """Relations around nodes, nearest first. Nodes by id ("entity:ACME_JP") or by a name of the glossary.

        relations: only these; none: all. max_hops 0: one. valid_in: only edges that hold on some day of this period.
        include_unverified: also edges that a model derived and nobody checked.
        """
        operation = walks.neighborhood(
            nodes, relations, direction, max_hops, valid_in, include_unverified, budget, options
        )
        return self._stream(operation, options.get("timeout"))

    def paths(
        self,
        from_node: str,
        to_node: str,
        *,
        relations: Sequence[str] = (),
        pattern: Sequence[str] = (),
        direction: Direction | str = Direction.BOTH,
        choice: PathChoice | str = PathChoice.SHORTEST,
        max_hops: int = 0,
        max_paths: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """How two nodes hang together, best path first, each a GraphPath.

        relations: those to follow, in any order; or pattern: those to follow step by step.
        max_hops 0: as many as the server allows. max_paths, for K_SHORTEST and ALL; 0: ten.
        """
        operation = walks.paths(
            from_node,
            to_node,
            relations,
            pattern,
            direction,
            choice,
            max_hops,
            max_paths,
            valid_in,
            include_unverified,
            budget,
            options,
        )
        return self._stream(operation, options.get("timeout"))

    def closure(
        self,
        nodes: Sequence[str],
        relations: Sequence[str],
        *,
        direction: Direction | str = Direction.OUT,
        max_depth: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """All that can be reached from nodes, nearest first: a GraphPath each, the shortest that leads there.

        All subsidiaries: closure(["ACME"], ["parent_of"]); all owners: the same with direction IN. max_depth 0: all.
        """
        operation = walks.closure(nodes, relations, direction, max_depth, valid_in, include_unverified, budget, options)
        return self._stream(operation, options.get("timeout"))

    def common_ancestors(
        self,
        nodes: Sequence[str],
        *,
        relation: str = "",
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """What lies above all of several nodes, nearest first, each as the paths that lead to it.

        relation: the one that leads down; empty: parent_of.
        """
        operation = walks.common_ancestors(nodes, relation, valid_in, include_unverified, budget, options)
        return self._stream(operation, options.get("timeout"))

    def communities(
        self,
        nodes: Sequence[str] = (),
        *,
        max_communities: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """Nodes that hang together, the largest communities first: a GraphCommunity each, context and no citation.

        nodes: only communities that hold one of these. max_communities 0: 10.
        """
        operation = walks.communities(nodes, max_communities, valid_in, include_unverified, budget, options)
        return self._stream(operation, options.get("timeout"))

    def rollup(
        self,
        metric: str,
        entity: str,
        period: str,
        *,
        channel: str = "",
        relation: str = "",
        max_depth: int = 0,
        max_operands: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        budget: TraceBudget | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncStream[Trace]:
        """A metric added up over all that is below an entity, each part once: a DerivedFigure, then its operands.

        relation: the one that leads down; empty: parent_of. max_operands: so many are sent, 0: 100; all of them count.
        valid_in: when relations hold; empty: in the period. What is missing is named in the figure. Unlike units, and a
        metric that cannot be added, are refused.
        """
        operation = walks.rollup(
            metric,
            entity,
            period,
            channel,
            relation,
            max_depth,
            max_operands,
            valid_in,
            include_unverified,
            budget,
            options,
        )
        return self._stream(operation, options.get("timeout"))

    def compare(
        self, metric: str, period: str, entities: Sequence[str], *, channel: str = "", **options: Unpack[CallOptions]
    ) -> AsyncStream[Trace]:
        """One metric in one period of several entities: an outcome each, in the order asked. Unlike units: refused."""
        operation = walks.compare(metric, period, entities, channel, options)
        return self._stream(operation, options.get("timeout"))

    def derivation(
        self, metric: str, entity: str, period: str, *, channel: str = "", **options: Unpack[CallOptions]
    ) -> AsyncStream[Trace]:
        """How a figure came to be: the figure, level by level what it is made of, then the facts' earlier versions."""
        operation = walks.derivation(metric, entity, period, channel, options)
        return self._stream(operation, options.get("timeout"))

    async def verify(self, cited: Snippet | Lineage, quote: str = "", *, timeout: float | None = None) -> Verification:
        """Whether a citation holds: a snippet as it was given out, or a lineage and what it is said to hold.

        With a snippet, `quote` checks a part of its text only.
        """
        return await self._value(citation.verify(cited, quote), timeout)

    async def list_tools(
        self,
        *,
        libraries: Sequence[str] = (),
        form: ToolForm | str = ToolForm.MCP,
        language: str = "en",
        timeout: float | None = None,
    ) -> ToolList:
        """The reading methods, described for a model's function calling; language "en", "zh" or "ja".

        libraries: those whose names become enumerations; none: all that the caller may read.
        """
        return await self._value(server.list_tools(libraries, form, language), timeout)
