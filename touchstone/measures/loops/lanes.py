"""Many ranks compared at once, in the registers that processors have for it.

Numba can't say so in Python: a loop over ranks inside one over judged documents fetches and puts
away what is found so far for every document, and one the other way round is no faster.
"""

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils

from touchstone.measures.loops.parts import part_by_hand

LANES: Final = 32  # ranks that are compared at once

_LEVEL: Final = ir.IntType(8)
_NUMBER: Final = ir.IntType(32)
_LEVELS: Final = ir.VectorType(_LEVEL, LANES)
_NUMBERS: Final = ir.VectorType(_NUMBER, LANES)
_NOTHING: Final = ir.Constant(_NUMBERS, [0] * LANES)


@part_by_hand
def compare(_: Any, ranked: Any, judged: Any, levels: Any, out: Any, n_ranks: Any) -> Any:
    """Puts the level of every rank into `out`: 0 where none is judged, and behind n_ranks.

    ranked: int32 (LANES,). judged: int32, distinct. levels: uint8, theirs. out: uint8 (LANES,).
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        own, documents, worth, room = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args[:4], given[:4], strict=True)
        )
        ranks = builder.load(builder.bitcast(own.data, _NUMBERS.as_pointer()), align=4)
        found = cgutils.alloca_once_value(builder, _NOTHING)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, builder.extract_value(documents.shape, 0)) as loop:
            document = builder.load(builder.gep(documents.data, [loop.index]))
            level = builder.load(builder.gep(worth.data, [loop.index]))
            is_it = builder.icmp_signed("==", ranks, _everywhere(builder, document))
            own_level = _everywhere(builder, builder.zext(level, _NUMBER))
            one = builder.select(is_it, own_level, _NOTHING)
            builder.store(builder.or_(builder.load(found), one), found)  # no two are it
        n_own = _everywhere(builder, builder.trunc(given[4], _NUMBER))
        is_own = builder.icmp_signed("<", ir.Constant(_NUMBERS, list(range(LANES))), n_own)
        narrow = builder.trunc(builder.select(is_own, builder.load(found), _NOTHING), _LEVELS)
        builder.store(narrow, builder.bitcast(room.data, _LEVELS.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(ranked, judged, levels, out, types.int64), generate


def _everywhere(builder: Any, number: Any) -> Any:
    """A number in every lane."""
    first = builder.insert_element(_NOTHING, number, ir.Constant(_NUMBER, 0))
    return builder.shuffle_vector(first, _NOTHING, _NOTHING)
