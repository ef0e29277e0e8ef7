"""Formulas of office files (OMML) and of web pages (MathML) on one line, as people type them: x², (a + b)/2, √(n)."""

from __future__ import annotations

from typing import Any

from groundwire_server.readers.characters import raised

__all__ = ["office_formula", "web_formula"]

# Hold how a formula looks, or its source in another language.
_LEFT_OUT = frozenset({"annotation", "annotation-xml", "mphantom", "mspace", "del", "moveFrom"})
_MAX_DEPTH = 40
_INVISIBLE = str.maketrans(dict.fromkeys("\u2061\u2062\u2063\u2064"))
_HIGH_FIGURES = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FENCE = {"begChr": "(", "sepChr": "|", "endChr": ")"}


def office_formula(element: Any) -> str:
    """The text of an `oMath` or `oMathPara`; figures that stand high are marked (`characters.raised`)."""
    return _Office().inside(element)


def web_formula(element: Any) -> str:
    """The text of a `math` element; figures that stand high are marked (`characters.raised`)."""
    return " ".join(_Web().inside(element).translate(_INVISIBLE).split())


class _Formulas:
    """What both languages have in common: parts by name, and what stands for them."""

    def __init__(self) -> None:
        self._depth = 0

    def inside(self, element: Any) -> str:
        """The parts of an element one after the other; what lies too deep loses its form, not its text."""
        if self._depth >= _MAX_DEPTH:
            return "".join(map(str, element.itertext()))
        self._depth += 1
        text = "".join(self.one(child) for child in element)
        self._depth -= 1
        return text

    def one(self, element: Any) -> str:
        """An element; what has no form of its own is read through."""
        name = _local(element)
        form = getattr(self, f"_{name}", None) if name.isalnum() else None
        if name in _LEFT_OUT or name.endswith("Pr"):
            return ""
        if form is not None:
            return str(form(element))
        return _said(element, self) if len(element) else element.text or ""


class _Office(_Formulas):
    """OMML: each part has a name of its own (e: base, num, den, sup, sub, deg)."""

    def one(self, element: Any) -> str:
        if _local(element) != "t" and not len(element):
            return ""
        return super().one(element)

    def _part(self, element: Any, name: str) -> str:
        return "".join(self.inside(child) for child in element if _local(child) == name)

    def _sSup(self, element: Any) -> str:  # noqa: N802 - the names of the elements
        return _high(self._part(element, "e"), self._part(element, "sup"))

    def _sSub(self, element: Any) -> str:  # noqa: N802
        return _low(self._part(element, "e"), self._part(element, "sub"))

    def _sSubSup(self, element: Any) -> str:  # noqa: N802
        return _high(_low(self._part(element, "e"), self._part(element, "sub")), self._part(element, "sup"))

    def _f(self, element: Any) -> str:
        bar = _property(element, "fPr", "type", "bar")
        return _over(self._part(element, "num"), self._part(element, "den"), bar=bar != "noBar")

    def _rad(self, element: Any) -> str:
        return _root(self._part(element, "e"), self._part(element, "deg"))

    def _d(self, element: Any) -> str:
        begin, between, end = (_property(element, "dPr", name, usual) for name, usual in _FENCE.items())
        return begin + between.join(self.inside(child) for child in element if _local(child) == "e") + end

    def _nary(self, element: Any) -> str:
        sign = _property(element, "naryPr", "chr", "∫")
        return f"{_high(_low(sign, self._part(element, 'sub')), self._part(element, 'sup'))} {self._part(element, 'e')}"

    def _func(self, element: Any) -> str:
        return f"{self._part(element, 'fName')} {self._part(element, 'e')}"

    def _limLow(self, element: Any) -> str:  # noqa: N802
        return _low(self._part(element, "e"), self._part(element, "lim"))

    def _limUpp(self, element: Any) -> str:  # noqa: N802
        return _high(self._part(element, "e"), self._part(element, "lim"))

    def _m(self, element: Any) -> str:
        rows = [[self.inside(cell) for cell in row if _local(cell) == "e"] for row in element if _local(row) == "mr"]
        return _matrix(rows)

    def _eqArr(self, element: Any) -> str:  # noqa: N802
        return "; ".join(self.inside(child) for child in element if _local(child) == "e")


class _Web(_Formulas):
    """MathML: the parts of an element are told by their order."""

    def _parts(self, element: Any, count: int) -> list[str]:
        if self._depth >= _MAX_DEPTH:
            return [self.inside(element), *[""] * (count - 1)]
        self._depth += 1
        parts = [self.one(child) for child in element if isinstance(child.tag, str)]
        self._depth -= 1
        return (parts + [""] * count)[:count]

    def _msup(self, element: Any) -> str:
        base, high = self._parts(element, 2)
        return _high(base, high)

    def _msub(self, element: Any) -> str:
        base, low = self._parts(element, 2)
        return _low(base, low)

    def _msubsup(self, element: Any) -> str:
        base, low, high = self._parts(element, 3)
        return _high(_low(base, low), high)

    def _munderover(self, element: Any) -> str:
        return f"{self._msubsup(element)} "

    _munder, _mover = _msub, _msup

    def _mfrac(self, element: Any) -> str:
        above, below = self._parts(element, 2)
        return _over(above, below, bar=(element.get("linethickness") or "1").strip("0px. ") != "")

    def _msqrt(self, element: Any) -> str:
        return _root(self.inside(element), "")

    def _mroot(self, element: Any) -> str:
        base, degree = self._parts(element, 2)
        return _root(base, degree)

    def _mfenced(self, element: Any) -> str:
        begin, end = str(element.get("open", "(")), str(element.get("close", ")"))
        return begin + ", ".join(self.one(child) for child in element if isinstance(child.tag, str)) + end

    def _mtable(self, element: Any) -> str:
        rows = [[self.one(cell) for cell in row] for row in element if _local(row) in ("mtr", "mlabeledtr")]
        return _matrix(rows)

    def _semantics(self, element: Any) -> str:
        return self._parts(element, 1)[0]


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def _said(element: Any, forms: _Formulas) -> str:
    own = (element.text or "") if (element.text or "").strip() else ""
    return own + forms.inside(element)


def _property(element: Any, group: str, name: str, usual: str) -> str:
    """What the properties of an element of OMML say, e.g. the sign of its fence."""
    for properties in element:
        if _local(properties) == group:
            for each in properties:
                if _local(each) == name:
                    return next((value for key, value in each.attrib.items() if key.endswith("val")), usual)
    return usual


def _group(text: str) -> str:
    """A part that stays one where it stands beside others: in brackets unless it is a word or a number."""
    plain = text.strip()
    fenced = plain[:1] == "(" and plain.find(")") == len(plain) - 1
    return plain if fenced or all(char.isalnum() or char in ".," for char in plain) else f"({plain})"


def _high(base: str, high: str) -> str:
    if not high.strip():
        return base
    marked = raised(high.strip())
    return base + (marked if marked != high.strip() else f"^{_group(high)}")


def _low(base: str, low: str) -> str:
    return f"{base}_{_group(low)}" if low.strip() else base


def _over(above: str, below: str, *, bar: bool) -> str:
    return f"{_group(above)}/{_group(below)}" if bar else f"{above.strip()} {below.strip()}"


def _root(base: str, degree: str) -> str:
    degree = degree.strip()
    sign = degree.translate(_HIGH_FIGURES) if degree.isdecimal() and degree.isascii() else f"[{degree}]" * bool(degree)
    return f"{sign}√{_group(base)}"


def _matrix(rows: list[list[str]]) -> str:
    return f"[{'; '.join(', '.join(cell.strip() for cell in row) for row in rows)}]"
