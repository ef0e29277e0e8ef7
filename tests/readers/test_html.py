"""Web pages: what belongs to the content, how it becomes blocks, in which charset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator, Span
from groundwire_server.readers import Document, HtmlReader, ReadOptions, Source, WarningKind
from tests.support.hostile_text import hostile_text


def read(page: str | bytes, charset: str = "", options: ReadOptions | None = None) -> Document:
    raw = page.encode() if isinstance(page, str) else page
    (document,) = HtmlReader().read(Source("a.html", raw, charset, options or ReadOptions()))
    assert isinstance(document, Document)
    return document


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a  b\n c</p>", "a b c"),
        ("<p>a<b>b</b> <i>c</i>", "ab c"),
        ("<p>one<br>two<br/> three", "one\ntwo\nthree"),
        ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
        ("<p>日本\n語の文</p>", "日本語の文"),
        ("<p>乘坐渡轮，\n创下</p>", "乘坐渡轮，创下"),
        ("<p>한국\n어</p>", "한국 어"),
        ("<pre>  a\n   b\tc</pre>", "a\n   b\tc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c"),
        ("<ol><li><p>a</p><p>b</p></ol>", "1. a\n\nb"),
        ("<ol type=a start=27><li>x</ol><ol type=I><li>y<li>z</ol>", "aa. x\nI. y\nII. z"),
        ("<ol reversed><li>x<li>y</ol><ol style='list-style-type: lower-roman'><li>z</ol>", "2. x\n1. y\ni. z"),
        ("<ol style='list-style: none'><li>x</ol>", "x"),
        ("<dl><dt>a<dd>b</dl>", "a\nb"),
        ("<p>1,204,000<sup>1</sup> and 10<sup>6</sup>", "1,204,000^1 and 10^6"),
        (
            "<p>500<sup>1,2</sup>, 500<sup>1, 2</sup> and 3<sup>1/2</sup>, 7<sup>3a</sup>",
            "500^1,2, 500^1, 2 and 3^1/2, 7^3a",
        ),
        ("<p>ago<sup><a href=#n>1</a></sup>.", "ago[1]."),
        ("<p>120<a role=doc-noteref href=#n>1</a> and 120<a class=footnote-ref><sup>2</sup></a>", "120[1] and 120[2]"),
        ("<p>in <a class=footnote-ref>chapter twelve</a>", "in chapter twelve"),
        (
            "<p>to <math><msup><mn>10</mn><mn>6</mn></msup></math>, <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> h",
            "to 10^6, 1/2 h",
        ),
        ("<p>the 5<sup>th</sup>, 4 m<sup>2</sup>", "the 5th, 4 m²"),
        ("<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby>京", "東京"),
        ("<p>a&nbsp;b &lt;c&gt; &#x1F600;", "a\u00a0b <c> 😀"),
        ("plain text", "plain text"),
        ("<p>a<script>no()</script><style>p{}</style><svg><text>no</text></svg>b", "ab"),
        ("<p>a<span hidden>no</span><span style='color:red; display : none'>no</span>", "a"),
        ("<p>a<span aria-hidden=true>no</span>", "a"),
        ("<form><label>Name</label><input value=no><button>no</button></form>", "Name"),
    ],
)
def test_blocks(page: str, text: str) -> None:
    assert read(page).text == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<nav>no</nav><p>yes", "yes"),
        ("<header><h1>yes</h1></header><p>yes", "yes\n\nyes"),
        ("<header>no</header><p>yes<footer>no</footer>", "yes"),
        ("<article><header>yes</header><p>yes yes yes<footer>yes</footer></article>", "yes\n\nyes yes yes\n\nyes"),
        ("<div role=navigation>no</div><div role=search>no</div><p>yes", "yes"),
        ("<p>no<main><p>yes</main><p>no", "yes"),
        ("<div role=main>yes</div>no", "yes"),
        ("<aside>no</aside><p>yes", "yes"),
        ("<main><p>yes<aside>a note</aside></main>", "yes\n\na note"),
        ("<main><p>yes<aside><a>related</a></aside></main>", "yes"),
        ("<p>a<article><p>more than half of all text</article>", "more than half of all text"),
        (
            "<p>much more than half of all the text<article><p>teaser</article>",
            "much more than half of all the text\n\nteaser",
        ),
        ("<nav>only this</nav>", "only this"),
    ],
)
def test_what_is_content(page: str, text: str) -> None:
    assert read(page).text == text


def test_much_that_is_left_out_is_told() -> None:
    document = read("<p>short<nav>a navigation that is much longer</nav>")
    assert [warning.kind for warning in document.warnings] == [WarningKind.PART_SKIPPED]
    assert "1 nav" in document.warnings[0].message


def test_much_that_stands_beside_the_main_part_is_told() -> None:
    page = "<script>no script counts, however long</script><p hidden>nor what is hidden</p>{}<main><p>short</main>"
    assert not read(page.format("<p>few")).warnings
    (told,) = read(page.format("<p>more than in the main part")).warnings
    assert told.kind is WarningKind.PART_SKIPPED
    assert "all beside the main" in told.message


def test_tables_have_heads_beside_each_row() -> None:
    table = (
        "<table><caption>Sales</caption><thead><tr><th rowspan=2>Region<th colspan=2>2024<tr><th>Q1<th>Q2</thead>"
        "<tr><th>EMEA<td>1<td>2<tr><th>APAC<td colspan=2>3</table>"
    )
    document = read(table)
    assert document.text.split("\n") == [
        "Sales",
        "",
        "Region; 2024",
        "Region; Q1; Q2",
        "Region: EMEA; 2024 Q1: 1; 2024 Q2: 2",
        "Region: APAC; 2024 Q1: 3; 2024 Q2: 3",
    ]
    at = document.text.index("Region: APAC")
    assert document.places.locate(Span(at, at + 12)) == (("para", "5"), ("table", "1"), ("row", "4"))


def test_a_table_that_lays_out_a_page_is_read_cell_by_cell() -> None:
    assert read("<table><tr><td><h2>A</h2><p>one<td><table><tr><td>x<td>y</table></table>").text == "A\n\none\n\nx; y"
    assert read("<table role=presentation><tr><td>a<td>b</table>").text == "a\n\nb"


def test_headings_make_paths_and_the_title_is_that_of_the_page() -> None:
    document = read("<title> The\n page </title><h1>One</h1><p>a<h2>Two</h2><p>b<h1>Three, and #4</h1><p>c")
    assert document.title == "The page"
    at = document.text.index("b")
    assert document.places.heading(Span(at, at + 1)) == "One > Two"
    last = Span(len(document.text) - 1, len(document.text))
    locator = Locator(document.doc_id, document.places.locate(last))
    assert str(locator) == "a.html#para=6,heading=Three%2C and %234"
    assert Locator.parse(str(locator)) == locator
    assert read("<h2>Only <i>this</i></h2>").title == "Only this"
    assert read("<p>none").title == "a"


def test_author_and_day_are_attributes_of_the_file() -> None:
    document = read(
        "<meta name=author content=' R.  Ito '><meta property=article:published_time content=2024-03-31T09:00Z><p>x"
    )
    assert [(each.name, str(each.value)) for each in document.attributes] == [
        ("file_author", "R. Ito"),
        ("file_created", "2024-03-31"),
    ]
    assert read("<meta name=author content=unknown><meta name=date content='last May'><p>x").attributes == ()


@pytest.mark.parametrize(
    ("raw", "charset"),
    [
        ("<meta charset=shift_jis><p>売上高".encode("cp932"), ""),
        ("<meta http-equiv=Content-Type content='text/html; charset=euc-jp'><p>売上高".encode("euc_jp"), ""),
        ("<?xml version='1.0' encoding='gb18030'?><html><p>売上高</p></html>".encode("gb18030"), ""),
        ("<meta charset=shift_jis><p>売上高".encode(), ""),
        ("<p>売上高".encode("utf-16"), ""),
        ("<p>売上高".encode("euc_jp"), "euc-jp"),
    ],
)
def test_charsets(raw: bytes, charset: str) -> None:
    assert read(raw, charset).text == "売上高"


@pytest.mark.parametrize("page", ["", " \n", "<!-- no -->", "<script>no</script>", "<p> &nbsp; </p>"])
def test_a_page_without_text(page: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(page)
    assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT


def test_depth_and_length_are_bounded() -> None:
    assert read("<div>" * 900 + "x").text == "x"
    for page, options in (("<div>" * 50_000 + "x", None), ("<p>12345<p>67890", ReadOptions(max_text_chars=9))):
        with pytest.raises(DocumentRefused) as refused:
            read(page, options=options)
        assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE


_TAG_NAMES = """<p> </p> <b> </b> <ul> <li> </ul> <ol> <h1> </h1> <h3> <table> <tr> <td> <th> </table> <br> <pre> </pre>
    <nav> </nav> <main> </main> <sup> </sup> <!-- --> <script> </script> &amp; &bogus; &#0; <svg> <math> <template>"""
TAGS = st.sampled_from([*_TAG_NAMES.split(), "<td colspan=3>", "<td rowspan=9>"])
_REFUSED = (ErrorReason.DOCUMENT_NO_TEXT, ErrorReason.DOCUMENT_BROKEN, ErrorReason.DOCUMENT_UNSUPPORTED)


def attempt(page: str) -> Document | None:
    try:
        return read(page)
    except DocumentRefused as error:
        return None if error.reason in _REFUSED else pytest.fail(error.message)


@given(st.lists(TAGS | hostile_text(4), max_size=40).map("".join))
def test_any_page_gives_text_whose_places_hold(page: str) -> None:
    document = attempt(page)
    if document is None:
        return
    assert document.text == document.text.strip()
    assert not set(document.text) & set("\x00\x01\x02\x03\r")
    document.text.encode()
    blocks = [block for block in document.text.replace("\n\n", "\n").split("\n") if block]
    last = document.places.locate(Span(len(document.text) - 1, len(document.text)))
    assert 1 <= int(dict(last)["para"]) <= len(blocks)
    assert read(page).text == document.text
