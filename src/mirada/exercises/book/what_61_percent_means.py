"""A counterexample: a weight says how much one looks, not how much comes of it."""

from typing import Any

import torch

from mirada.exercises.exercise import Exercise
from mirada.exercises.numbers import numbers
from mirada.exercises.verdict import Verdict

WEIGHTS = [0.61, 0.22, 0.14, 0.03]  # plata, sacó, Ana, del
NOTHING = 1e-6


def values():
    return [[0, 0], [1, 0], [0, 1], [1, 1]]


class Counterexample(Exercise):
    """Any values serve with which the most looked at adds nothing to an output that is not zero."""

    @property
    def solution_value(self) -> str:
        return str(self.solution())

    def judge(self, answer: Any) -> Verdict:
        if callable(answer) and not hasattr(answer, "__array__"):
            return self.not_yet("verdict.no_value")
        given = numbers(answer)
        weights = torch.tensor(WEIGHTS, dtype=torch.float64)
        if given.shape == (4,) and (given - weights).abs().max() < 0.01:
            return self.not_yet("weights")
        if given.shape == (4,) and given[0] == 0 and abs(float(given.sum()) - 1) < 0.01:
            return self.not_yet("other_weights")
        if given.shape != (4, 2):
            return self.not_yet("shape", given=tuple(given.shape))
        if not torch.isfinite(given).all():
            return self.not_yet("verdict.nan")
        output = weights @ given
        if given.abs().max() < NOTHING:
            return self.not_yet("all_zero")
        if output.abs().max() < NOTHING:
            return self.not_yet("cancels")
        if given[0].abs().max() < NOTHING:
            return self.correct
        others = weights[1:] @ given[1:] / weights[1:].sum()
        if (given[0] - others).abs().max() < 1e-2:
            return self.not_yet("same_as_others")
        if (given[1:].abs().amax(1) < NOTHING).any():
            return self.not_yet("another_word")
        if (given[0] @ others).abs() < NOTHING:
            return self.not_yet("perpendicular")
        return self.not_yet("still_adds")


exercise = Counterexample("what_61_percent_means", values)
