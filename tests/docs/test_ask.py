"""docs/ask.md: its commands and snippet run, with a model and without; its bounds are those of the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundwire_server.narrative import TOKEN_COUNTER
from groundwire_server.router.prose import LONGEST_SENTENCE
from groundwire_server.router.writer import MAX_PROMPT_CHARS, MAX_SENTENCES
from tests.docs.pages import block, run_shell
from tests.llm.model_server import Act, model_server

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ask.md").read_text(encoding="utf-8")


def test_the_commands_work_with_a_model(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []

    def answers(body: dict[str, Any]) -> Act:
        said.append(body)
        return Act("Jane Doe, it is said, has led Acme since 2019 [1]. It has 4711 shops [1].")

    with model_server(script=answers) as model:
        shown = run_shell(
            block(PAGE, "sh"),
            tmp_path,
            GROUNDWIRE_LLM_PROVIDER="openai",
            GROUNDWIRE_LLM_BASE_URL=f"{model.url}/v1",
            GROUNDWIRE_LLM_MODEL="small",
            no_proxy="*",
        )
    assert len(said) == 1
    assert shown.count("it is said") == 1
    assert "4711" not in shown
    assert "MODEL_TEXT_DROPPED" in shown
    assert shown.count("“Jane Doe has led Acme since 2019.”") == 1


def test_the_snippet_works() -> None:
    exec(block(PAGE, "python"), {})


def test_bounds_are_those_of_the_code() -> None:
    page = " ".join(PAGE.split())
    assert f"up to {MAX_PROMPT_CHARS:,} code points" in page
    assert f"longer than {LONGEST_SENTENCE:,} code points" in page
    assert f"After {MAX_SENTENCES} sentences" in page
    assert f"by `{TOKEN_COUNTER}`" in page
