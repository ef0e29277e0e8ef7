"""Text as it is matched: normal form, tokens, sentences, borders, and the way back to code points of the source."""

from groundwire_server.text.align import AlignedText, align
from groundwire_server.text.batch import TokenBatch, form_with_joined_words, tokenize_batch
from groundwire_server.text.borders import find_term, has_borders
from groundwire_server.text.code_points import BETWEEN, CJK, CONTEXT, LINE_END, WORD, CodePointTables, code_point_tables
from groundwire_server.text.differences import Difference, differences
from groundwire_server.text.function_words import FUNCTION_WORDS, content_spans
from groundwire_server.text.highlights import Highlighter
from groundwire_server.text.language import Language, detect_language, guess_language
from groundwire_server.text.normal import normalize
from groundwire_server.text.scripts import is_cjk, is_katakana
from groundwire_server.text.sentences import sentence_spans
from groundwire_server.text.tokens import TOKENIZER_ID, tokenize

__all__ = [
    "BETWEEN",
    "CJK",
    "CONTEXT",
    "FUNCTION_WORDS",
    "LINE_END",
    "TOKENIZER_ID",
    "WORD",
    "AlignedText",
    "CodePointTables",
    "Difference",
    "Highlighter",
    "Language",
    "TokenBatch",
    "align",
    "code_point_tables",
    "content_spans",
    "detect_language",
    "differences",
    "find_term",
    "form_with_joined_words",
    "guess_language",
    "has_borders",
    "is_cjk",
    "is_katakana",
    "normalize",
    "sentence_spans",
    "tokenize",
    "tokenize_batch",
]
