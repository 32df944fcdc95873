"""How the spread of a product grows with the number of its terms."""

import math
from typing import Any

from mirada.exercises.numbers import numbers
from mirada.exercises.values import Values
from mirada.exercises.verdict import Verdict


def spreads():
    return [math.sqrt(d) for d in (16, 64, 400)]


class Spreads(Values):
    """Numbers that are off by less than a tenth were measured, not worked out."""

    def judge(self, answer: Any) -> Verdict:
        verdict = super().judge(answer)
        if verdict.hint not in ("verdict.near", "verdict.place"):
            return verdict
        ratios = numbers(answer).reshape(self.expected.shape) / self.expected
        return self.not_yet("measured") if (ratios - 1).abs().max() < 0.1 else verdict


exercise = Spreads(
    "sqrt_d",
    spreads,
    decimals=1,
    mistakes={
        "variance": [16, 64, 400],
        "after_dividing": [1, 1, 1],
        "inverse": [1 / 4, 1 / 8, 1 / 20],
        "root_twice": [2, 2.8, 4.5],
        "mean": [0, 0, 0],
    },
)
