"""What a model is told about the tools, in English."""

from __future__ import annotations

__all__ = ["FIELDS", "TOOLS"]

TOOLS = {
    "ask": (
        "Answers a question from the stored evidence and cites it. Use it first when a person asks something and one"
        " call should do: it decides by itself whether figures, passages or both are needed. Every sentence names the"
        " snippets that it stands on. When it asks back (clarifications), pass the question on or ask again with one of"
        " the options. Do not use it for one known figure (query_metric), or when you want to read the passages and"
        " write yourself (narrative_retrieve)."
    ),
    "describe_metrics": (
        "Lists the names that query_metric understands: metrics with unit and definition, entities, channels, and the"
        " periods for which there are figures, with their gaps. Use it before query_metric when you do not know how a"
        " thing is called here or for which years there are figures, and after an answer of unrecognized_param."
    ),
    "get_document": (
        "Gives one stored document: its revision and, when asked for, its whole text or its chunks. Use it to read on"
        " around a passage that narrative_retrieve found; take doc_id and library_id from the passage's lineage. To"
        " find something, use narrative_retrieve instead."
    ),
    "graph_trace": (
        "Follows relations between entities (owner, subsidiary, supplier ...) and gives each as an edge or path with"
        " its source. Set exactly one operation. Use it for questions about who belongs to whom, how two things hang"
        " together, or what lies below something. Nothing found within the bounds means that no such relation is"
        " stored. Not for figures (query_metric) or explanations (narrative_retrieve)."
    ),
    "list_documents": (
        "Lists the documents of a library by id, page by page. Use it to see what is there, or to find the id of a"
        " document by how it begins. To find something by its content, use narrative_retrieve."
    ),
    "narrative_retrieve": (
        "Finds the passages of the stored documents that fit a query best, each with its exact source. Use it for why,"
        " how, who said what, rules, definitions, events: whatever stands in prose. Ask in any language, in words that"
        " the documents would use; one topic a call. Quote only the field text, and cite by its lineage. Not for"
        " figures of a known metric: query_metric gives those exactly."
    ),
    "query_metric": (
        "Looks up exact figures: a metric of an entity in a period, e.g. revenue of ACME in FY2024. Use it for every"
        " question for a number, several at once where they are compared, and let it compute differences, ratios and"
        " growth instead of doing so yourself. Each query ends as found, not_found (the names are known, there is no"
        " figure: say so, never guess) or unrecognized_param (ask again with one of the suggestions). Repeat value and"
        " unit exactly as given. When sources conflict, name all of them."
    ),
    "route": (
        "Tells which kind of evidence a question needs (figures, passages or both) and what was recognised in it, and"
        " retrieves nothing. Use it to plan your own calls; ask does both in one."
    ),
    "verify_citation": (
        "Checks whether a citation that was given out earlier still holds: a quotation, a figure or a relation against"
        " its lineage. Use it before you repeat evidence from an earlier turn or from a text of somebody else."
        " SUPERSEDED means that it stood there once and something newer is in force; NOT_FOUND means do not use it."
    ),
}

FIELDS = {
    "CallOptions.library_ids": "Libraries to read. Left out: all, or those that fit the question best.",
    "CallOptions.filter": "Hard condition on attributes of documents, figures or relations.",
    "CallOptions.hint": "Soft condition: dropped when nothing would be left, and the summary then says so.",
    "CallOptions.known_at": "Answer as of what was stored at that instant.",
    "CallOptions.valid_at": "Only what holds at that instant.",
    "CallOptions.language": "Language of sentences and refusals: en, zh or ja.",
    "CallOptions.reference_date": "Day from which 'last year' counts, e.g. 2025-06-30.",
    "CallOptions.explain": "How much the summary tells about how the result came about.",
    "CallOptions.strictness": "FAIL_ON_DEGRADED: rather an error than a weaker result.",
    "NarrativeRetrieveRequest.query": "The question or keywords.",
    "NarrativeRetrieveRequest.top_k": "Passages wanted; 10 when left out.",
    "NarrativeRetrieveRequest.mode": "Which search; leave it out as a rule.",
    "NarrativeRetrieveRequest.tuning": "Stages of the search; leave it out as a rule.",
    "AskRequest.question": "The question in the person's own words.",
    "AskRequest.top_k": "Passages for the narrative part; 10 when left out.",
    "AskRequest.history": "Earlier turns, oldest first, for what 'it' and 'there' refer to.",
    "AskRequest.force_route": "Take this kind of evidence instead of deciding.",
    "AskRequest.writer": "NONE: evidence only, you write the answer. EXTRACTIVE: sentences of the sources.",
    "AskRequest.mode": "Which search; leave it out as a rule.",
    "AskRequest.tuning": "Stages of the search; leave it out as a rule.",
    "RouteRequest.question": "The question in the person's own words.",
    "RouteRequest.history": "Earlier turns, oldest first.",
    "Turn.role": "Who spoke.",
    "Turn.text": "What was said.",
    "MetricQuery.metric": "Name or code of the metric.",
    "MetricQuery.entity": "Name, code or identifier of the company, country or the like.",
    "MetricQuery.period": "Period, e.g. 2024, FY2024, 2024Q3, 2024-03, or in words.",
    "MetricQuery.channel": "Name or code of the channel; the whole when left out.",
    "MetricQuery.dimensions": "Further axes, e.g. segment = Cloud.",
    "QueryMetricRequest.queries": "Figures one by one; their place, from 0, is their query_index.",
    "QueryMetricRequest.product": "Every combination of lists, counted on after queries.",
    "QueryMetricRequest.calculations": "Computations over two queries, by query_index.",
    "QueryMetricRequest.versions": "Which version of a figure that was restated; the latest when left out.",
    "MetricProduct.metrics": "Names or codes of metrics.",
    "MetricProduct.entities": "Names or codes of entities.",
    "MetricProduct.periods": "Periods.",
    "MetricProduct.channels": "Names or codes of channels; the whole when left out.",
    "Calculation.operation": "DIFFERENCE: first minus second. RATIO: first by second. GROWTH: from first to second.",
    "Calculation.first": "query_index of the first operand.",
    "Calculation.second": "query_index of the second operand.",
    "Dimension.name": "Name of the axis.",
    "Dimension.member": "Member on it.",
    "DescribeMetricsRequest.library_ids": "Libraries; all when left out.",
    "DescribeMetricsRequest.kinds": "Kinds of names; all when left out.",
    "DescribeMetricsRequest.metric": "Count periods for this metric only.",
    "DescribeMetricsRequest.entity": "Count periods for this entity only.",
    "DescribeMetricsRequest.page_size": "Names a page; 100 when left out.",
    "DescribeMetricsRequest.page_token": "nextPageToken of the page before.",
    "GraphTraceRequest.valid_in": "Only relations that hold in this period, e.g. 2024.",
    "GraphTraceRequest.include_unverified": "Also relations that a model found and nobody checked.",
    "GraphTraceRequest.budget": "Bounds of the walk; leave it out as a rule.",
    "GraphTraceRequest.neighborhood": "What is directly around some nodes.",
    "GraphTraceRequest.paths": "How two nodes hang together.",
    "GraphTraceRequest.closure": "All that can be reached from some nodes, at any depth.",
    "GraphTraceRequest.common_ancestors": "What several nodes have above them.",
    "GraphTraceRequest.rollup": "Adds a metric up over all that is below an entity.",
    "GraphTraceRequest.compare": "Sets a metric of several entities side by side.",
    "GraphTraceRequest.derivation": "Shows what a figure is made of.",
    "GraphTraceRequest.communities": "Clusters of nodes.",
    "Neighborhood.node_ids": "Names, codes or node ids such as entity:ACME.",
    "Neighborhood.relations": "Relations to follow; all when left out.",
    "Neighborhood.direction": "OUT: as the relation points. IN: against it.",
    "Neighborhood.max_hops": "Steps; 1 when left out.",
    "Closure.node_ids": "Names, codes or node ids where it starts.",
    "Closure.relations": "Relations to follow, e.g. parent_of.",
    "Closure.direction": "parent_of with IN gives owners, with OUT subsidiaries.",
    "Paths.from_id": "Name, code or node id where the paths start.",
    "Paths.to_id": "Name, code or node id where they end.",
    "Paths.relations": "Relations to follow; all when left out.",
    "Paths.pattern": "Relations step by step, instead of relations.",
    "CommonAncestors.node_ids": "At least two names, codes or node ids.",
    "Filter.predicate": "A test on one attribute.",
    "Filter.all_of": "Holds when every member holds.",
    "Filter.any_of": "Holds when one member holds.",
    "Filter.negate": "Holds when the inner filter does not.",
    "Predicate.field": "Name of the attribute, e.g. doc_id, or one that the library declares.",
    "GetDocumentRequest.library_id": "Library of the document.",
    "GetDocumentRequest.doc_id": "Id of the document, e.g. reports/2024.md.",
    "GetDocumentRequest.revision": "Revision; the present one when left out.",
    "GetDocumentRequest.include_text": "Also the whole text.",
    "GetDocumentRequest.include_chunks": "Also its chunks.",
    "ListDocumentsRequest.library_id": "Library to list.",
    "ListDocumentsRequest.doc_id_prefix": "Only ids that begin so.",
    "ListDocumentsRequest.page_size": "Documents a page; 100 when left out.",
    "ListDocumentsRequest.page_token": "nextPageToken of the page before.",
    "VerifyCitationRequest.lineage": "The lineage of the snippet, as it was given out.",
    "VerifyCitationRequest.quote": "The quoted words, exactly.",
    "VerifyCitationRequest.fact": "The figure, as it was given out.",
    "VerifyCitationRequest.edge": "The relation, as it was given out.",
    "VerifyCitationRequest.path": "The chain of relations, as it was given out.",
}
