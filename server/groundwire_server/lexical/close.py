"""Bounds for 64 rows in one go, close to what they are worth: where the processor can permute and expand bytes.

A bitmap tells which of 64 rows hold a term; their counts stand one behind the other, so they can be spread to the rows
where they belong. Together with how long each row is they are looked up in a table of 128 bytes, all 64 at once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import int64
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

__all__ = ["CLASSES", "CLOSE_LEVELS", "HAS_CLOSE", "sum_closely"]

CLASSES = (0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7, 7, 7, 7, 7, 0)
"""Counts as they are told apart: the class of each; 0 has all from the last one on."""
CLOSE_LEVELS = 16
"""Lengths are told apart so far, in steps of a power of two."""
_NEEDED = ("+bmi2", "+avx512bw", "+avx512vbmi", "+avx512vbmi2")
HAS_CLOSE = set(_NEEDED) <= set(getattr(cpu_target.target_context.codegen(), "_tm_features", "").split(","))
"""Whether the processor that code is compiled for can do it."""

_BYTE = ir.IntType(8)
_BIT = ir.IntType(1)
_WORD = ir.IntType(64)
_SHORT = ir.IntType(16)
_BYTES = ir.VectorType(_BYTE, 64)
_BITS = ir.VectorType(_BIT, 64)
_SHORTS = ir.VectorType(_SHORT, 64)
_alloca: Any = cgutils.alloca_once


def _function(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    found = builder.module.globals.get(name)
    return found or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def _all(builder: Any, value: Any, kind: Any) -> Any:
    """A number, 64 times."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 64), None))


def _same(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * 64)


def _levels(builder: Any, capped: Any, shift: Any) -> Any:
    """The level of each of 64 lengths."""
    lengths = builder.load(builder.inttoptr(capped, _SHORTS.as_pointer()), align=1)
    shifted = builder.lshr(lengths, _all(builder, builder.trunc(shift, _SHORT), _SHORTS))
    least = _function(builder, "llvm.umin.v64i16", _SHORTS, _SHORTS, _SHORTS)
    return builder.trunc(builder.call(least, [shifted, _same(_SHORTS, CLOSE_LEVELS - 1)]), _BYTES)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _sum_closely(
    _context: Any, _base: Any, _start: Any, _word: Any, _capped: Any, _shift: Any, _bitmaps: Any, _ranks: Any,
    _counts: Any, _tables: Any, _terms: Any,
) -> Any:  # fmt: skip
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        base, start, word, capped, shift, bitmaps, ranks, counts, tables, terms = arguments
        add = _function(builder, "llvm.uadd.sat.v64i8", _BYTES, _BYTES, _BYTES)
        least = _function(builder, "llvm.umin.v64i8", _BYTES, _BYTES, _BYTES)
        spread = _function(builder, "llvm.x86.avx512.mask.expand.v64i8", _BYTES, _BYTES, _BYTES, _BITS)
        choose = _function(builder, "llvm.x86.avx512.pshuf.b.512", _BYTES, _BYTES, _BYTES)
        number = ir.IntType(32)
        load = _function(builder, "llvm.masked.load.v64i8.p0", _BYTES, _BYTES.as_pointer(), number, _BITS, _BYTES)
        below = _function(builder, "llvm.x86.bmi.bzhi.64", _WORD, _WORD, _WORD)
        look_up = _function(builder, "llvm.x86.avx512.vpermi2var.qi.512", _BYTES, _BYTES, _BYTES, _BYTES)
        nothing = ir.Constant(_BYTES, None)

        def given(addresses: Any, index: Any, kind: Any) -> Any:
            one = builder.gep(builder.inttoptr(addresses, _WORD.as_pointer()), [index])
            return builder.inttoptr(builder.load(one), kind.as_pointer())

        def row_bytes(address: Any) -> Any:
            return builder.gep(builder.inttoptr(address, _BYTES.as_pointer()), [word])

        levels = _levels(builder, capped, shift)
        classes = ir.Constant(_BYTES, [CLASSES[at % 16] * CLOSE_LEVELS for at in range(64)])
        sums = _alloca(builder, _BYTES)
        builder.store(builder.load(row_bytes(start), align=1), sums)
        with cgutils.for_range(builder, terms) as term:
            bits = builder.load(builder.gep(given(bitmaps, term.index, _WORD), [word]))
            held = builder.bitcast(bits, _BITS)
            before = builder.zext(builder.load(builder.gep(given(ranks, term.index, _SHORT), [word])), _WORD)
            first = builder.gep(given(counts, term.index, _BYTE), [before])
            # No byte behind the last count is read: there need not be one.
            read = builder.bitcast(builder.call(below, [_WORD(-1), builder.ctpop(bits)]), _BITS)
            place = builder.bitcast(first, _BYTES.as_pointer())
            given_counts = builder.call(load, [place, number(1), read, nothing])
            count = builder.call(spread, [given_counts, nothing, held])
            count = builder.call(least, [count, _same(_BYTES, 15)])
            entry = builder.or_(builder.call(choose, [classes, count]), levels)
            table = given(tables, term.index, _BYTES)
            low = builder.load(table, align=1)
            high = builder.load(builder.gep(table, [_WORD(1)]), align=1)
            amount = builder.select(held, builder.call(look_up, [low, entry, high]), nothing)
            builder.store(builder.call(add, [builder.load(sums), amount]), sums)
        own = row_bytes(base)
        builder.store(builder.call(least, [builder.load(own, align=1), builder.load(sums)]), own, align=1)
        return terms

    return int64(*(int64,) * 10), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _leave(
    _context: Any, _base: Any, _start: Any, _word: Any, _capped: Any, _shift: Any, _bitmaps: Any, _ranks: Any,
    _counts: Any, _tables: Any, _terms: Any,
) -> Any:  # fmt: skip
    def generate(_target: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[-1]

    return int64(*(int64,) * 10), generate


sum_closely: Any = _sum_closely if HAS_CLOSE else _leave
"""Lower the bytes of the rows of a word to what they are worth at most, where that is less. (address of the bytes;
address of those that are added to; word; address of the 64 lengths of its rows, in two bytes; by how many bits lengths
are shifted; addresses of the addresses of bitmaps, ranks, counts and tables; bitmaps)"""
