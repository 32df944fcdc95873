"""Calling a student's function: what it gives, or why it failed."""

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mirada.exercises.exercise import Odd, is_empty
from mirada.exercises.failing import Failure, explained
from mirada.exercises.numbers import alike, numbers


@dataclass(frozen=True)
class Outcome:
    """What one call gave. One of the first three is not None."""

    value: Tensor | None = None
    failure: Failure | None = None
    odd: Odd | None = None
    changed: bool = False  # True if the call changed what it was given

    def is_like(self, other: "Outcome", tolerance: float) -> bool:
        if self.value is not None and other.value is not None:
            return alike(self.value, other.value, tolerance)
        if self.failure and other.failure:
            mine, yours = self.failure, other.failure
            return (mine.kind, mine.message) == (yours.kind, yours.message)
        return False


Use = Callable[..., Any]


def call(function: Callable[..., Any], *given: Any) -> Any:
    return function(*given)


def attempt(function: Callable[..., Any], given: Sequence[Any], use: Use = call) -> Outcome | None:
    """The outcome of `use(function, *given)`; None where the function is still empty."""
    kept = copy.deepcopy(given)
    try:
        value = use(function, *kept)
    except NotImplementedError:
        return None
    except Odd as odd:
        return Outcome(odd=odd)
    except (Exception, SystemExit) as error:
        return Outcome(failure=explained(error))
    changed = not all(same(a, b) for a, b in zip(given, kept, strict=True))
    if is_empty(value) and not isinstance(value, list | tuple):
        return None if is_stub(function) else Outcome(odd=Odd("verdict.nothing"), changed=changed)
    try:
        return Outcome(value=numbers(value), changed=changed)
    except Odd as odd:
        return Outcome(odd=odd, changed=changed)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return a.shape == b.shape and torch.equal(a, b)
    return type(a) is type(b) and a == b


def is_stub(function: Any) -> bool:
    """True for a function in which nothing has been written: no name is used, no variable set."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_names:
        return False
    flags = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    stars = sum(bool(code.co_flags & flag) for flag in flags)
    return code.co_nlocals == code.co_argcount + code.co_kwonlyargcount + stars


def takes(function: Callable[..., Any], count: int) -> bool:
    """False if it is known that it cannot be called with so many arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
