"""Text as it is matched: normal form, tokens, sentences, borders, and the way back to code points of the source."""

from groundwire_server.text.align import AlignedText, align
from groundwire_server.text.batch import TokenBatch, tokenize_batch
from groundwire_server.text.borders import find_term, has_borders
from groundwire_server.text.differences import Difference, differences
from groundwire_server.text.highlights import Highlighter
from groundwire_server.text.language import Language, detect_language
from groundwire_server.text.normal import normalize
from groundwire_server.text.scripts import is_cjk, is_katakana
from groundwire_server.text.sentences import sentence_spans
from groundwire_server.text.tokens import TOKENIZER_ID, tokenize

__all__ = [
    "TOKENIZER_ID",
    "AlignedText",
    "Difference",
    "Highlighter",
    "Language",
    "TokenBatch",
    "align",
    "detect_language",
    "differences",
    "find_term",
    "has_borders",
    "is_cjk",
    "is_katakana",
    "normalize",
    "sentence_spans",
    "tokenize",
    "tokenize_batch",
]
