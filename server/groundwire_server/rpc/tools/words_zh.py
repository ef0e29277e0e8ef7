"""What a model is told about the tools, in Chinese."""

from __future__ import annotations

__all__ = ["FIELDS", "TOOLS"]

TOOLS = {
    "ask": (
        "依据已存储的证据回答问题并注明出处。有人提问、希望一次调用得到答案时首先使用：它自行判断需要数字、段落还是两者。"
        "每句话都指明所依据的片段。若它反问（clarifications），请把问题转给用户，或用其中一个选项再次提问。"
        "查询一个已知数字请用 query_metric；想自己阅读段落并撰写答案请用 narrative_retrieve。"
    ),
    "describe_metrics": (
        "列出 query_metric 能理解的名称：指标（含单位与定义）、实体、渠道，以及有数据的期间和缺口。"
        "不知道某项在这里如何称呼、或不知道哪些年份有数据时，在 query_metric 之前使用；"
        "得到 unrecognized_param 之后也使用。"
    ),
    "get_document": (
        "给出一份已存储的文档：版本信息，并可按要求附上全文或分块。用于在 narrative_retrieve 找到的段落前后继续阅读；"
        "doc_id 与 library_id 取自该段落的 lineage。若要查找内容，请用 narrative_retrieve。"
    ),
    "graph_trace": (
        "沿着实体之间的关系（股东、子公司、供应商等）行走，给出带来源的边或路径。只设置一种操作。"
        "用于“谁属于谁”“两者有何关联”“某对象之下有什么”一类问题。在限定范围内没有结果，表示没有存储这样的关系。"
        "数字请用 query_metric，解释请用 narrative_retrieve。"
    ),
    "list_documents": (
        "按编号分页列出资料库中的文档。用于了解有哪些文档，或按编号的开头查找文档。按内容查找请用 narrative_retrieve。"
    ),
    "narrative_retrieve": (
        "在已存储的文档中找出最符合查询的段落，每段附有准确出处。用于原因、方式、谁说了什么、规则、定义、事件等以文字叙述的内容。"
        "可用任何语言，用文档中可能出现的词提问；一次调用一个主题。只引用 text 字段，并按 lineage 注明出处。"
        "已知指标的数字请用 query_metric，它给出准确值。"
    ),
    "query_metric": (
        "查询准确数字：某实体在某期间的某项指标，例如 ACME 在 FY2024 的收入。凡是问数字的问题都使用它；"
        "需要比较时一次查询多项，"
        "差额、比率与增长率由它计算，不要自己算。"
        "每项查询的结果是 found、not_found（名称已知但没有数字：如实说明，绝不猜测）"
        "或 unrecognized_param（用建议之一再查）。数值与单位须原样重复。来源不一致时，列出全部来源。"
    ),
    "route": (
        "判断一个问题需要哪类证据（数字、段落或两者），并给出从中识别出的内容；不做检索。"
        "用于规划自己的调用；ask 会一次完成两步。"
    ),
    "verify_citation": (
        "检查以前给出的引用是否仍然成立：把引文、数字或关系与其 lineage 核对。"
        "重复使用前几轮或他人文字中的证据之前使用。"
        "SUPERSEDED 表示曾经成立、现已有更新的内容；NOT_FOUND 表示不要使用。"
    ),
}

FIELDS = {
    "CallOptions.library_ids": "要读取的资料库。不填：全部，或最符合问题的几个。",
    "CallOptions.filter": "对文档、数字或关系的属性的硬性条件。",
    "CallOptions.hint": "软性条件：若会一无所剩则放弃，并在摘要中说明。",
    "CallOptions.known_at": "按该时刻已存储的内容回答。",
    "CallOptions.valid_at": "只要在该时刻有效的内容。",
    "CallOptions.language": "句子与拒答所用语言：en、zh 或 ja。",
    "CallOptions.reference_date": "计算“去年”等所依据的日期，例如 2025-06-30。",
    "CallOptions.explain": "摘要对结果由来说明到什么程度。",
    "CallOptions.strictness": "FAIL_ON_DEGRADED：宁可报错，也不要较弱的结果。",
    "NarrativeRetrieveRequest.query": "问题或关键词。",
    "NarrativeRetrieveRequest.top_k": "需要的段落数；不填为 10。",
    "NarrativeRetrieveRequest.mode": "检索方式；通常不填。",
    "NarrativeRetrieveRequest.tuning": "检索的各个阶段；通常不填。",
    "AskRequest.question": "用户原话的问题。",
    "AskRequest.top_k": "叙述部分所用的段落数；不填为 10。",
    "AskRequest.history": "先前的对话，最早的在前，用于理解“它”“那里”所指。",
    "AskRequest.force_route": "指定证据类别，不再判断。",
    "AskRequest.writer": "NONE：只给证据，由你撰写。EXTRACTIVE：来源中的原句。",
    "AskRequest.mode": "检索方式；通常不填。",
    "AskRequest.tuning": "检索的各个阶段；通常不填。",
    "RouteRequest.question": "用户原话的问题。",
    "RouteRequest.history": "先前的对话，最早的在前。",
    "Turn.role": "发言者。",
    "Turn.text": "发言内容。",
    "MetricQuery.metric": "指标的名称或代码。",
    "MetricQuery.entity": "公司、国家等的名称、代码或标识。",
    "MetricQuery.period": "期间，例如 2024、FY2024、2024Q3、2024-03，或用文字表达。",
    "MetricQuery.channel": "渠道的名称或代码；不填为合计。",
    "MetricQuery.dimensions": "其他维度，例如 segment = Cloud。",
    "QueryMetricRequest.queries": "逐项查询；从 0 起的位置即 query_index。",
    "QueryMetricRequest.product": "各列表的全部组合，编号接在 queries 之后。",
    "QueryMetricRequest.calculations": "对两项查询的计算，用 query_index 指明。",
    "QueryMetricRequest.versions": "数字经过重述时取哪个版本；不填为最新。",
    "MetricProduct.metrics": "指标的名称或代码。",
    "MetricProduct.entities": "实体的名称或代码。",
    "MetricProduct.periods": "期间。",
    "MetricProduct.channels": "渠道的名称或代码；不填为合计。",
    "Calculation.operation": "DIFFERENCE：第一项减第二项。RATIO：第一项除以第二项。GROWTH：从第一项到第二项的增长。",
    "Calculation.first": "第一个运算项的 query_index。",
    "Calculation.second": "第二个运算项的 query_index。",
    "Dimension.name": "维度的名称。",
    "Dimension.member": "该维度上的成员。",
    "DescribeMetricsRequest.library_ids": "资料库；不填为全部。",
    "DescribeMetricsRequest.kinds": "名称的种类；不填为全部。",
    "DescribeMetricsRequest.metric": "只统计这项指标的期间。",
    "DescribeMetricsRequest.entity": "只统计这个实体的期间。",
    "DescribeMetricsRequest.page_size": "每页的名称数；不填为 100。",
    "DescribeMetricsRequest.page_token": "上一页的 nextPageToken。",
    "GraphTraceRequest.valid_in": "只要在此期间成立的关系，例如 2024。",
    "GraphTraceRequest.include_unverified": "也包括模型得出、无人核实的关系。",
    "GraphTraceRequest.budget": "行走的界限；通常不填。",
    "GraphTraceRequest.neighborhood": "某些节点周围直接相连的内容。",
    "GraphTraceRequest.paths": "两个节点如何关联。",
    "GraphTraceRequest.closure": "从某些节点出发、任意深度可到达的全部节点。",
    "GraphTraceRequest.common_ancestors": "若干节点共同的上级。",
    "GraphTraceRequest.rollup": "把某实体之下全部对象的指标相加。",
    "GraphTraceRequest.compare": "并列比较若干实体的一项指标。",
    "GraphTraceRequest.derivation": "说明一个数字由什么构成。",
    "GraphTraceRequest.communities": "节点的群组。",
    "Neighborhood.node_ids": "名称、代码或节点编号，例如 entity:ACME。",
    "Neighborhood.relations": "要沿着走的关系；不填为全部。",
    "Neighborhood.direction": "OUT：顺着关系的方向。IN：逆着方向。",
    "Neighborhood.max_hops": "步数；不填为 1。",
    "Closure.node_ids": "起点的名称、代码或节点编号。",
    "Closure.relations": "要沿着走的关系，例如 parent_of。",
    "Closure.direction": "parent_of 配 IN 得到所有者，配 OUT 得到子公司。",
    "Paths.from_id": "路径起点的名称、代码或节点编号。",
    "Paths.to_id": "路径终点的名称、代码或节点编号。",
    "Paths.relations": "要沿着走的关系；不填为全部。",
    "Paths.pattern": "逐步指定的关系，代替 relations。",
    "CommonAncestors.node_ids": "至少两个名称、代码或节点编号。",
    "Filter.predicate": "对一个属性的测试。",
    "Filter.all_of": "每个成员都成立时成立。",
    "Filter.any_of": "有一个成员成立时成立。",
    "Filter.negate": "内部条件不成立时成立。",
    "Predicate.field": "属性名称，例如 doc_id，或资料库声明的属性。",
    "GetDocumentRequest.library_id": "文档所在的资料库。",
    "GetDocumentRequest.doc_id": "文档编号，例如 reports/2024.md。",
    "GetDocumentRequest.revision": "版本；不填为当前版本。",
    "GetDocumentRequest.include_text": "附上全文。",
    "GetDocumentRequest.include_chunks": "附上分块。",
    "ListDocumentsRequest.library_id": "要列出的资料库。",
    "ListDocumentsRequest.doc_id_prefix": "只要以此开头的编号。",
    "ListDocumentsRequest.page_size": "每页的文档数；不填为 100。",
    "ListDocumentsRequest.page_token": "上一页的 nextPageToken。",
    "VerifyCitationRequest.lineage": "片段的 lineage，原样填写。",
    "VerifyCitationRequest.quote": "引文，一字不差。",
    "VerifyCitationRequest.fact": "数字，原样填写。",
    "VerifyCitationRequest.edge": "关系，原样填写。",
    "VerifyCitationRequest.path": "关系链，原样填写。",
}
