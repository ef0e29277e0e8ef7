"""Inner products of small tiles, some rows of codes with some queries, for compiled code.

Imported by `compiled` alone. The compiler turns a plain loop over one row and one query into good code, and the same
loop over several into bad one; so the loop is written here in its own language: every number that is loaded is used for
all rows, or all queries, of a tile. Products are whole numbers in 32 bits, so that their order changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped, import-not-found, unused-ignore]
from numba import types
from numba.core import cgutils as _cgutils
from numba.core import config as _config
from numba.extending import intrinsic

__all__ = ["TILE", "Step", "fetch_ahead", "steps_here", "tile"]

TILE = 8  # products of one tile
_LINE = 64
config: Any = _config
cgutils: Any = _cgutils
_I8, _I16, _I32 = ir.IntType(8), ir.IntType(16), ir.IntType(32)


@dataclass(frozen=True, slots=True)
class Step:
    """How a tile goes on: by `width` numbers at a time, whose products with 16-bit numbers make `lanes` sums.

    `instruction` adds the products of neighbours (two a lane); without one each number has its own lane.
    """

    width: int
    lanes: int
    instruction: str = ""


_STEPS = {
    "avx512bw": Step(32, 16, "llvm.x86.avx512.pmaddw.d.512"),
    "avx2": Step(16, 8, "llvm.x86.avx2.pmadd.wd"),
    "": Step(16, 16),
}


def steps_here() -> list[Step]:
    """Those that this processor knows, the best first; the last one is known by all."""
    if config.CPU_NAME or config.CPU_FEATURES:  # compiled for another one, perhaps
        return [_STEPS[""]]
    features = binding.get_host_cpu_features()
    return [step for feature, step in _STEPS.items() if not feature or features.get(feature, False)]


def tile(rows: int, step: Step) -> Callable[..., None]:
    """`products(codes, numbers, at, queries, first, totals)`, for compiled code.

    With q = 8 / rows queries: `totals[first + i, at + r]` becomes the product of `codes[numbers[at + r]]` with
    `queries[first + i]`, for i below q and r below `rows`. Codes are int8 [n, dim], queries int16 [m, dim], totals
    int32 [m, any]. Nobody looks whether the rows are there.
    """
    queries = TILE // rows

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def products(_context: Any, codes: Any, numbers: Any, at: Any, asked: Any, first: Any, totals: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            code, number, query, total = (
                context.make_array(kinds[place])(context, builder, arguments[place]) for place in (0, 1, 3, 5)
            )
            place, start = arguments[2], arguments[4]
            dim = builder.extract_value(code.shape, 1)
            row_starts = []
            for r in range(rows):
                row = builder.load(builder.gep(number.data, [_plus(builder, place, r)]))
                row_starts.append(builder.gep(code.data, [builder.mul(row, dim)]))
            query_starts = [
                builder.gep(query.data, [builder.mul(_plus(builder, start, q), dim)]) for q in range(queries)
            ]
            sums = _sums(builder, step, dim, row_starts, query_starts)
            length = builder.extract_value(total.shape, 1)
            for q in range(queries):
                line = builder.mul(_plus(builder, start, q), length)
                for r in range(rows):
                    target = builder.gep(total.data, [builder.add(line, _plus(builder, place, r))])
                    builder.store(builder.load(sums[r * queries + q]), target)
            return context.get_dummy_value()

        return types.void(codes, numbers, at, asked, first, totals), generate

    return products


def _plus(builder: Any, value: Any, more: int) -> Any:
    return builder.add(value, ir.Constant(value.type, more))


def _sums(builder: Any, step: Step, dim: Any, row_starts: list[Any], query_starts: list[Any]) -> list[Any]:
    """Places of the products, row by row: whole steps first, then what is left, number by number."""
    codes, numbers = ir.VectorType(_I8, step.width), ir.VectorType(_I16, step.width)
    wide = ir.VectorType(_I32, step.lanes)
    lanes = [cgutils.alloca_once_value(builder, ir.Constant(wide, None)) for _ in range(TILE)]
    size = ir.Constant(dim.type, step.width)
    whole = builder.mul(builder.udiv(dim, size), size)
    with cgutils.for_range_slice(builder, ir.Constant(dim.type, 0), whole, size) as (offset, _):
        left = [builder.sext(_load(builder, start, offset, codes), numbers) for start in row_starts]
        right = [_load(builder, start, offset, numbers) for start in query_starts]
        for place in range(TILE):
            pair = left[place // len(right)], right[place % len(right)]
            builder.store(builder.add(builder.load(lanes[place]), _products(builder, step, wide, *pair)), lanes[place])
    together = _together(builder, [builder.load(each) for each in lanes], step.lanes)
    sums = [cgutils.alloca_once_value(builder, each) for each in together]
    with cgutils.for_range_slice(builder, whole, dim, ir.Constant(dim.type, 1)) as (offset, _):
        left = [builder.sext(builder.load(builder.gep(start, [offset])), _I32) for start in row_starts]
        right = [builder.sext(builder.load(builder.gep(start, [offset])), _I32) for start in query_starts]
        for place in range(TILE):
            product = builder.mul(left[place // len(right)], right[place % len(right)])
            builder.store(builder.add(builder.load(sums[place]), product), sums[place])
    return sums


def _load(builder: Any, start: Any, offset: Any, kind: Any) -> Any:
    value = builder.load(builder.bitcast(builder.gep(start, [offset]), kind.as_pointer()))
    value.align = 1
    return value


def _products(builder: Any, step: Step, wide: Any, left: Any, right: Any) -> Any:
    if not step.instruction:
        return builder.mul(builder.sext(left, wide), builder.sext(right, wide))
    kind = ir.FunctionType(wide, [left.type, right.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, step.instruction), [left, right])


def _together(builder: Any, vectors: list[Any], lanes: int) -> list[Any]:
    """The sum of each vector. Two are added up at once, half by half, and end up side by side in one."""
    width, held = lanes, 1  # lanes of each sum, sums in each vector
    while len(vectors) > 1:
        own = range(0, width * held, width)
        starts = [*own, *(lanes + start for start in own)]
        vectors = [
            _halves(builder, left, right, starts, width // 2)
            for left, right in zip(vectors[::2], vectors[1::2], strict=True)
        ]
        width, held = width // 2, 2 * held
    (vector,) = vectors
    while width > 1:
        vector = _halves(builder, vector, vector, [width * k for k in range(held)], width // 2)
        width //= 2
    return [builder.extract_element(vector, ir.Constant(_I32, place)) for place in range(TILE)]


def _halves(builder: Any, left: Any, right: Any, starts: list[int], half: int) -> Any:
    """The first half of what starts at each place of two vectors, plus the second half."""
    kind = ir.VectorType(_I32, half * len(starts))
    places = [start + lane for start in starts for lane in range(half)]
    low = builder.shuffle_vector(left, right, ir.Constant(kind, places))
    high = builder.shuffle_vector(left, right, ir.Constant(kind, [place + half for place in places]))
    return builder.add(low, high)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def fetch_ahead(_context: Any, array: Any, row: Any) -> Any:
    """Ask the memory for a row of a matrix that is read soon, for compiled code. Nobody looks whether it is there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, builder, arguments[0])
        size = builder.mul(builder.extract_value(matrix.shape, 1), matrix.itemsize)
        pointer = _I8.as_pointer()
        start = builder.gep(builder.bitcast(matrix.data, pointer), [builder.mul(arguments[1], size)])
        kind = ir.FunctionType(ir.VoidType(), [pointer, _I32, _I32, _I32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, ir.Constant(size.type, _LINE)) as (
            offset,
            _,
        ):
            read, near, data = (ir.Constant(_I32, value) for value in (0, 3, 1))
            builder.call(prefetch, [builder.gep(start, [offset]), read, near, data])
        return context.get_dummy_value()

    return types.void(array, row), generate
