"""A real model, where the environment names one: LLM_TEST_URL, LLM_TEST_MODEL, LLM_TEST_KEY, LLM_TEST_PROVIDER.

    LLM_TEST_URL=http://127.0.0.1:11434/v1 LLM_TEST_MODEL=qwen2.5:3b pytest tests/llm/test_real_endpoint.py -s

What it finds is its own affair; that nothing else comes out than what stands in the text is ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from groundwire_server.evidence import Label, Span
from groundwire_server.llm import ChatRequest, Message, ModelConfig, ModelProvider, Reply, make_provider
from groundwire_server.relations.extractors import Passage, SourceDocument
from groundwire_server.relations.extractors.conformance import GLOSSARY
from groundwire_server.relations.extractors.model import ModelExtractor
from groundwire_server.security import SecurityGate

pytestmark = pytest.mark.skipif("LLM_TEST_MODEL" not in os.environ, reason="no LLM_TEST_MODEL in the environment")

TEXTS = (
    "Acme owns Beta Works, which makes pumps in Kyoto. Its rival Delta Corp left the market.",
    "アクメはベータ工業の親会社である。ベータ工業は京都に工場を持つ。",
    "顶点公司拥有贝塔。贝塔与东方石油签订了供货合同。",
)


@pytest.fixture
def model() -> Iterator[ModelProvider]:
    config = ModelConfig(
        os.environ.get("LLM_TEST_PROVIDER", "openai"),
        os.environ.get("LLM_TEST_URL", ""),
        os.environ["LLM_TEST_MODEL"],
        "LLM_TEST_KEY" if "LLM_TEST_KEY" in os.environ else "",
        timeout_seconds=240,
        max_tokens=int(os.environ.get("LLM_TEST_TOKENS", "1024")),
    )
    made = make_provider(config)
    assert made is not None
    yield made
    made.close()


def test_it_speaks(model: ModelProvider) -> None:
    request = ChatRequest((Message("user", "Say the word pump."),), "check/1", max_tokens=64)
    assert model.chat(request).text.strip()
    *pieces, reply = model.stream(request)
    assert isinstance(reply, Reply)
    assert "".join(map(str, pieces)) == reply.text


@pytest.mark.timeout(900)
def test_what_it_finds_stands_in_the_text(model: ModelProvider) -> None:
    extractor = ModelExtractor(GLOSSARY, model, SecurityGate(("Delta Corp",)))
    for text in TEXTS:
        found = extractor.extract(
            SourceDocument("d.md", Label.INTERNAL, (Passage(text, Span(0, len(text)), "d.md#line=1"),))
        )
        for each in found.relations:
            sys.stdout.write(
                f"{each.source[1]} {each.relation} {each.target[1]}: {text[each.span.start : each.span.end]}\n"
            )
            assert "Delta Corp" not in (each.source[1], each.target[1])
        sys.stdout.write(f"dropped {dict(found.dropped)}, unread {found.unread}\n")
    sys.stdout.write(f"{model.meter.total()}\n")
