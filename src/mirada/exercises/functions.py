"""Exercises whose answer is a function: it is tried on inputs that the student has not seen."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mirada.exercises.exercise import Exercise, source
from mirada.exercises.running import Outcome, Use, attempt, call, takes
from mirada.exercises.verdict import Verdict

TOLERANCE = 1e-3  # numbers are compared to about three decimals: sums in another order differ by less
SEED = 2017


def draw(*shape: int) -> Callable[[torch.Generator], Tensor]:
    """A random input of that shape."""
    return lambda generator: torch.randn(shape, generator=generator)


@dataclass(frozen=True, eq=False, repr=False)
class Function(Exercise):
    """Right is what gives the numbers of the solution on every case.

    Attributes:
        cases: what it is called with, several times: plain values, or `draw(…)` for random numbers. Sizes are
            different primes, so that an answer that fits one example alone, or mixes two axes up, fails.
        mistakes: typical wrong functions, by the name of the hint that fits whoever answers like them.
        broken: the code to mend that the question shows; None where the student begins with nothing.
        use: how it is called in one case, and what of it is compared.
    """

    cases: list[tuple[Any, ...]]
    mistakes: Mapping[str, Callable[..., Any]]
    broken: Callable[..., Any] | None = None
    use: Use = call

    @property
    def given_code(self) -> str:
        if self.broken is not None:
            return source(self.broken)
        return f"def {self.solution.__name__}({', '.join(self.arguments)}):\n    ..."

    @property
    def arguments(self) -> list[str]:
        return list(inspect.signature(self.solution).parameters)

    def drawn(self) -> list[tuple[Any, ...]]:
        """The cases, the same each time."""
        generator = torch.Generator().manual_seed(SEED)
        return [tuple(x(generator) if callable(x) else x for x in case) for case in self.cases]

    def judge(self, answer: Any) -> Verdict:
        if not callable(answer):
            return self.not_yet("verdict.no_function", name=self.solution.__name__)
        if not takes(answer, len(self.arguments)):
            return self.not_yet("verdict.arguments", arguments=", ".join(self.arguments))
        cases = self.drawn()
        found = [attempt(answer, case, self.use) for case in cases]
        outcomes = [outcome for outcome in found if outcome is not None]
        if len(outcomes) < len(found):
            return self.pending
        expected = self.outcomes(self.solution, cases)
        if all_alike(outcomes, expected):
            changed = any(outcome.changed for outcome in outcomes)
            return self.not_yet("verdict.changed") if changed else self.correct
        hint = next(
            (
                f"{self.name}.{name}"
                for name, wrong in self.mistakes.items()
                if all_alike(outcomes, self.outcomes(wrong, cases))
            ),
            None,
        )
        failure = next((outcome.failure for outcome in outcomes if outcome.failure), None)
        if failure:
            return Verdict(self.name, "failed", hint, vars(failure))
        return self.not_yet(hint) if hint else self.compared(outcomes, expected)

    def outcomes(self, function: Callable[..., Any], cases: list[tuple[Any, ...]]) -> list[Outcome]:
        with warnings.catch_warnings():  # of our own mistakes nobody wants to be warned
            warnings.simplefilter("ignore")
            found = [attempt(function, case, self.use) for case in cases]
        return [outcome for outcome in found if outcome is not None]

    def compared(self, outcomes: list[Outcome], expected: list[Outcome]) -> Verdict:
        """What is to be said where no typical mistake fits."""
        odd = next((outcome.odd for outcome in outcomes if outcome.odd), None)
        if odd:
            return self.not_yet(odd.key, **odd.values)
        if any(outcome.changed for outcome in outcomes):
            return self.not_yet("verdict.changed")
        for outcome, wanted in zip(outcomes, expected, strict=True):
            if outcome.is_like(wanted, TOLERANCE):
                continue
            given, right = outcome.value, wanted.value
            assert given is not None
            assert right is not None
            if given.shape != right.shape:
                shapes = {"given": tuple(given.shape), "expected": tuple(right.shape)}
                return self.not_yet("verdict.shape", **shapes)
            if not torch.isfinite(given).all():
                return self.not_yet("verdict.nan")
            break
        return self.not_yet("verdict.numbers")


def all_alike(some: list[Outcome], others: list[Outcome]) -> bool:
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(a.is_like(b, TOLERANCE) for a, b in pairs)
