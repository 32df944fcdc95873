"""What is trained: every built-in task as it is by default, and what must fail."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TEXT = Path(__file__).parents[1] / "README.es.md"


@dataclass(frozen=True)
class Row:
    name: str
    what: str
    task: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    goal: tuple[str, float] | None = None  # a share that must be reached
    seeds: int = 1  # how many runs, each with the next seed

    def __post_init__(self):
        object.__setattr__(self, "task", self.task or self.name)


ROWS = [
    Row("reverse", "eight digits backwards", options={"epochs": 1}, goal=("sequences", 1.0)),
    Row(
        "reverse, no positions",
        "the same, by a model that sees a bag of digits: 0.317 is all that can be had",
        "reverse",
        {"epochs": 2, "positions": "none"},
    ),
    Row(
        "reverse, causal",
        "the same, where nobody may look ahead: 0.55 is all that can be had",
        "reverse",
        {"epochs": 4, "causal": True},
    ),
    Row("copy", "eight digits as they are", goal=("sequences", 0.99)),
    Row("shift", "each digit one place on, the last in front", goal=("sequences", 0.99)),
    Row("sort", "eight digits in order", goal=("sequences", 0.99)),
    Row("count", "of each digit, how often it is there", goal=("sequences", 0.99)),
    Row("addition", "two numbers of three digits, digit by digit", goal=("sequences", 0.99)),
    Row("reverse-seq2seq", "up to eight digits backwards, one by one", goal=("sequences", 0.99)),
    Row("numbers-es", "a number in Spanish words, in digits", goal=("sequences", 0.99)),
    Row("numbers-en", "a number in English words, in digits", goal=("sequences", 0.99)),
    Row("digits", "which digit a picture of 8 × 8 pixels is", goal=("sequences", 0.97), seeds=5),
    Row(
        "digits, no positions",
        "the same, by a model that sees a bag of patches",
        "digits",
        {"positions": "none"},
    ),
    Row("letters", f"the next letter of {TEXT.name}, whose last tenth is unseen", str(TEXT)),
]
