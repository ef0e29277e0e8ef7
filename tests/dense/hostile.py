"""Texts that embedders and tokenizers stumble over."""

HOSTILE = [
    "",
    " ",
    "\r\n\t",
    "\0",
    "\ud800 lone surrogate \udfff",
    "👩\u200d👩\u200d👧 family",
    "e\u0301 か\u3099 NFD",
    "line\u2028separator",
    "</s><s><pad><unk>",
    "x" * 20_000,
    "日本の人口は約1億2500万人である。" * 60,
    "人口約為一億二千五百萬。",
    "Population of Japan",
]
