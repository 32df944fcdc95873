"""The exercises of the lesson: each asks a question and checks an answer.

    from mirada import exercises

    exercises.row_by_hand                            # the question
    exercises.row_by_hand.check([0.5, 0.25, 0.25])   # what is right about an answer, or what to think about

`listing.py` has all the names, `book/` one file each; an exercise is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mirada.exercises.listing import ENTRIES as ENTRIES
from mirada.exercises.texts import set_language as set_language

if TYPE_CHECKING:
    from mirada.exercises.exercise import Exercise

__all__ = ["set_language", *ENTRIES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> "Exercise":
    if name not in ENTRIES:
        raise AttributeError(f"module 'mirada.exercises' has no attribute {name!r}")
    return import_module(f"mirada.exercises.book.{name}").exercise


def __dir__():
    return sorted(__all__)
