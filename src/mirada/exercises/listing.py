"""The exercises in the order of the lesson: name, chapter, and whether it is one of the core eight.

Nothing here needs torch, so that `mirada exercises` answers at once.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One line of the list."""

    number: int
    name: str
    chapter: int
    core: bool


_CORE, _FURTHER = True, False
_ROWS = (
    ("row_by_hand", 2, _CORE),
    ("write_attention", 2, _CORE),
    ("sqrt_d", 3, _CORE),
    ("temperature", 3, _CORE),
    ("what_61_percent_means", 3, _FURTHER),
    ("split_heads", 4, _CORE),
    ("broken_softmax", 4, _FURTHER),
    ("broken_scale", 4, _FURTHER),
    ("broken_heads", 4, _FURTHER),
    ("write_the_mask", 5, _CORE),
    ("padding", 5, _FURTHER),
    ("broken_mask", 5, _FURTHER),
    ("permutation", 6, _CORE),
    ("odd_sinusoid", 6, _FURTHER),
    ("broken_positions", 6, _FURTHER),
    ("count_block", 7, _CORE),
    ("cross_attention", 8, _FURTHER),
    ("blind_ceiling", 10, _FURTHER),
    ("causal_reversal", 10, _FURTHER),
    ("sort_instead", 10, _FURTHER),
    ("read_a_head", 10, _FURTHER),
    ("cut_patches", 12, _FURTHER),
    ("overlay", 12, _FURTHER),
    ("kv_cache", 13, _FURTHER),
)

ENTRIES = {row[0]: Entry(number, *row) for number, row in enumerate(_ROWS, 1)}
