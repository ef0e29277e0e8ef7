"""A mapping for a table that nobody has described yet: what it seems to hold, as TOML for a person to look over.

Nothing is loaded by a proposal. What cannot be told stands in it as a blank to fill in.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby, islice

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.ingest.cell_value import DECIMAL_COMMA, CellRules
from groundwire_server.ingest.fact_heading import LOOKAHEAD, find_heading
from groundwire_server.ingest.fact_layout import Layout
from groundwire_server.ingest.fact_mapping import FILL_IN, FactMapping
from groundwire_server.ingest.fact_tables import Sheets, open_table
from groundwire_server.ingest.measure_reading import read_measure
from groundwire_server.ingest.measures import Measure
from groundwire_server.ingest.sheet_cells import column_letter, shown_heading
from groundwire_server.ingest.table_rules import TableRules
from groundwire_server.ingest.typed_cell import read_figure
from groundwire_server.readers import ReadOptions, decode
from groundwire_server.readers.cells import Cell, CellKind, SheetRow
from groundwire_server.readers.table_heads import find_heads, is_amount

__all__ = ["propose_mapping"]

_REQUIRED = ("metric", "entity", "period", "value")
_ANY_DAY = date(2000, 1, 15)
_ENOUGH = 0.6

# Words of headings, whole; in any case and width.
_WORDS = {
    "metric": "metric item measure indicator account kpi concept series lineitem caption"
    " 項目 科目 勘定科目 指標 指标 项目 科目名 项目名称 指标名称",
    "entity": "entity company issuer country organisation organization subsidiary group ticker firm name"
    " 会社 会社名 企業 企業名 公司 公司名称 国 国名 国家 企业 法人 主体",
    "period": "period year date quarter month fiscalyear fy asof periodend"
    " 年度 期間 期间 年 決算期 日期 会計年度 会计年度 报告期 四半期 年月",
    "value": "value amount figure number total obsvalue 金額 値 数値 金额 数值 数量 数額 数额",
    "unit": "unit units currency uom 単位 单位 單位 通貨 货币 币种",
    "channel": "channel 販路 チャネル 渠道",
    "filed": "filed filingdate fileddate published 提出日 公表日 披露日期 公告日期",
    "source_doc": "source sourcedoc document file 出典 出所 来源",
    "label": "label sensitivity classification 機密区分 密级",
    "decimals": "decimals precision",
}
_FIELD_OF = {word: name for name, words in _WORDS.items() for word in words.split()}


@dataclass(slots=True)
class _Proposal:
    """What goes into the TOML, and remarks for whoever reads it."""

    keys: dict[str, object] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    wide: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def toml(self) -> str:
        lines = [f"# {remark}" for remark in self.remarks]
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in self.keys.items()]
        for table, entries in (("columns", self.columns), ("constants", self.constants)):
            if entries:
                lines += ["", f"[{table}]"]
                lines += [f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in entries.items()]
        if self.wide:
            lines += ["", "[wide]", *self.wide]
        return "\n".join(lines).strip("\n") + "\n"


def propose_mapping(name: str, form: str, raw: bytes, options: ReadOptions | None = None) -> str:
    """A column mapping in TOML, with remarks; what cannot be told is a blank to fill in.

    Args:
        form: "csv", "xlsx" or "parquet".

    Raises:
        DocumentRefused: the file cannot be read, or holds no table.
    """
    proposal = _Proposal()
    mapping = FactMapping()
    if form == "csv":
        decoded = decode(name, raw)
        if decoded.doubt:
            proposal.keys["charset"] = decoded.charset
            proposal.remarks.append(f"{decoded.doubt}: look whether the text below is right.")
            mapping = FactMapping(table=TableRules(charset=decoded.charset))
    sheets = open_table(name, form, raw, mapping, options or ReadOptions())
    sheet, rows = _best_sheet(name, sheets, proposal)
    if sheet:
        proposal.keys["sheet"] = sheet
    layout = Layout(name, mapping, _is_period, by_cell=form == "xlsx")
    if _reads(rows, layout):
        proposal.remarks.append("The columns are named as the fields are: the file can be loaded without a mapping.")
    else:
        _describe(name, rows, layout, proposal)
    _decimal_comma(rows, proposal)
    return proposal.toml()


def _best_sheet(name: str, sheets: Sheets, proposal: _Proposal) -> tuple[str, list[SheetRow]]:
    """The sheet with most numbers among its first rows."""
    best: tuple[int, str, list[SheetRow]] | None = None
    names = []
    for sheet, group in groupby(sheets.rows, key=lambda row: row.sheet):
        rows = list(islice(group, LOOKAHEAD))
        numbers = sum(_is_number(cell) for row in rows for cell in row.cells)
        names.append(sheet)
        if best is None or numbers > best[0]:
            best = (numbers, sheet, rows)
    if best is None:
        raise _no_table(name)
    if len(names) > 1:
        proposal.remarks.append(f"Sheets: {', '.join(names)}; this mapping reads the one with most numbers.")
    return best[1], best[2]


def _no_table(name: str) -> DocumentRefused:
    return DocumentRefused(ErrorReason.DOCUMENT_NO_TEXT, f"{name}: it holds no table.")


def _reads(rows: Sequence[SheetRow], layout: Layout) -> bool:
    try:
        find_heading(rows, layout)
    except DocumentRefused:
        return False
    return True


def _describe(name: str, rows: Sequence[SheetRow], layout: Layout, proposal: _Proposal) -> None:
    texts = [[cell.text for cell in row.cells] for row in rows]
    heads = find_heads(texts)
    first = heads.first if heads is not None else _first_with_periods(texts)
    height = heads.rows if heads is not None else 1
    if first is None:
        raise _no_table(name)
    chosen = rows[first : first + height]
    below = rows[first + height :]
    names = _joined([[shown_heading(cell) for cell in row.cells] for row in chosen])
    if height > 1:
        proposal.keys["header_rows"] = [row.number for row in chosen]
    elif chosen[0].number > 1:
        proposal.keys["header_rows"] = chosen[0].number
    periods = [
        column
        for column, each in enumerate(names)
        if each and _is_period(_bare(each)) and _numbers_below(below, column)
    ]
    _name_columns(names, below, periods, proposal)
    if periods:
        proposal.wide.append('heading = "period"')
        proposal.remarks.append(f"Figures stand in the columns {', '.join(names[column] for column in periods)}.")
        proposal.columns.pop("value", None)
        proposal.columns.pop("period", None)
    stated = {"period", "value"} if periods else {"metric", "value"} if proposal.wide else set()
    for needed in _REQUIRED:
        if needed not in proposal.columns and needed not in stated:
            proposal.constants[needed] = FILL_IN
            proposal.remarks.append(f"Nothing in the file tells the {needed}: fill it in, or name its column.")
    _measures(rows[:first], names, proposal)


def _joined(levels: Sequence[Sequence[str]]) -> list[str]:
    width = max(map(len, levels))
    carried = []
    for place, level in enumerate(levels):
        line, before = [], ""
        for column in range(width):
            text = level[column] if column < len(level) else ""
            before = text or (before if column and place < len(levels) - 1 else "")
            line.append(text if place == len(levels) - 1 else before)
        carried.append(line)
    return [" ".join(dict.fromkeys(filter(None, (line[column] for line in carried)))) for column in range(width)]


def _first_with_periods(texts: Sequence[Sequence[str]]) -> int | None:
    for number, row in enumerate(texts):
        told = [text for text in row if text]
        if len(told) > 1 and sum(_is_period(_bare(text)) for text in told) >= len(told) - 1:
            return number
    return None


def _name_columns(names: Sequence[str], below: Sequence[SheetRow], periods: Sequence[int], proposal: _Proposal) -> None:
    """By the words of their headings first, then by what stands in them."""
    taken: set[int] = set(periods)
    for column, name in enumerate(names):
        meant = _FIELD_OF.get(_folded(_bare(name)))
        if meant and meant not in proposal.columns and column not in taken:
            proposal.columns[meant] = name
            taken.add(column)
    others = [column for column in range(_width(names, below)) if column not in taken]
    for wanted, fits in (("period", _is_period_cell), ("metric", _is_text), ("entity", _is_text)):
        if wanted in proposal.columns or (periods and wanted == "period"):
            continue
        found = [column for column in others if _share(below, column, fits) >= _ENOUGH]
        if found and not (wanted == "entity" and periods):
            proposal.columns[wanted] = _named(names, found[0])
            others.remove(found[0])
    if "value" in proposal.columns or periods:
        return
    numbers = [column for column in others if _share(below, column, _is_number) >= _ENOUGH]
    if numbers and ("metric" not in proposal.columns or len(numbers) > 1):
        # A text that was taken for the metric names whom the figures are of, where each column is a metric.
        said = proposal.columns.pop("metric", "")
        if said and "entity" not in proposal.columns:
            proposal.columns["entity"] = said
        shown = [_named(names, column) for column in numbers]
        proposal.wide += ['heading = "metric"', f"columns = {json.dumps(shown, ensure_ascii=False)}"]
        proposal.remarks.append(f"Each of these columns is read as a metric of its own: {', '.join(shown)}.")
    elif numbers:
        proposal.columns["value"] = _named(names, numbers[0])


def _named(names: Sequence[str], column: int) -> str:
    return (names[column] if column < len(names) else "") or f"#{column_letter(column)}"


def _width(names: Sequence[str], below: Sequence[SheetRow]) -> int:
    return max([len(names), *(len(row.cells) for row in below)])


def _share(rows: Sequence[SheetRow], column: int, fits: Callable[[Cell], bool]) -> float:
    cells = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column]]
    return sum(1 for cell in cells if fits(cell)) / len(cells) if cells else 0.0


def _numbers_below(rows: Sequence[SheetRow], column: int) -> bool:
    return _share(rows, column, _is_number) > 0


def _measures(above: Sequence[SheetRow], names: Sequence[str], proposal: _Proposal) -> None:
    said = [(cell.text, read_measure(cell.text)) for row in above for cell in row.cells if cell.kind is CellKind.TEXT]
    said += [(name, read_measure(name)) for name in names]
    for text, measure in dict(said).items():
        if measure:
            proposal.remarks.append(f"{text!r} is read as {_told(measure)}.")
        if measure.vague:
            proposal.remarks.append(
                f"{measure.vague!r} is money of several countries: say [currencies] {measure.vague!r}."
            )


def _told(measure: Measure) -> str:
    parts = [measure.unit or "no unit", f"times 10^{measure.power}" if measure.power else "as it stands"]
    return ", ".join(parts)


def _decimal_comma(rows: Sequence[SheetRow], proposal: _Proposal) -> None:
    for row in rows:
        for cell in row.cells:
            try:
                read_figure(cell, CellRules("."))
            except RowRefused as refused:
                if refused.message == DECIMAL_COMMA and "decimal" not in proposal.keys:
                    proposal.keys["decimal"] = ","
                    proposal.remarks.append(f"Numbers such as {cell.text!r} have a decimal comma.")


def _is_number(cell: Cell) -> bool:
    if cell.kind is CellKind.NUMBER:
        return True
    if not is_amount(cell.text) and not re.search(r"\d", cell.text):
        return False
    try:
        read_figure(cell, CellRules(""))
    except RowRefused as refused:
        return refused.message == DECIMAL_COMMA or "two ways" in refused.message
    return True


def _is_text(cell: Cell) -> bool:
    return cell.kind is CellKind.TEXT and not _is_number(cell) and not _is_period(cell.text)


def _is_period_cell(cell: Cell) -> bool:
    return cell.kind is CellKind.DAY or _is_period(cell.text)


def _is_period(text: str) -> bool:
    try:
        parse_period(text, reference=_ANY_DAY)
    except PeriodError:
        return False
    return True


def _bare(name: str) -> str:
    """A heading without a bracket behind it."""
    return re.sub(r"\s*[(（\[].*$", "", name).strip() or name


def _folded(text: str) -> str:
    return re.sub(r"[\s_\-./]", "", unicodedata.normalize("NFKC", text).casefold())
