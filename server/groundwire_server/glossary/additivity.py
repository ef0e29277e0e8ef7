"""Whether a metric may be added up where nobody has said so: amounts and counts are, rates and ratios are not."""

from __future__ import annotations

import re

from groundwire_server.glossary.terms import Additivity
from groundwire_server.text import normalize

__all__ = ["assume_additivity"]

_UNITS = re.compile(
    r"%|‰|/|\b(?:percent|pct|percentage|ratio|pure|bps|basis points?|index|rate|score|times|per|x)\b|倍|率"
)
_NAMES = re.compile(
    r"%|‰|\b(?:percent|percentage|ratio|rates?|margin|yield|average|mean|median|index|per|growth|multiple|price|density"
    r"|score)\b|率|比重|比例|比值|指数|指數|平均|每股|人均|毎股|1株|一株|1人当|一人当|当たり|あたり|単価|单价|價格|価格|价格"
)


def assume_additivity(unit: str, names: tuple[str, ...]) -> Additivity:
    """NONE for percent, ratios and per-unit figures by unit or name, else SUM (formats.md).

    >>> assume_additivity("USD", ("Revenue",)).value, assume_additivity("", ("Basic EPS per share",)).value
    ('sum', 'none')
    """
    if _UNITS.search(normalize(unit)) or any(_NAMES.search(normalize(name).replace("_", " ")) for name in names):
        return Additivity.NONE
    return Additivity.SUM
