"""How fast files of figures are read, and in how much memory: rows a second of processor time.

    python benchmarks/facts_in.py --rows 100000 > /tmp/facts_in.txt

Each form is read by us in turn with its peer: what one would call to get at the bare cells, without names, units,
scales, reasons or the search for contradictions. `memory_mb` is what the process grew by while the file was read, and
the rows gone through, beside the bytes of the file itself.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow
import xlsxwriter
from pyarrow import parquet
from report import commit, machine

from groundwire_server.ingest.facts import FactRules, read_fact_file

HEADING = ("metric", "entity", "period", "value", "unit")


def main() -> int:
    """Print the table, then one JSON line a form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    lines = [measure(form, make(args.rows), peer, args.rows, args.runs) for form, make, peer in FORMS]
    print(f"{'form':<10}{'MB':>7}{'rows':>9}{'rows/s':>9}{'MB more':>9}  {'peer':<24}{'rows/s':>10}{'ratio':>7}")
    for line in lines:
        print(
            f"{line['form']:<10}{line['mb']:>7.1f}{line['rows']:>9}{line['rows_per_cpu_second']:>9}"
            f"{line['memory_mb']:>9.1f}  {line['peer']:<24}{line['peer_rows_per_cpu_second']:>10}{line['ratio']:>7.2f}"
        )
    for line in lines:
        print(json.dumps(line))
    return 0


def row(number: int) -> tuple[str, str, str, Decimal, str]:
    """A figure; no two have one key."""
    return (
        f"m{number % 50}",
        f"e{number // 500}",
        str(2000 + number // 50 % 10),
        Decimal(number) + Decimal("0.5"),
        "USD",
    )


def as_csv(rows: int) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([HEADING, *map(row, range(rows))])
    return out.getvalue().encode()


def as_jsonl(rows: int) -> bytes:
    return b"".join(
        json.dumps(dict(zip(HEADING, map(str, row(number)), strict=True))).encode() + b"\n" for number in range(rows)
    )


def as_xlsx(rows: int) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"constant_memory": True})
    sheet = book.add_worksheet("S")
    for number, cells in enumerate([HEADING, *map(row, range(rows))]):
        sheet.write_row(number, 0, [float(cell) if isinstance(cell, Decimal) else cell for cell in cells])
    book.close()
    return out.getvalue()


def as_parquet(rows: int) -> bytes:
    out = io.BytesIO()
    columns = zip(*map(row, range(rows)), strict=True)
    parquet.write_table(pyarrow.table(dict(zip(HEADING, columns, strict=True))), out)
    return out.getvalue()


def peer_csv(raw: bytes) -> None:
    for cells in csv.reader(io.StringIO(raw.decode())):
        if cells[3] != "value":
            Decimal(cells[3])


def peer_jsonl(raw: bytes) -> None:
    for line in raw.splitlines():
        Decimal(json.loads(line)["value"])


def peer_xlsx(raw: bytes) -> None:
    for _ in openpyxl.load_workbook(io.BytesIO(raw), read_only=True)["S"].iter_rows(values_only=True):
        pass


def peer_parquet(raw: bytes) -> None:
    parquet.read_table(io.BytesIO(raw), use_threads=False).to_pylist()


FORMS: list[tuple[str, Callable[[int], bytes], tuple[str, Callable[[bytes], None]]]] = [
    ("csv", as_csv, ("csv.reader and Decimal", peer_csv)),
    ("jsonl", as_jsonl, ("json.loads and Decimal", peer_jsonl)),
    ("xlsx", as_xlsx, ("openpyxl, read only", peer_xlsx)),
    ("parquet", as_parquet, ("pyarrow to_pylist", peer_parquet)),
]


def processor_time() -> float:
    """Of this process and of those that it started and that have ended."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def held() -> float:
    """Memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(
    form: str, raw: bytes, peer: tuple[str, Callable[[bytes], None]], rows: int, runs: int
) -> dict[str, object]:
    """Medians over the runs, ours and the peer's in turn."""
    from groundwire_server.readers.cell_process import end_idle

    ours, theirs, more = [], [], []
    for _ in range(runs):
        before, most = held(), 0.0
        began = processor_time()
        for number, _ in enumerate(read_fact_file(f"f.{form}", form, raw, "", FactRules())):
            if number % 5000 == 0:
                most = max(most, held())
        end_idle()  # so that the time of the process that reads is counted
        ours.append(processor_time() - began)
        more.append(most - before)
        began = time.process_time()
        peer[1](raw)
        theirs.append(time.process_time() - began)
    rate, peer_rate = rows / statistics.median(ours), rows / statistics.median(theirs)
    return {
        "name": "facts_in",
        "form": form,
        "mb": round(len(raw) / 1e6, 2),
        "rows": rows,
        "rows_per_cpu_second": round(rate),
        "memory_mb": round(max(more), 1),
        "peer": peer[0],
        "peer_rows_per_cpu_second": round(peer_rate),
        "ratio": round(rate / peer_rate, 3),
        "runs": runs,
        "commit": commit(),
        "machine": machine(),
    }


if __name__ == "__main__":
    sys.exit(main())
