from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.readers.number_format import BUILT_IN_FORMATS, format_number

ACCOUNTING = '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'
PHONE = "[<=9999999]###-####;(###) ###-####"


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234.5, "#,##0.00", "1,234.50"), (-1234.5, "#,##0.00", "-1,234.50"), (-5, "#,##0;(#,##0)", "(5)"),
        (1234567.891, "#,##0.###", "1,234,567.891"), (1234567.8, "#,##0.???", "1,234,567.8"), (5, "00000", "00005"),
        (12345678, "0000,0000", "12,345,678"), (12, "#.##", "12."), (0.5, "#.##", ".5"), (-0.4, "0", "0"),
        (0.125, "0.0%", "12.5%"), (0.999, "0%", "100%"), (-0.1, "0.00%;[Red]\\-0.00%", "-10.00%"),
        (1234567, '0.0,,"M"', "1.2M"), (1500, '#,##0,"千円"', "2千円"), (-1500, '#,##0;"△"#,##0', "△1,500"),
        (1234.5, ACCOUNTING, "$1,234.50"), (-1234.5, ACCOUNTING, "$(1,234.50)"), (0, ACCOUNTING, "$-"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"), (12.5, "¥#,##0.0", "¥12.5"), (5, '0" units"', "5 units"),
        (1234567, "000-0000", "123-4567"), (1234567, PHONE, "123-4567"), (2025551234, PHONE, "(202) 555-1234"),
        (12345, "0.00E+00", "1.23E+04"), (0.00012345, "0.00E+00", "1.23E-04"), (12345, "##0.0E+0", "12.3E+3"),
        (0.5, "# ?/?", "1/2"), (2.25, "# ?/?", "2 1/4"), (0.3333, "?/3", "1/3"), (-1.5, "# ??/??", "-1 1/2"),
        (0.1 + 0.2, "General", "0.3"), (3, '"~ "General', "~ 3"), (3, 'General" kg"', "3 kg"), (3, "@", "3"),
        (1e300, "0", "1E+300"), (1e20, "General", "1E+20"), (3, ";;;", ""), (0, "0;-0;;@", ""),
        (45473, "yyyy-mm-dd", "2024-06-30"), (45473, "d-mmm-yy", "30-Jun-24"), (45473, "dddd", "Sunday"),
        (45473.75, "h:mm AM/PM", "6:00 PM"), (1.5, "[h]:mm:ss", "36:00:00"), (45473.5, "mm:ss.0", "00:00.0"),
        (45473.1234, "yyyy/m/d h:mm", "2024/6/30 2:57"), (45473, 'yyyy"年"m"月"d"日";@', "2024年6月30日"),
        (45473, '[$-411]ggge"年"m"月"d"日"', "令和6年6月30日"), (43585, "[$-411]ge.m.d", "H31.4.30"),
        (45473, "aaaa", "日曜日"),
        (45473, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "2024-06-30"), (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"), (-1, "yyyy-mm-dd", "-1"), (1e9, "yyyy-mm-dd", "1000000000"),
        (1, "0" * 256, "1"),
    ],
)  # fmt: skip
def test_numbers_stand_as_people_see_them(value: float, code: str, shown: str) -> None:
    assert format_number(value, code) == shown


def test_days_count_from_1904_where_the_file_says_so() -> None:
    assert format_number(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.sampled_from('0#?.,%/@;"\\[]-_*$<>=+Ee hmsydagbAPM/General年(5'), max_size=20)
    | st.sampled_from(sorted(set(BUILT_IN_FORMATS.values()))),
)
def test_any_format_shows_any_number(value: float, code: str) -> None:
    shown = format_number(value, code)
    assert isinstance(shown, str)
    assert len(shown) < 2000
