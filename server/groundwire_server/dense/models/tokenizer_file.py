"""tokenizer.json for the `tokenizers` library, written byte for byte by ourselves.

The text form of `tokenizers` may change with its version, and the tokenizer's checksum is part of the model's identity:
so the file is built here as plain JSON.
"""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from groundwire_server.dense.models.weights_file import Vocabulary

__all__ = ["tokenizer_json"]

NORMALIZATION_RULE = "nmt_nfkc"


def tokenizer_json(vocabulary: Vocabulary, max_tokens: int) -> bytes:
    """A unigram tokenizer with SentencePiece's normal form, `<s> text </s>`, cut at `max_tokens`.

    Needs the packages `sentencepiece` and `tokenizers`. The same vocabulary gives the same bytes.
    """
    character_map = _character_map()
    special = {name: vocabulary.pieces.index(name) for name in ("<s>", "<pad>", "</s>", "<unk>")}
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": max_tokens, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [
            {
                "id": index,
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for name, index in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},  # `tokenizers` applies the map to single characters only; SentencePiece composes too
                *_replacements(vocabulary.characters, character_map),
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(character_map).decode()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, _special("</s>")],
            "pair": [
                _special("<s>"),
                {"Sequence": {"id": "A", "type_id": 0}},
                _special("</s>"),
                _special("</s>"),
                {"Sequence": {"id": "B", "type_id": 0}},
                _special("</s>"),
            ],
            "special_tokens": {
                name: {"id": name, "ids": [index], "tokens": [name]}
                for name, index in (("</s>", vocabulary.eos), ("<s>", vocabulary.bos))
            },
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unknown,
            "vocab": [list(entry) for entry in zip(vocabulary.pieces, vocabulary.scores, strict=True)],
            "byte_fallback": False,
        },
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _character_map() -> bytes:
    """SentencePiece's compiled map of the rule; it hands it out only inside a model, so a tiny one is trained."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    message: Any = sentencepiece_model_pb2  # its classes are made at import: nothing a type checker could see

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g h"] * 4),
        model_writer=written,
        vocab_size=13,
        hard_vocab_limit=False,
        normalization_rule_name=NORMALIZATION_RULE,
        minloglevel=2,
    )
    model = message.ModelProto()
    model.ParseFromString(written.getvalue())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def _replacements(wanted: dict[str, str], character_map: bytes) -> list[dict[str, Any]]:
    """Characters that the installed SentencePiece maps otherwise than the model was trained with (0.2: only U+200D)."""
    from tokenizers import normalizers

    precompiled = normalizers.Precompiled(character_map)
    return [
        {"type": "Replace", "pattern": {"String": char}, "content": image}
        for char, image in sorted(wanted.items())
        if char != "\0" and precompiled.normalize_str(char) != image
    ]
