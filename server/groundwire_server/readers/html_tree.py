"""HTML as a tree, and which of its elements belong to the page's content: by fixed rules, no scores but one."""

from __future__ import annotations

import re
from collections import Counter

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.characters import raised
from groundwire_server.readers.container import broken, raise_if_out_of_memory
from groundwire_server.readers.formulas import web_formula
from groundwire_server.readers.plain_text import NO_CONTENT

__all__ = [
    "BLOCKS",
    "Boilerplate",
    "content_root",
    "local_name",
    "parse_html",
    "plain_content",
    "set_content",
    "text_outside",
]

# Elements that stand apart from what is beside them.
_BLOCK_NAMES = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody td
    tfoot th thead tr ul"""
BLOCKS = frozenset(_BLOCK_NAMES.split())

_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
# Pages leave more elements open than XML may; libxml2 itself gives up at twice as many.
_DEPTH_FACTOR = 5
_NO_CONTENT_NAMES = """
    applet area audio base basefont button canvas col colgroup datalist dialog embed frame frameset head iframe img
    input link map meta noembed noframes noscript object option optgroup param picture progress rp rt rtc script select
    source style svg template textarea title track video annotation annotation-xml"""
_NO_CONTENT = frozenset(_NO_CONTENT_NAMES.split())
_BOILERPLATE_ROLE_NAMES = (
    "alert alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar"
)
_BOILERPLATE_ROLES = frozenset(_BOILERPLATE_ROLE_NAMES.split())
_SECTIONS = frozenset({"article", "main", "section", "blockquote", "td"})
_NOTE_MARKS = frozenset({"noteref", "doc-noteref", "footnote-ref"})
_MAX_MARK_CHARS = 8
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def parse_html(doc_id: str, text: str, *, max_depth: int) -> etree._Element:
    """The root of a page. Errors of the page are mended as browsers mend them; nothing is loaded.

    Raises:
        DocumentRefused: DOCUMENT_NO_TEXT for no element at all, DOCUMENT_TOO_LARGE for too deep a tree.
    """
    parser = etree.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True, no_network=True)
    root: etree._Element | None
    try:
        root = etree.fromstring(_XML_DECLARATION.sub("", text, count=1), parser)
    except (etree.LxmlError, ValueError) as error:
        raise_if_out_of_memory(error)
        raise broken(doc_id, "the file is no HTML") from None
    if root is None:
        raise DocumentRefused(ErrorReason.DOCUMENT_NO_TEXT, f"{doc_id}: the file holds no text.", hint=NO_CONTENT)
    most = max_depth * _DEPTH_FACTOR
    if root.xpath(f"boolean({'/*' * (most + 1)})"):
        raise DocumentRefused(
            ErrorReason.DOCUMENT_TOO_LARGE,
            f"{doc_id}: elements lie within each other over the limit of {most} deep.",
            hint="Save the page anew from a browser, or send its text.",
            details={"max_depth": str(most)},
        )
    return root


def content_root(root: etree._Element) -> etree._Element:
    """The element that holds the content: the page's only `main`, else its only `article` where that has half of all
    text or more, else all of it.
    """
    mains, articles = _seen(root, "//main | //*[@role='main']"), _seen(root, "//article")
    if len(mains) == 1:
        return mains[0]
    if len(articles) == 1 and 2 * len(plain_content(articles[0])) >= len(plain_content(root)):
        return articles[0]
    return root


class Boilerplate:
    """Tells what is left out of a page, and counts it.

    Scripts, forms' controls, pictures and what is hidden never belong to the content. Of the rest these do not:

    - `nav`, and what has the role of one, of a banner, a search, a menu or a dialog;
    - `footer` and `header` of the page itself (not of an article or section in it), the header only when it holds no
      heading;
    - `aside` outside of the content's element, and within it where half of its text or more are links.

    Args:
        strict: False: only what is never content is left out, for pages that consist of the rest.
    """

    def __init__(self, root: etree._Element, *, strict: bool = True) -> None:
        self._root = root
        self._strict = strict
        self.dropped: Counter[str] = Counter()
        self.dropped_chars = 0

    def drops(self, element: etree._Element) -> bool:
        """Whether an element, with all in it, is left out."""
        name = local_name(element)
        if name in _NO_CONTENT or _is_hidden(element):
            return True
        if not self._strict or element is self._root or not self._is_boilerplate(element, name):
            return False
        self.dropped[name] += 1
        self.dropped_chars += len(plain_content(element))
        return True

    def _is_boilerplate(self, element: etree._Element, name: str) -> bool:
        if name == "nav" or (element.get("role") or "").strip().casefold() in _BOILERPLATE_ROLES:
            return True
        if name == "aside":
            return local_name(self._root) not in _SECTIONS or _link_share(element) >= 0.5
        if name in ("footer", "header") and not any(
            local_name(above) in _SECTIONS for above in element.iterancestors()
        ):
            return name == "footer" or not element.xpath(".//h1 | .//h2")
        return False


def local_name(element: etree._Element) -> str:
    """The name of an element without its namespace, in lower case; empty for an entity or instruction."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def plain_content(element: etree._Element) -> str:
    """The text in an element on one line, without that of scripts and the like."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        name = local_name(inner)
        if name in BLOCKS or name == "br":
            pieces.append(" ")
        if event == "end":
            pieces.append((inner.tail or "") if inner is not element else "")
        elif name in _NO_CONTENT:
            walk.skip_subtree()
        elif (known := set_content(inner, name)) is not None:
            pieces.append(known)
            walk.skip_subtree()
        else:
            pieces.append(inner.text or "")
    return " ".join("".join(pieces).split())


def text_outside(root: etree._Element, content: etree._Element) -> int:
    """Characters that a page shows and that do not lie in an element of it."""
    count = 0
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            count += 0 if element is root else len((element.tail or "").strip())
        elif element is content or local_name(element) in _NO_CONTENT or _is_hidden(element):
            walk.skip_subtree()
        else:
            count += len((element.text or "").strip())
    return count


def set_content(element: etree._Element, name: str) -> str | None:
    """The text of an element whose letters are not set one after the other; None for any other element.

    These are a `sup` (the mark of a note as "[1]", a figure as one that stands high), the mark of a note whose looks a
    style makes, and a formula.
    """
    if name == "sup":
        return _raised_content(element)
    if name == "math":
        return web_formula(element)
    return _note_mark(element) if name == "a" else None


def _note_mark(element: etree._Element) -> str | None:
    """The mark of a note, "[1]", where an element says that it is one."""
    kind = element.get("epub:type") or element.get("{http://www.idpf.org/2007/ops}type") or ""
    said = {*kind.split(), *(element.get("role") or "").split(), *(element.get("class") or "").split()}
    text = "".join("".join(map(str, element.itertext())).split())
    return f"[{text.strip('[]')}]" if said & _NOTE_MARKS and 0 < len(text) <= _MAX_MARK_CHARS else None


def _raised_content(element: etree._Element) -> str:
    text = " ".join("".join(map(str, element.itertext())).split())
    above = element.getparent()
    links = (above is not None and local_name(above) == "a") or any(local_name(each) == "a" for each in element)
    return f"[{text.strip('[]')}]" if links and text else raised(text)


def _seen(root: etree._Element, path: str) -> list[etree._Element]:
    """The elements of a path that are not hidden."""
    found = root.xpath(path)
    assert isinstance(found, list)
    return [element for element in found if isinstance(element, etree._Element) and not _is_hidden(element)]


def _is_hidden(element: etree._Element) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden", "").strip().casefold() == "true"
        or _HIDDEN_STYLE.search(element.get("style", "")) is not None
    )


def _link_share(element: etree._Element) -> float:
    whole = len(plain_content(element))
    links = sum(len(plain_content(link)) for link in element.iter("a", "{*}a"))
    return links / whole if whole else 1.0
