"""What a model is told about the tools, in Japanese."""

from __future__ import annotations

__all__ = ["FIELDS", "TOOLS"]

TOOLS = {
    "ask": (
        "保存された根拠から質問に答え、出典を示す。人の質問に一度の呼び出しで答えたいとき、まずこれを使う。"
        "数値・文章・その両方のどれが要るかは自分で判断する。どの文も、依拠した断片を示す。"
        "聞き返された場合（clarifications）は、その問いを利用者に伝えるか、選択肢の一つで聞き直す。"
        "わかっている数値一つなら query_metric、文章を読んで自分で書くなら narrative_retrieve を使う。"
    ),
    "describe_metrics": (
        "query_metric が理解する名前を挙げる。指標（単位と定義つき）、主体、チャネル、数値のある期間とその欠け。"
        "ここでの呼び名や、どの年の数値があるかがわからないとき query_metric の前に使う。"
        "unrecognized_param が返ったあとにも使う。"
    ),
    "get_document": (
        "保存された文書を一つ返す。版の情報と、求めに応じて全文または区切りを添える。"
        "narrative_retrieve が見つけた箇所の前後を読むときに使い、doc_id と library_id はその lineage から取る。"
        "内容を探すには narrative_retrieve を使う。"
    ),
    "graph_trace": (
        "主体どうしの関係（親会社、子会社、供給元など）をたどり、出典つきの辺または経路を返す。操作は一つだけ指定する。"
        "誰が誰に属するか、二つがどうつながるか、何がその下にあるかを問うときに使う。"
        "範囲内で何も見つからなければ、その関係は保存されていない。"
        "数値には query_metric、説明には narrative_retrieve を使う。"
    ),
    "list_documents": (
        "ライブラリの文書を ID 順にページごとに挙げる。何があるかを知るとき、または ID の先頭から文書を探すときに使う。"
        "内容で探すには narrative_retrieve を使う。"
    ),
    "narrative_retrieve": (
        "保存された文書から、問いに最も合う箇所を正確な出典つきで探す。"
        "理由、方法、誰が何を述べたか、規則、定義、出来事など、文章で書かれたことに使う。"
        "どの言語でもよく、文書に出そうな言葉で、一度に一つの話題を問う。"
        "引用するのは text だけとし、lineage で出典を示す。わかっている指標の数値は query_metric が正確に返す。"
    ),
    "query_metric": (
        "正確な数値を引く。ある期間の、ある主体の、ある指標（例：FY2024 の ACME の売上高）。"
        "数を問う質問には必ずこれを使う。"
        "比べるときは一度にまとめて引き、差・比・成長率は自分で計算せずこれに任せる。"
        "結果は found、not_found（名前は知られているが数値がない。その旨を伝え、決して推測しない）、"
        "unrecognized_param（候補の一つで引き直す）のいずれか。値と単位はそのまま繰り返す。"
        "出典が食い違うときは全部を示す。"
    ),
    "route": (
        "質問にどの種類の根拠（数値、文章、両方）が要るかと、そこから読み取ったことを返し、検索はしない。"
        "自分で呼び出しを組み立てるときに使う。ask は両方を一度に行う。"
    ),
    "verify_citation": (
        "以前に示された引用（文、数値、関係）がいまも成り立つかを、その lineage と照らして確かめる。"
        "前の会話や他人の文章にある根拠を繰り返す前に使う。"
        "SUPERSEDED はかつて成り立ち、いまは新しいものがあること、NOT_FOUND は使ってはならないことを表す。"
    ),
}

FIELDS = {
    "CallOptions.library_ids": "読むライブラリ。省けば全部、または問いに最も合うもの。",
    "CallOptions.filter": "文書・数値・関係の属性に対する必須の条件。",
    "CallOptions.hint": "弱い条件。何も残らないときは外され、その旨が要約に出る。",
    "CallOptions.known_at": "その時点で保存されていた内容で答える。",
    "CallOptions.valid_at": "その時点で有効なものだけ。",
    "CallOptions.language": "文と断りの言語：en、zh、ja。",
    "CallOptions.reference_date": "「去年」などを数える基準日。例：2025-06-30。",
    "CallOptions.explain": "結果に至る経緯を要約でどこまで示すか。",
    "CallOptions.strictness": "FAIL_ON_DEGRADED：弱い結果よりエラーを選ぶ。",
    "NarrativeRetrieveRequest.query": "質問またはキーワード。",
    "NarrativeRetrieveRequest.top_k": "求める箇所の数。省けば 10。",
    "NarrativeRetrieveRequest.mode": "検索の方式。ふつうは省く。",
    "NarrativeRetrieveRequest.tuning": "検索の段階。ふつうは省く。",
    "AskRequest.question": "利用者の言葉のままの質問。",
    "AskRequest.top_k": "文章の部分に使う箇所の数。省けば 10。",
    "AskRequest.history": "これまでのやりとり。古い順。「それ」「そこ」が指すものを知るため。",
    "AskRequest.force_route": "判断させずに、この種類の根拠を使う。",
    "AskRequest.writer": "NONE：根拠だけを返し、答えは自分で書く。EXTRACTIVE：出典の文のまま。",
    "AskRequest.mode": "検索の方式。ふつうは省く。",
    "AskRequest.tuning": "検索の段階。ふつうは省く。",
    "RouteRequest.question": "利用者の言葉のままの質問。",
    "RouteRequest.history": "これまでのやりとり。古い順。",
    "Turn.role": "話した人。",
    "Turn.text": "話した内容。",
    "MetricQuery.metric": "指標の名前またはコード。",
    "MetricQuery.entity": "会社や国などの名前、コード、識別子。",
    "MetricQuery.period": "期間。例：2024、FY2024、2024Q3、2024-03、または言葉で。",
    "MetricQuery.channel": "チャネルの名前またはコード。省けば全体。",
    "MetricQuery.dimensions": "その他の軸。例：segment = Cloud。",
    "QueryMetricRequest.queries": "一つずつの問い。0 から数えた位置が query_index。",
    "QueryMetricRequest.product": "一覧のすべての組み合わせ。番号は queries に続く。",
    "QueryMetricRequest.calculations": "二つの問いの計算。query_index で指す。",
    "QueryMetricRequest.versions": "訂正された数値のどの版か。省けば最新。",
    "MetricProduct.metrics": "指標の名前またはコード。",
    "MetricProduct.entities": "主体の名前またはコード。",
    "MetricProduct.periods": "期間。",
    "MetricProduct.channels": "チャネルの名前またはコード。省けば全体。",
    "Calculation.operation": "DIFFERENCE：第一から第二を引く。RATIO：第一を第二で割る。GROWTH：第一から第二への伸び。",
    "Calculation.first": "第一の項の query_index。",
    "Calculation.second": "第二の項の query_index。",
    "Dimension.name": "軸の名前。",
    "Dimension.member": "その軸の成員。",
    "DescribeMetricsRequest.library_ids": "ライブラリ。省けば全部。",
    "DescribeMetricsRequest.kinds": "名前の種類。省けば全部。",
    "DescribeMetricsRequest.metric": "この指標の期間だけを数える。",
    "DescribeMetricsRequest.entity": "この主体の期間だけを数える。",
    "DescribeMetricsRequest.page_size": "一ページの名前の数。省けば 100。",
    "DescribeMetricsRequest.page_token": "前のページの nextPageToken。",
    "GraphTraceRequest.valid_in": "この期間に成り立つ関係だけ。例：2024。",
    "GraphTraceRequest.include_unverified": "モデルが見つけ、誰も確かめていない関係も含める。",
    "GraphTraceRequest.budget": "たどる範囲の限度。ふつうは省く。",
    "GraphTraceRequest.neighborhood": "節点のすぐ周りにあるもの。",
    "GraphTraceRequest.paths": "二つの節点のつながり方。",
    "GraphTraceRequest.closure": "節点からどの深さでも届くものすべて。",
    "GraphTraceRequest.common_ancestors": "いくつかの節点に共通する上位。",
    "GraphTraceRequest.rollup": "主体の下にあるものすべての指標を合計する。",
    "GraphTraceRequest.compare": "いくつかの主体の指標を並べる。",
    "GraphTraceRequest.derivation": "数値が何から成るかを示す。",
    "GraphTraceRequest.communities": "節点のまとまり。",
    "Neighborhood.node_ids": "名前、コード、または entity:ACME のような節点 ID。",
    "Neighborhood.relations": "たどる関係。省けば全部。",
    "Neighborhood.direction": "OUT：関係の向きに。IN：逆向きに。",
    "Neighborhood.max_hops": "歩数。省けば 1。",
    "Closure.node_ids": "出発点の名前、コード、節点 ID。",
    "Closure.relations": "たどる関係。例：parent_of。",
    "Closure.direction": "parent_of を IN でたどれば所有者、OUT なら子会社。",
    "Paths.from_id": "経路の始点の名前、コード、節点 ID。",
    "Paths.to_id": "経路の終点の名前、コード、節点 ID。",
    "Paths.relations": "たどる関係。省けば全部。",
    "Paths.pattern": "一歩ごとの関係。relations の代わり。",
    "CommonAncestors.node_ids": "二つ以上の名前、コード、節点 ID。",
    "Filter.predicate": "一つの属性についての条件。",
    "Filter.all_of": "全部が成り立つとき成り立つ。",
    "Filter.any_of": "一つが成り立つとき成り立つ。",
    "Filter.negate": "内側が成り立たないとき成り立つ。",
    "Predicate.field": "属性の名前。例：doc_id、またはライブラリが宣言した属性。",
    "GetDocumentRequest.library_id": "文書のあるライブラリ。",
    "GetDocumentRequest.doc_id": "文書の ID。例：reports/2024.md。",
    "GetDocumentRequest.revision": "版。省けば現在の版。",
    "GetDocumentRequest.include_text": "全文も返す。",
    "GetDocumentRequest.include_chunks": "区切りも返す。",
    "ListDocumentsRequest.library_id": "挙げるライブラリ。",
    "ListDocumentsRequest.doc_id_prefix": "この文字列で始まる ID だけ。",
    "ListDocumentsRequest.page_size": "一ページの文書の数。省けば 100。",
    "ListDocumentsRequest.page_token": "前のページの nextPageToken。",
    "VerifyCitationRequest.lineage": "断片の lineage。示されたまま。",
    "VerifyCitationRequest.quote": "引用した言葉。一字一句そのまま。",
    "VerifyCitationRequest.fact": "数値。示されたまま。",
    "VerifyCitationRequest.edge": "関係。示されたまま。",
    "VerifyCitationRequest.path": "関係の連なり。示されたまま。",
}
