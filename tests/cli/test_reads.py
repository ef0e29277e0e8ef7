"""`groundwire retrieve`, `metric` and `ask`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from groundwire import AnswerRestarted, Frame, Reconnecting
from groundwire_server.cli.output import describe
from groundwire_server.cli.retrieve import _paged
from tests.cli.commands import furnish, run, run_on_terminal, write


def test_passages_with_their_place() -> None:
    furnish()
    ran = run("retrieve", "energy contract", "--mode", "lexical", "--top-k", "1")
    assert ran.code == 0
    assert "reports/2024.md#line=1-5 revision 1 0-" in ran.out
    assert "summary  exhausted: 1 snippets of 1 candidates" in ran.out
    kinds = [frame["frame"] for frame in run("retrieve", "energy", "--json").frames]
    assert kinds == ["StreamHeader", "SnippetBatch", "StreamSummary"]


def test_without_a_model_a_fallback_is_told_and_may_be_forbidden() -> None:
    furnish()
    assert "degraded VECTOR_OFF (embedder)" in run("retrieve", "energy").out
    assert "(DEGRADATION_FORBIDDEN)" in run("retrieve", "energy", "--strict").complaint
    assert "(NO_EMBEDDER)" in run("retrieve", "energy", "--mode", "hybrid").complaint


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("",), "query: must not be blank"),
        (("x", "--top-k", "1000"), "top_k: 1000 is not in 0..200"),
        (("x", "--fusion", "magic"), "tuning.fusion: 'magic' is none of linear, rrf"),
        (("x", "--in", "nowhere"), "There is no library 'nowhere' here. Libraries: default."),
        (("x", "--filter", "titel=y"), "'titel' is no attribute here; near: title; known: doc_id, "),
        (("x" * 9000,), "9000 code points, at most 8192"),
    ],
)
def test_a_query_that_does_not_hold(words: tuple[str, ...], why: str) -> None:
    furnish()
    ran = run("retrieve", *words)
    assert ran.code == 1
    assert why in ran.complaint
    assert ran.out == ""


def test_a_figure_with_its_source() -> None:
    furnish()
    ran = run("metric", "sales", "アクメ", "2024年度", "--language", "en")
    assert ran.code == 0
    assert "Revenue of Acme Corporation for FY2024: 1234.50 USD_M." in ran.out
    assert "reports/2024.md line=3" in ran.out


def test_several_figures_at_once() -> None:
    furnish()
    frames = run("metric", "sales", "Acme", "FY2023|FY2024|FY2025", "--json").frames
    outcomes = [each["outcome"]["kind"] for frame in frames for each in frame.get("outcomes", ())]
    assert outcomes == ["MetricFound", "MetricFound", "MetricNotFound"]
    values = [each["payload"]["value"] for frame in frames for each in frame.get("snippets", ())]
    assert values == ["1100", "1234.50"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sales", "Acme", "FY1999"), "not found sales / Acme / FY1999"),
        (("salez", "Acme", "FY2024"), "unrecognized metric 'salez'; near: sales"),
        (("sales", "Acmee", "FY2024"), "unrecognized entity 'Acmee'; near: ACME"),
        (("sales", "Acme", "the other day"), "unrecognized period 'the other day'"),
        (("sales", "Acme", "FY2024", "--channel", "Online"), "unrecognized channel 'Online'"),
    ],
)
def test_no_figure_is_an_answer_too(words: tuple[str, ...], said: str) -> None:
    furnish()
    ran = run("metric", *words)
    assert ran.code == 0
    assert said in ran.out
    assert "  [1]" not in ran.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("sales", "Acme", ""), "product.periods[0]: must not be blank"),
        (("sales|", "Acme", "FY2024"), "product.metrics[1]: must not be blank"),
        (("|".join("x" * 1001), "Acme", "FY2024"), "1001"),
    ],
)
def test_a_lookup_that_does_not_hold(words: tuple[str, ...], why: str) -> None:
    furnish()
    ran = run("metric", *words)
    assert ran.code == 1
    assert why in ran.complaint


def test_questions_are_answered_from_what_is_cited() -> None:
    furnish()
    figure = run("ask", "What was the revenue of Acme in FY2024?")
    assert figure.code == 0
    assert "answer   Revenue of Acme Corporation for FY2024: 1234.50 USD_M. [1]" in figure.out
    why = run("ask", "Why did the costs for energy fall after the contract?", "--json")
    said = [frame["text"] for frame in why.frames if frame["frame"] == "AnswerPart"]
    assert any("Costs for energy fell after the contract with the city was renewed." in text for text in said)
    assert run("ask", "").code == 1
    assert run("ask", "x", "--route", "magic").code == 2


def test_an_empty_data_folder_answers_nothing() -> None:
    assert "0 snippets of 0 candidates" in run("retrieve", "x").out
    assert "unrecognized metric 'a'" in run("metric", "a", "b", "2020").out
    assert run("ask", "What was the revenue of Acme in FY2024?").code == 0


def test_colours_on_a_terminal_and_no_others() -> None:
    write("mine", {"a.txt": "apples \x1b[2J and pears"})
    assert run("ingest", "mine").code == 0
    shown = run_on_terminal("retrieve", "apples", columns=80, NO_COLOR="").out
    assert "\x1b[36m  [1]\x1b[0m    apples" in shown
    assert "\x1b[33mdegraded\x1b[0m VECTOR_OFF" in shown
    assert "\x1b[2J" not in shown
    plain = run_on_terminal("retrieve", "apples", NO_COLOR="1").out
    assert "\x1b" not in plain
    assert "  [1]    apples" in plain


def test_a_passage_is_shown_with_what_it_is_read_with() -> None:
    write("mine", {"rye.txt": "Rye is dark. It keeps long. Its crust is hard.\n\nTea is green."})
    made = ("--chunker", "parent_child", "--chunk-chars", "30", "--overlap-chars", "0")
    assert run("libraries", "create", "rye", *made).code == 0
    assert run("ingest", "mine", "--library", "rye").code == 0
    shown = run("retrieve", "crust keeps", "--in", "rye").out
    assert "         read with rye.txt#line=1-3: Rye is dark. It keeps long." in shown
    assert "         read with rye.txt#line=1-3, given above" in shown


def test_what_was_lost_on_the_way_is_a_table() -> None:
    folder = write("notes", {f"{number}.md": "contract " * number + "energy" for number in range(1, 5)})
    assert run("ingest", folder).code == 0
    words = ("retrieve", "contract", "--mode", "lexical", "--top-k", "2")
    plan = run(*words, "--explain", "plan").out.splitlines()
    assert plan[-1] == "searched contract (caller)"
    assert run(*words).out.splitlines()[-1].startswith("summary")
    lines = run(*words, "--explain", "trace").out.splitlines()
    assert lines[-4] == "searched contract (caller)"
    assert lines[-3].split() == ["lost", "stage", "reason", "rank", "score", "chunk"]
    assert [[*line.split()[:4], line.split()[-1]] for line in lines[-2:]] == [
        ["lost", "lexical", "depth", "4", "1.md@1#c0"],
        ["lost", "exit", "top_k", "3", "2.md@1#c0"],
    ]
    (summary,) = [frame for frame in run(*words, "--explain", "trace", "--json").frames if "returned" in frame]
    assert [entry["reason"] for entry in summary["explanation"]["trace"]] == ["DEPTH", "TOP_K"]
    asked = run("ask", "Why contract?", "--mode", "lexical", "--top-k", "1", "--explain", "trace").out
    assert "  lost   lexical  depth" in asked


def test_pages_follow_one_another() -> None:
    write("mine", {f"{number}.txt": f"Rye bread number {number}." for number in range(5)})
    run("ingest", "mine")
    shown = run("retrieve", "rye bread", "--top-k", "2", "--pages", "9").out
    assert [f"[{rank}]" in shown for rank in range(1, 6)] == [True] * 5
    assert shown.count("summary  ") == 3
    two = run("retrieve", "rye bread", "--top-k", "2", "--pages", "2", "--json").frames
    assert [each["frame"] for each in two] == ["StreamHeader", "SnippetBatch", "StreamSummary"] * 2


def test_a_page_that_nobody_wants_is_not_asked_for() -> None:
    wanted: list[str] = []

    class Pages:
        """A stream that says how often more of it was asked for."""

        def __iter__(self) -> Iterator[Frame]:
            return iter(())

        def more(self) -> Pages:
            wanted.append("more")
            return self

    assert list(_paged(cast(Any, Pages()), 1)) == []
    assert wanted == []
    assert list(_paged(cast(Any, Pages()), 3)) == []
    assert len(wanted) == 2


def test_what_a_broken_connection_looks_like() -> None:
    assert describe(Reconnecting(2, 0.2, "reset"), {}) == ["broken   no connection, attempt 2 in 0.2 s"]
    assert describe(AnswerRestarted(), {}) == ["answer   is written anew: what stands above is void"]


def test_stages_of_a_search() -> None:
    furnish()
    weak = run("retrieve", "Who designed the lighthouse of Alexandria?", "--corrective", "--mode", "lexical")
    assert "summary  refused" in weak.out
    assert "grade     words (weak,share=0.00,needed=0.28)" in weak.out
    assert "tuning.corrective_judge: 'coin' is none of llm, words" in run("retrieve", "x", "--judge", "coin").complaint
    frames = run("retrieve", "energy of Acme", "--preset", "quality", "--no-corrective", "--json").frames
    steps = [step["stage"] for step in frames[0]["plan"]]
    assert "extract" in steps
    assert "grade" not in steps
    asked = run("ask", "Why energy of Acme?", "--preset", "quality", "--json")
    assert '"stage": "grade"' in asked.out
    assert "tuning.preset: 'best' is none of" in run("ask", "Why energy?", "--preset", "best").complaint
    assert "'magic' is none of" in run("ask", "Why energy?", "--filter-extractor", "magic").complaint


def test_settings_of_stages_outlive_a_change_of_others() -> None:
    furnish()
    stages = {"corrective": "true", "filter_extractor": "glossary", "decomposition": "rules"}
    said = [word for name, value in stages.items() for word in ("--set", f"{name}={value}")]
    assert run("libraries", "set", "default", *said).code == 0
    assert run("libraries", "set", "default", "--description", "all of it").code == 0
    shown = run("libraries", "show", "default").out.split()
    assert {name: shown[shown.index(name) + 1] for name in stages} == stages
