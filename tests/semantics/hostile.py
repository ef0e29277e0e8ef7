"""Texts that break careless code, and strategies that make more of them. Standard library and hypothesis only."""

from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

ENGLISH: Final = "Net revenue rose 3.5 % in FY2024, well above the plan. Why? Margins held; costs fell!"
JAPANESE: Final = "売上高は前年比で増えた。理由は二つある！スーパーマーケット々店舗の拡大；そしてＤＸ化。"
CHINESE: Final = "公司2024年度营业收入增长了百分之三点五。为什么？因為成本下降；毛利率上升！"

TEXTS: Final = (
    "",
    " ",
    "\u3000\t\r\n",
    "a",
    "。",
    ENGLISH,
    JAPANESE,
    CHINESE,
    "one\r\ntwo\rthree\n\nfour\r\n",
    "tab\tseparated\tvalues\n\tindented",
    "👩‍👩‍👧‍👦 family, 👍🏽 thumb, 🇯🇵 flag, 1️⃣ key, 漢️字",
    "cafe\u0301 e\u0301\u0302\u0323 naïve ﬁne Straße İstanbul",
    "か\u3099き\u3099く\u3099 ﾊﾟﾋﾟﾌﾟ ｶﾞｷﾞｸﾞ",
    "한국어 검색 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "ＦＹ２０２４　Ｎｅｔ＿Ｉｎｃｏｍｅ ３．５％",
    "zero\u200bwidth joi\u200dner no\u200cn word\u2060joiner bom\ufeff.",
    "line\u2028separator\u2029paragraph\x85next\x0bvertical\x0cform",
    "𠮷野家と𩸽と㐂と豈と〇と々",
    "выручка έσοδα الإيرادات รายได้ आय",
    "\ufeffbyte order mark",
    "\x00nul\x01and\x1fcontrols\x7f",
    "inter-\nnational hyphen-\r\nated well-known -\n- a--\nb",
    "x" * 3000,
    "長" * 3000,
    "word " * 700,
)

# Letters, marks, digits and separators whose treatment the specification settles (no letter numbers, no other numbers).
ALPHABET: Final = (
    "abzABZ09 ._-,:;!?\t\n\r"
    "éÜñßﬁİſ\u0301\u0308"
    "漢字收入売上高𠮷㐂々〇"
    "あかがっゃゝカガッーヽｶｷﾞﾟｰ・"
    "한국어\u1112\u1161\u11ab"
    "жЖλΣςαبتรไआ०٣"
    "ＡＢ１２＿．　。！？；、「」"
    "\u200b\u200c\u200d\u2060\ufeff\ufe0f\U000e0100"
    "😀👍🏽🇯🇵\u2028\u2029\x85\x00"
)

hostile_texts: Final = st.one_of(
    st.text(alphabet=ALPHABET, max_size=60),
    st.lists(st.one_of(st.sampled_from(TEXTS[:-3]), st.text(alphabet=ALPHABET, max_size=12)), max_size=4).map("".join),
)
any_text: Final = st.text(max_size=60)

quick: Final = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
few: Final = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
some: Final = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
