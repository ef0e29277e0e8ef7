"""Numbers as texts write them."""

from __future__ import annotations

import doctest

import pytest

from groundwire_server.guard import citations, numbers, read_numbers, spelled, units


@pytest.mark.parametrize("module", [citations, numbers, spelled, units])
def test_the_examples_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 2024, revenue rose 12% to $3.5 million from March 2023.", ["12 %", "3500000 USD"]),
        ("前年比12.5%増の3兆円。", ["12.5 %", "3000000000000 JPY"]),
        ("1億2,000万人", ["120000000 head"]),
        ("3万5千人 百分之五点三 三分之二 3分の1", ["35000 head", "5.3 %", "2 /3", "1 /3"]),
        ("5-7 million dollars", ["5000000 USD", "7000000 USD"]),
        ("$5-7 million", ["5000000 USD", "7000000 USD"]),
        ("half a million; two and a half million people", ["500000 ", "2500000.0 head"]),
        ("Revenue: (1,234)", ["-1234 "]),
        ("△12, then -5%", ["-12 ", "-5 %"]),
        ("5G, COVID-19, v2.0, A320, Article 5, page 12, 第5条", []),
        ("三菱と八王子、十分", []),
        ("人民币5亿元, 5亿元人民币", ["500000000 CNY", "500000000 CNY"]),
    ],
)
def test_figures_are_read_with_value_and_unit(text: str, expected: list[str]) -> None:
    assert [f"{number.value} {number.unit}" for number in read_numbers(text)] == expected
