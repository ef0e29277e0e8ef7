"""Formulas on one line: no figure runs into another one."""

from __future__ import annotations

import pytest
from lxml import etree

from groundwire_server.readers.characters import settle_raised
from groundwire_server.readers.formulas import office_formula, web_formula

_OMML = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def office(body: str) -> str:
    root = etree.fromstring(f'<m:oMath xmlns:m="{_OMML}">{body}</m:oMath>')
    return settle_raised(office_formula(root))


def web(body: str) -> str:
    return settle_raised(web_formula(etree.fromstring(f"<math>{body}</math>")))


def r(text: str) -> str:
    return f"<m:r><m:rPr><m:sty m:val='p'/></m:rPr><m:t>{text}</m:t></m:r>"


def part(name: str, body: str) -> str:
    return f"<m:{name}>{body}</m:{name}>"


def two(name: str, first: str, one: str, second: str, other: str, properties: str = "") -> str:
    return part(name, properties + part(first, one) + part(second, other))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r("x") + r("=1"), "x=1"),
        (two("sSup", "e", r("10"), "sup", r("6")), "10^6"),
        (two("sSup", "e", r("x"), "sup", r("2")), "x²"),
        (two("sSup", "e", r("2"), "sup", r("n+1")), "2^(n+1)"),
        (two("sSub", "e", r("x"), "sub", r("12")), "x_12"),
        (two("f", "num", r("1"), "den", r("2")), "1/2"),
        (two("f", "num", r("a+b"), "den", r("10")), "(a+b)/10"),
        (two("f", "num", r("5"), "den", r("2"), "<m:fPr><m:type m:val='noBar'/></m:fPr>"), "5 2"),
        (two("rad", "deg", r("3"), "e", r("8")), "³√8"),
        (two("rad", "deg", "", "e", r("a+b")), "√(a+b)"),
        (part("d", part("e", r("1,5"))), "(1,5)"),
        (part("d", "<m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>" + part("e", r("x"))), "[x]"),
        (
            part(
                "nary", "<m:naryPr><m:chr m:val='∑'/></m:naryPr>" + part("sub", r("i=1")) + part("sup", r("n"))
            ).replace("</m:nary>", part("e", r("i")) + "</m:nary>"),
            "∑_(i=1)^n i",
        ),
        (two("func", "fName", r("sin"), "e", r("30")), "sin 30"),
        (part("m", part("mr", part("e", r("1")) + part("e", r("2"))) + part("mr", part("e", r("3")))), "[1, 2; 3]"),
        (part("acc", part("e", r("売上高"))), "売上高"),
    ],
)
def test_office(body: str, text: str) -> None:
    assert office(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<mi>x</mi><mo>=</mo><mn>1</mn>", "x=1"),
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i²"),
        ("<mfrac><mn>1</mn><mrow><mn>2</mn><mo>+</mo><mi>a</mi></mrow></mfrac>", "1/(2+a)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot><msqrt><mn>16</mn></msqrt>", "³√8√16"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "[1, 2]"),
        ("<semantics><mrow><mn>7</mn></mrow><annotation>{7}</annotation></semantics>", "7"),
        ("<mn>2</mn><mo>\u2062</mo><mtext>円 a</mtext>", "2円 a"),
        ("<munderover><mo>∑</mo><mn>1</mn><mi>n</mi></munderover><mi>i</mi>", "∑_1^n i"),
    ],
)
def test_web(body: str, text: str) -> None:
    assert web(body) == text


def test_what_lies_too_deep_keeps_its_text() -> None:
    assert web("<mrow>" * 200 + "<mn>5</mn>" + "</mrow>" * 200) == "5"
    assert "7" in web("<msup>" * 100 + "<mn>7</mn>" + "<mn>2</mn></msup>" * 100)
    assert office("<m:e>" * 200 + r("5") + "</m:e>" * 200) == "5"
