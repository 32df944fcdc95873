"""The exercises of the lesson: each asks a question and checks an answer.

    from mirada.exercises import row_by_hand

    row_by_hand                            # the question
    row_by_hand.check([0.5, 0.25, 0.25])   # what is right about an answer, or what to think about

`listing.py` has all the names; an exercise is loaded when it is first asked for.
"""

from mirada.exercises.listing import ENTRIES as ENTRIES
from mirada.exercises.texts import set_language as set_language

__all__ = ["set_language", *ENTRIES]  # pyright: ignore[reportUnsupportedDunderAll]
