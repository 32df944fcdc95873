"""Numbers, however a student writes them, as one tensor to compare."""

from typing import Any

import torch
from torch import Tensor

from mirada.exercises.exercise import Odd


def numbers(answer: Any) -> Tensor:
    """A number, a list of lists of them, an array or a tensor, as float64 of the same shape.

    Raises Odd, with a sentence for the student, for all else.
    """
    if isinstance(answer, Tensor):
        return of_tensor(answer)
    if isinstance(answer, list | tuple | range):
        if answer and all(type(each) is float for each in answer):  # a long one need not be slow
            return torch.tensor(answer, dtype=torch.float64)
        rows = [numbers(each) for each in answer]
        if any(row.shape != rows[0].shape for row in rows):
            raise Odd("verdict.ragged")
        return torch.stack(rows) if rows else torch.zeros(0, dtype=torch.float64)
    if isinstance(answer, str):
        answer = answer.strip().replace("−", "-").replace(",", ".")
    elif hasattr(answer, "__array__"):  # numpy's arrays and numbers, and what others build on them
        return numbers(answer.__array__().tolist())
    try:
        return torch.tensor(float(answer), dtype=torch.float64)
    except (TypeError, ValueError, OverflowError):
        raise Odd("verdict.no_numbers", kind=type(answer).__name__) from None


def of_tensor(answer: Tensor) -> Tensor:
    if answer.is_complex() or answer.is_meta:
        raise Odd("verdict.no_numbers", kind=str(answer.dtype) if answer.is_complex() else "meta")
    if answer.layout is not torch.strided:
        answer = answer.to_dense()
    return answer.detach().to("cpu", torch.float64)


def alike(a: Tensor, b: Tensor, tolerance: float) -> bool:
    """True where shapes are equal and no number differs by more. NaN is like NaN."""
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-6, atol=tolerance, equal_nan=True)
