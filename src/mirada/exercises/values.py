"""Exercises whose answer is a number or a list of numbers, worked out by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from mirada.exercises.exercise import Exercise
from mirada.exercises.numbers import numbers
from mirada.exercises.verdict import Verdict


@dataclass(frozen=True, eq=False, repr=False)
class Values(Exercise):
    """The solution computes the answer; each mistake is what comes out of a typical error.

    Attributes:
        mistakes: by the name of the hint that fits.
        decimals: how many the question asks for; one more unit in the last is forgiven to those who round.
    """

    mistakes: Mapping[str, Any]
    decimals: int = 2

    def judge(self, answer: Any) -> Verdict:
        if callable(answer) and not hasattr(answer, "__array__"):
            return self.not_yet("verdict.no_value")
        given, expected = numbers(answer), self.expected
        if self.agree(given, expected):
            return self.correct
        for hint, wrong in self.mistakes.items():
            if self.agree(given, numbers(wrong)):
                return self.not_yet(hint)
        if with_comma(given, expected):
            return self.not_yet("verdict.comma")
        if not torch.isfinite(given).all():
            return self.not_yet("verdict.nan")
        if given.numel() != expected.numel():
            return self.not_yet("verdict.count", given=given.numel(), expected=expected.numel())
        if given.shape != expected.shape:
            if self.agree(given.reshape(expected.shape), expected):
                return self.correct  # [[0.1, 0.2]] says the same as [0.1, 0.2]
            given = given.reshape(expected.shape)
        if self.agree(given.flatten().sort().values, expected.flatten().sort().values):
            return self.not_yet("verdict.order")
        if self.agree(given / 100, expected):
            return self.not_yet("verdict.percent")
        far = (given - expected).abs()
        if far.max() < 5 * 10**-self.decimals:
            return self.not_yet("verdict.near", decimals=self.decimals)
        if expected.numel() == 1:
            return self.not_yet("verdict.number")
        place = int((far > self.tolerance).int().argmax()) + 1
        return self.not_yet("verdict.place", place=place)

    @cached_property
    def expected(self) -> Tensor:
        return numbers(self.solution())

    @property
    def solution_value(self) -> str:
        value = self.solution()
        rounded = (
            [round(x, self.decimals) for x in value]
            if isinstance(value, list)
            else round(value, self.decimals)
        )
        return str(rounded)

    @property
    def tolerance(self) -> float:
        """Half a unit of the last decimal, and a little for those who round the half the other way."""
        return 0.6 * 10**-self.decimals

    def agree(self, given: Tensor, wanted: Tensor) -> bool:
        return given.shape == wanted.shape and bool(((given - wanted).abs() <= self.tolerance).all())


def with_comma(given: Tensor, expected: Tensor) -> bool:
    """True for 0,58 in place of 0.58: Python reads two whole numbers."""
    whole = bool((given == given.round()).all())
    return whole and expected.numel() * 2 == given.numel() and given.dim() == 1
