from __future__ import annotations

import re

from groundwire_server.evidence import LANGUAGES, RefusalReason, make_refusal


def test_every_reason_has_a_sentence_in_every_language_and_none_holds_a_figure() -> None:
    texts = [make_refusal(reason, language).text for reason in RefusalReason for language in LANGUAGES]
    assert len(set(texts)) == len(RefusalReason) * len(LANGUAGES)
    assert not [text for text in texts if re.search(r"\d", text)]


def test_another_language_gets_english() -> None:
    reason = RefusalReason.NOTHING_FOUND
    assert make_refusal(reason, "de") == make_refusal(reason, "") == make_refusal(reason, "en")
