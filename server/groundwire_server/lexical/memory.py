"""Memory as compiled code reads and writes it: by address, one number or 64 bytes at a time.

Arrays come in as addresses: one compiled signature then serves arrays in memory and read-only maps of files alike, one
call serves all segments, and nothing is counted up and down in the inner loops. Whoever calls keeps the arrays alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import float32, float64, int64, njit, uint64
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "at_least",
    "bit_count",
    "f32",
    "f64",
    "fetch_soon",
    "helper",
    "i64",
    "kernel",
    "lowest_bit",
    "put_f32",
    "put_f64",
    "put_i64",
    "put_u8",
    "put_u16",
    "sum_where",
    "u8",
    "u16",
    "u32",
    "u64",
]

_BYTE = ir.IntType(8)
_BYTES = ir.VectorType(_BYTE, 64)
_BITS = ir.VectorType(ir.IntType(1), 64)
_WORD = ir.IntType(64)
_GROUP = 4
_alloca: Any = cgutils.alloca_once


def kernel(signature: Any) -> Callable[[Any], Any]:
    """Compiled when the module is imported, or taken from the cache. Runs beside other threads."""
    return njit(signature, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return, unused-ignore]


def helper(function: Any) -> Any:
    """Compiled into the kernels that call it."""
    return njit(function, nogil=True, error_model="numpy")


def _loader(kind: Any, wide: Any) -> Any:
    """An intrinsic that reads a number: the `index`-th one behind an address, widened."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def load(_context: Any, _address: Any, _index: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], kind.as_pointer())
            value = builder.load(builder.gep(base, [arguments[1]]))
            narrow = isinstance(kind, ir.IntType) and kind.width < 64
            return builder.zext(value, ir.IntType(64)) if narrow else value

        return wide(int64, int64), generate

    return load


def _storer(kind: Any, narrow: Any) -> Any:
    """An intrinsic that writes a number: the `index`-th one behind an address."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def store(_context: Any, _address: Any, _index: Any, _value: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], kind.as_pointer())
            value = arguments[2]
            if isinstance(kind, ir.IntType) and kind.width < 64:
                value = builder.trunc(value, kind)
            builder.store(value, builder.gep(base, [arguments[1]]))
            return arguments[1]

        return int64(int64, int64, narrow), generate

    return store


u8 = _loader(_BYTE, int64)
u16 = _loader(ir.IntType(16), int64)
u32 = _loader(ir.IntType(32), int64)
u64 = _loader(ir.IntType(64), uint64)
i64 = _loader(ir.IntType(64), int64)
f32 = _loader(ir.FloatType(), float32)
f64 = _loader(ir.DoubleType(), float64)
put_u8 = _storer(_BYTE, int64)
put_u16 = _storer(ir.IntType(16), int64)
put_i64 = _storer(ir.IntType(64), int64)
put_f32 = _storer(ir.FloatType(), float32)
put_f64 = _storer(ir.DoubleType(), float64)


def _place(builder: Any, base: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(base, _BYTES.as_pointer()), [index])


def _all(builder: Any, value: Any) -> Any:
    """A byte, 64 times."""
    one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), value, ir.IntType(32)(0))
    nowhere = ir.Constant(ir.VectorType(ir.IntType(32), 64), None)
    return builder.shuffle_vector(one, one, nowhere)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _sum_where(
    _context: Any, _base: Any, _start: Any, _words: Any, _bitmaps: Any, _codes: Any, _tables: Any, _terms: Any
) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        base, start, words, bitmaps, codes, tables, terms = arguments
        name = "llvm.uadd.sat.v64i8"
        add = builder.module.globals.get(name)
        add = add or ir.Function(builder.module, ir.FunctionType(_BYTES, [_BYTES, _BYTES]), name)
        nothing = ir.Constant(_BYTES, None)

        def address(addresses: Any, index: Any, kind: Any) -> Any:
            one = builder.gep(builder.inttoptr(addresses, _WORD.as_pointer()), [index])
            return builder.inttoptr(builder.load(one), kind.as_pointer())

        def take(first: Any, count: int) -> None:
            """Sums of so many words side by side, which stay in registers."""
            sums = [_alloca(builder, _BYTES) for _ in range(count)]
            for at, each in enumerate(sums):
                begun = builder.load(_place(builder, start, builder.add(first, _WORD(at))), align=1)
                builder.store(begun, each)
            with cgutils.for_range(builder, terms) as term:
                bitmap, code, table = (
                    address(addresses, term.index, kind)
                    for addresses, kind in ((bitmaps, _WORD), (codes, _BYTE), (tables, _BYTE))
                )
                for at, each in enumerate(sums):
                    word = builder.add(first, _WORD(at))
                    entry = builder.zext(builder.load(builder.gep(code, [word])), _WORD)
                    amount = _all(builder, builder.load(builder.gep(table, [entry])))
                    bits = builder.load(builder.gep(bitmap, [word]))
                    more = builder.select(builder.bitcast(bits, _BITS), amount, nothing)
                    builder.store(builder.call(add, [builder.load(each), more]), each)
            for at, each in enumerate(sums):
                builder.store(builder.load(each), _place(builder, base, builder.add(first, _WORD(at))), align=1)

        groups = builder.udiv(words, _WORD(_GROUP))
        with cgutils.for_range(builder, groups) as group:
            take(builder.mul(group.index, _WORD(_GROUP)), _GROUP)
        taken = builder.mul(groups, _WORD(_GROUP))
        with cgutils.for_range(builder, builder.sub(words, taken)) as single:
            take(builder.add(taken, single.index), 1)
        return terms

    return int64(*(int64,) * 7), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _fetch_soon(_context: Any, _address: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        name, number = "llvm.prefetch.p0", ir.IntType(32)
        place = builder.inttoptr(arguments[0], _BYTE.as_pointer())
        fetch = builder.module.globals.get(name)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        fetch = fetch or ir.Function(builder.module, kind, name)
        builder.call(fetch, [place, number(0), number(3), number(1)])
        return arguments[0]

    return int64(int64), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _at_least(_context: Any, _base: Any, _index: Any, _least: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        held = builder.load(_place(builder, arguments[0], arguments[1]), align=1)
        reached = builder.icmp_unsigned(">=", held, _all(builder, builder.trunc(arguments[2], _BYTE)))
        return builder.bitcast(reached, ir.IntType(64))

    return uint64(int64, int64, int64), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _count_bits(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return int64(uint64), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _find_bit(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return int64(uint64), generate


# Their types are those of calls from compiled code, which mypy does not know.
sum_where: Any = _sum_where
"""Fill 64 bytes for each word of some bitmaps: a byte that is there, and the amounts of those bitmaps in which its bit
is set, 255 at most. Each word of a bitmap has a code, each bitmap a table that tells the amount of a code. (address of
the bytes; of those that are there; words; addresses of the addresses of bitmaps, codes and tables; bitmaps)"""
fetch_soon: Any = _fetch_soon
"""Have the 64 bytes around an address brought into the cache; any address will do."""
at_least: Any = _at_least
"""Which of 64 bytes are so large at least, as the bits of a word. (address, 64s, 0..255)"""
bit_count: Any = _count_bits
lowest_bit: Any = _find_bit
